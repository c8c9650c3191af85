# SPDX-License-Identifier: Apache-2.0
"""The stream of the desk's news to an operator's page."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

BEGIN = """
const { pass, streams } = world();
const seen = [];
globalThis.fetch = async () => { throw new TypeError("nobody answers"); };
m.listen("events", { board: (news) => seen.push(news) });
"""


def test_news_reach_their_handler(fresh: Scripts) -> None:
    """An event's data comes as it was sent."""
    body = 'streams[0].say("board", { n: 1 }); return [streams[0].url, seen];'
    assert ["events", [{"n": 1}]] == fresh.run("shared/events.js", BEGIN + body)


@pytest.mark.parametrize(("state", "opened"), [(0, 1), (2, 2)])
def test_a_refused_stream_is_opened_again(fresh: Scripts, state: int, opened: int) -> None:
    """After a refusal the browser gives up, and the page asks again two seconds later."""
    body = """
    streams[0].readyState = a[0];
    streams[0].dispatchEvent(new Event("error"));
    await pass(1_900);
    const before = streams.length;
    await pass(200);
    streams.at(-1).say("board", { n: 2 });
    return [before, streams.length, seen];
    """
    expected = [1, opened, [{"n": 2}]]
    assert expected == fresh.run("shared/events.js", BEGIN + body, state)
