# SPDX-License-Identifier: Apache-2.0
"""The line of the camera's display to the desk."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

BEGIN = """
const { pass, streams } = world();
const told = [];
const link = new m.Link({
  hello: (lane) => told.push(["hello", lane]),
  truth: (...all) => told.push(all),
});
const newest = () => streams.at(-1);
const truth = (mode = "black") => newest().say("truth", { mode });
newest().say("hello", { lane: "B", key: 7 });
"""
SILENT = [None, "The desk is silent."]
GONE = [None, "The desk does not answer."]


def test_a_silent_desk_makes_the_screen_unknown(fresh: Scripts) -> None:
    """Three seconds without a word are enough; each word begins them anew."""
    body = """
    for (let n = 0; n < 4; n += 1) {
      await pass(2_900);
      truth();
    }
    told.length = 0;
    await pass(2_900);
    const before = told.length;
    await pass(400);
    return [before, told, streams[0].readyState];
    """
    assert [0, [SILENT], 2] == fresh.run("display/link.js", BEGIN + body)


def test_the_pauses_double_while_nobody_answers(fresh: Scripts) -> None:
    """From a quarter of a second up to four; an answer makes them short again."""
    body = """
    const pauses = [];
    const lose = async () => {
      const before = streams.length;
      newest().dispatchEvent(new Event("error"));
      let ms = 0;
      while (streams.length === before && ms < 20_000) {
        await pass(50);
        ms += 50;
      }
      pauses.push(ms);
    };
    for (let n = 0; n < 6; n += 1) await lose();
    newest().say("hello", { lane: "B" });
    await lose();
    return pauses;
    """
    assert [250, 500, 1000, 2000, 4000, 4000, 250] == fresh.run("display/link.js", BEGIN + body)


@pytest.mark.parametrize(
    ("mode", "ms"), [("frame", 250), ("black", 250), ("waiting", 2250), ("other", 2250)]
)
def test_who_shows_comes_back_first(fresh: Scripts, mode: str, ms: int) -> None:
    """A page that shows nothing waits two seconds more."""
    body = """
    truth(a[0]);
    newest().dispatchEvent(new Event("error"));
    await pass(a[1] - 10);
    const before = streams.length;
    await pass(20);
    return [before, streams.length, told.at(-1)];
    """
    assert [1, 2, GONE] == fresh.run("display/link.js", BEGIN + body, mode, ms)


def test_an_old_stream_is_not_heard(fresh: Scripts) -> None:
    """What comes late on a line that was given up changes nothing."""
    body = """
    newest().dispatchEvent(new Event("error"));
    await pass(300);
    told.length = 0;
    streams[0].say("truth", { mode: "frame" });
    streams[1].say("truth", { mode: "black" });
    return told;
    """
    assert [[{"mode": "black"}]] == fresh.run("display/link.js", BEGIN + body)


def test_a_page_too_many_says_so(fresh: Scripts) -> None:
    """The desk takes no more pages, and this one tries again."""
    body = 'newest().say("full"); return told.at(-1);'
    full = [None, "Too many display pages are open: close one."]
    assert full == fresh.run("display/link.js", BEGIN + body)


def test_reports_carry_who_tells_them(fresh: Scripts) -> None:
    """They go out while the line stands, and what the desk says against one is returned."""
    body = """
    const posted = [];
    globalThis.fetch = async (url, { body }) => {
      posted.push(JSON.parse(body));
      return { ok: posted.length === 1, json: async () => ({ text: "too small" }) };
    };
    const said = [];
    for (const width of [5, 6]) said.push(await link.report("screen", { width }));
    newest().dispatchEvent(new Event("error"));
    said.push(await link.report("screen", { width: 7 }));
    return [said, posted];
    """
    said = ["", "too small", ""]
    posted = [{"key": 7, "width": 5}, {"key": 7, "width": 6}]
    assert [said, posted] == fresh.run("display/link.js", BEGIN + body)


def test_a_page_that_closes_says_so_once(fresh: Scripts) -> None:
    """The desk would notice only after seconds; the stream ends, and no other one begins."""
    body = """
    const posted = [];
    globalThis.fetch = async (url, { body, keepalive }) => {
      posted.push([url.split("/").at(-1), JSON.parse(body).key, keepalive]);
    };
    for (let n = 0; n < 2; n += 1) dispatchEvent(new Event("pagehide"));
    await pass(20_000);
    return [posted, streams.length, streams[0].readyState];
    """
    assert [[["bye", 7, True]], 1, 2] == fresh.run("display/link.js", BEGIN + body)
