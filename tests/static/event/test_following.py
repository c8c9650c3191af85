# SPDX-License-Identifier: Apache-2.0
"""A page that follows a document of the desk."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

# `asked` has the questions that wait for an answer; `seen` is what the page took.
BEGIN = """
document.body.innerHTML = '<p id="connection"></p>';
const { pass } = world();
const asked = [];
globalThis.fetch = (url) => new Promise((answer, fail) => { asked.push({ url, answer, fail }); });
const told = (document, ok = true, status = 200) => (
  { ok, status, text: async () => JSON.stringify(document) }
);
const seen = [];
let address = "one";
const look = m.followDocument(() => address, (document) => seen.push(document.n));
const said = () => document.getElementById("connection").textContent;
const silent = () => document.body.classList.contains("silent");
"""


def test_an_older_answer_never_takes_the_place_of_a_newer_one(fresh: Scripts) -> None:
    """A look that was asked for later counts, whichever answer comes last."""
    body = """
    look();
    asked[1].answer(told({ n: 2 }));
    await pass(1);
    asked[0].answer(told({ n: 1 }));
    await pass(1);
    return [seen, said()];
    """
    assert [[2], "live"] == fresh.run("event/following.js", BEGIN + body)


def test_an_older_failure_says_nothing(fresh: Scripts) -> None:
    """The newer look was answered."""
    body = """
    look();
    asked[1].answer(told({ n: 2 }));
    await pass(1);
    asked[0].fail(new Error("gone"));
    await pass(1);
    return [seen, said(), silent()];
    """
    assert [[2], "live", False] == fresh.run("event/following.js", BEGIN + body)


def test_a_document_is_taken_once_until_it_changes(fresh: Scripts) -> None:
    """It is asked for every 800 ms, at the address of that moment."""
    body = """
    for (const n of [1, 1, 2]) {
      asked.at(-1).answer(told({ n }));
      address = `after ${n}`;
      await pass(801);
    }
    return [seen, asked.map(({ url }) => url)];
    """
    urls = ["one", "after 1", "after 1", "after 2"]
    assert [[1, 2], urls] == fresh.run("event/following.js", BEGIN + body)


def test_a_lost_connection_is_said_until_there_is_news(fresh: Scripts) -> None:
    """With the desk's own words; the page asks on."""
    body = """
    asked[0].answer(told({ text: "The disk is full." }, false, 503));
    await pass(1);
    const lost = [said(), silent(), seen.length];
    await pass(5_000);
    asked[1].fail(new Error("gone"));
    await pass(1);
    const later = said();
    await pass(800);
    asked[2].answer(told({ n: 1 }));
    await pass(1);
    return [lost, later, [said(), silent(), seen.length]];
    """
    lost = ["connection lost just now (The disk is full.)", True, 0]
    assert [lost, "connection lost 5 s ago (gone)", ["live", False, 1]] == fresh.run(
        "event/following.js", BEGIN + body
    )
