# SPDX-License-Identifier: Apache-2.0
"""A page of published files: when it looks, how old a state is, what it does without one."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

NOON_MS = 1_780_833_600_000
HEADERS = "new Headers({ Date: 'Sun, 07 Jun 2026 12:00:00 GMT', ...a[0] })"


@pytest.mark.parametrize(
    ("headers", "behind_ms"), [({}, 5000), ({"Age": "30"}, 35000), ({"Date": "soon"}, 0)]
)
def test_an_answer_of_a_cache_says_how_old_it_is(
    scripts: Scripts, headers: dict[str, str], behind_ms: int
) -> None:
    """So a clock is set by it all the same; a host without a clock sets none."""
    body = f"return m.behindOf({HEADERS}, {NOON_MS - 5000});"
    assert behind_ms == scripts.run("scoreboard/published.js", body, headers)


@pytest.mark.parametrize(("age_ms", "told"), [(4000, 4000), (-60_000, 0), (3_600_000, 0)])
def test_a_state_from_the_future_or_from_long_ago_counts_as_new(
    scripts: Scripts, age_ms: int, told: int
) -> None:
    """One of the clocks is wrong then, and a countdown from it would be wrong, too."""
    body = f"return m.ageOf('2026-06-07T12:00:00Z', {NOON_MS} + a[0]);"
    assert told == scripts.run("scoreboard/published.js", body, age_ms)


@pytest.mark.parametrize(
    ("state", "every_s", "age_s", "rest_s"),
    [
        ("PROVISIONAL", 10, 30, 10),
        ("FROZEN", 10, 30, 10),
        ("FINAL", 10, 30, 60),
        ("PROVISIONAL", 10, 7200, 60),
        ("PROVISIONAL", None, 30, 60),
        ("FINAL", 600, 30, 600),
    ],
)
def test_a_page_looks_as_often_as_news_may_come(
    scripts: Scripts, state: str, every_s: int | None, age_s: int, rest_s: int
) -> None:
    """What is final or old is asked for once a minute: an old page costs a host next to nothing."""
    told = {"state": state, "every_s": every_s, "utc": "2026-06-07T12:00:00Z"}
    assert rest_s == scripts.call("scoreboard/published.js", "restS", told, NOON_MS + 1000 * age_s)


def test_all_viewers_ask_for_one_address_during_a_step(scripts: Scripts) -> None:
    """A cache between them and the host answers all but the first."""
    body = "return [0, 9999, 10_000].map((ms) => m.stepOf(1_780_833_600_000 + ms, 10));"
    first, last, next_one = scripts.run("scoreboard/published.js", body)
    assert (first, first + 1) == (last, next_one)


# A page of a site whose host answers what a test says; what it cannot answer is a page of its own.
BEGIN = """
document.body.innerHTML = '<p id="connection"></p>';
const clock = world();
const begun = Date.now();
Date.now = () => begun + performance.now();
// What a browser answers takes it some turns.
const pass = async (ms) => {
  await clock.pass(ms);
  for (let n = 0; n < 9; n += 1) await clock.pass(0);
};
const seen = [];
const files = {};
const asked = [];
const state = (key) => ({
  key, utc: new Date().toISOString(), every_s: 10, state: "PROVISIONAL",
  files: { view: `data/view.${key}.js`, now: `data/now.${key}.js` },
});
let pointer = null;
window.fetch = async (address) => {
  asked.push(address);
  return pointer ? new Response(JSON.stringify(pointer)) : new Response("", { status: 404 });
};
const realAppend = document.head.append.bind(document.head);
document.head.append = (script) => {
  const path = new URL(script.src).pathname.split("/site/")[1];
  asked.push(path + new URL(script.src).search);
  queueMicrotask(() => {
    if (!(path in files)) return script.onerror();
    if (files[path] !== null) script.handed = files[path];
    return script.onload();
  });
};
const put = (key) => {
  files[`data/view.${key}.js`] = { key, view: key, teams: {}, charts: {} };
  files[`data/now.${key}.js`] = { live: { sessions: [] }, race: {} };
};
const source = m.published("/site/state", "");
const follow = () => source.follow({
  view: ({ view }) => seen.push(view), live: () => seen.push("live"),
});
const said = () => document.getElementById("connection").textContent;
"""


def test_half_a_site_is_shown_by_nobody(fresh: Scripts) -> None:
    """A state whose files are still on their way is taken when they are there, and not before."""
    body = """
    put("one");
    pointer = state("one");
    follow();
    await pass(100);
    pointer = state("two");
    files["data/view.two.js"] = { key: "two", view: "two", teams: {}, charts: {} };
    await pass(10_000);
    const before = [...seen];
    const told = said();
    put("two");
    await pass(10_000);
    return [before, told.includes("no newer state"), seen, said().includes("no newer")];
    """
    expected = [["one", "live"], True, ["one", "live", "two", "live"], False]
    assert expected == fresh.run("scoreboard/published.js", BEGIN + body)


def test_a_file_that_failed_is_asked_for_by_another_address(fresh: Scripts) -> None:
    """A cache may remember for long that there was nothing, or a page in its place."""
    body = """
    pointer = state("one");
    files["data/view.one.js"] = null;
    follow();
    await pass(100);
    put("one");
    await pass(10_000);
    return [asked.filter((path) => path.includes("view")), seen];
    """
    paths, seen = fresh.run("scoreboard/published.js", BEGIN + body)
    assert ["data/view.one.js", "data/view.one.js?n=1"] == paths
    assert ["one", "live"] == seen


def test_a_page_without_a_site_says_so_and_goes_on(fresh: Scripts) -> None:
    """It has what it shows as soon as the host answers."""
    body = """
    follow();
    await pass(100);
    const told = said();
    put("one");
    pointer = state("one");
    await pass(10_000);
    return [told, seen, said().slice(0, 5)];
    """
    told, seen, later = fresh.run("scoreboard/published.js", BEGIN + body)
    assert "cannot be had" in told
    assert (["one", "live"], "as of") == (seen, later)


def test_an_unchanged_site_costs_one_small_request(fresh: Scripts) -> None:
    """The pointer alone is asked for, and each step has an address of its own."""
    body = """
    put("one");
    pointer = state("one");
    follow();
    for (let n = 0; n < 3; n += 1) await pass(10_000);
    return asked;
    """
    asked = fresh.run("scoreboard/published.js", BEGIN + body)
    assert 2 == sum("data/" in path for path in asked)
    pointers = [path for path in asked if "state.json?n=" in path]
    assert len(pointers) == len(set(pointers)) >= 3
