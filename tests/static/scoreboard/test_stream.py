# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's stream of events."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

BEGIN = """
document.body.innerHTML = '<p id="connection"></p>';
const { pass, streams } = world();
const seen = [];
m.follow("events", { view: (news) => seen.push(news) });
const said = () => document.getElementById("connection").textContent;
"""


def test_a_stream_that_is_silent_is_opened_again(fresh: Scripts) -> None:
    """After twelve seconds without a word the page says so, and two seconds later it asks anew."""
    body = """
    const told = [];
    await pass(1_000);
    streams[0].say("view", { n: 1 });
    told.push(said(), streams.length);
    await pass(11_900);
    told.push(said(), streams.length);
    await pass(200);
    told.push(said(), streams[0].readyState, streams.length);
    await pass(2_000);
    streams[1].say("view", { n: 2 });
    told.push(said(), streams.length, seen);
    return told;
    """
    lost = "connection lost 12 s ago, reconnecting…"
    expected = ["live", 1, "live", 1, lost, 2, 1, "live", 2, [{"n": 1}, {"n": 2}]]
    assert expected == fresh.run("scoreboard/stream.js", BEGIN + body)


@pytest.mark.parametrize("name", ["alive", "view", "trouble"])
def test_each_word_of_the_referee_keeps_the_stream(fresh: Scripts, name: str) -> None:
    """The signs of life between two events count as much as an event."""
    body = """
    for (let n = 0; n < 5; n += 1) {
      await pass(9_000);
      streams[0].say(a[0], {});
    }
    return streams.length;
    """
    assert 1 == fresh.run("scoreboard/stream.js", BEGIN + body, name)


def test_what_the_referee_cannot_read_is_said(fresh: Scripts) -> None:
    """The page says so until the next sign of life."""
    body = """
    streams[0].say("trouble");
    const first = [said(), document.getElementById("connection").className];
    streams[0].say("alive");
    return [...first, said(), document.getElementById("connection").className];
    """
    shown = ["the referee cannot read its records at the moment", "lost", "live", ""]
    assert shown == fresh.run("scoreboard/stream.js", BEGIN + body)


@pytest.mark.parametrize(("state", "opened"), [(0, 1), (2, 2)])
def test_a_refused_stream_is_asked_for_again(fresh: Scripts, state: int, opened: int) -> None:
    """A browser gives up after a refusal and after nothing else, so the page asks in its place."""
    body = """
    streams[0].readyState = a[0];
    streams[0].dispatchEvent(new Event("error"));
    const text = said();
    await pass(4_100);
    return [text, streams.length];
    """
    assert ["connection lost just now, reconnecting…", opened] == fresh.run(
        "scoreboard/stream.js", BEGIN + body, state
    )


@pytest.mark.parametrize(("answer", "opened"), [(False, 2), (True, 1), (None, 1)])
def test_news_that_nobody_can_take_needs_a_new_stream(
    fresh: Scripts, answer: bool | None, opened: int
) -> None:
    """A handler says false where it has missed what the news rests on."""
    body = """
    m.follow("events", { view: () => a[0] });
    streams[1].say("view", {});
    await pass(2_100);
    return streams.length - 1;
    """
    assert opened == fresh.run("scoreboard/stream.js", BEGIN + body, answer)
