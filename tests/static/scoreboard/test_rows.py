# SPDX-License-Identifier: Apache-2.0
"""The rows of the ranking."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

COLUMNS = [{"field": name, "head": name} for name in ("rank", "team", "score", "verdict")]


def champion(year: int, score: float) -> dict[str, Any]:
    """Return a champion of an earlier year."""
    printed = {"score": str(score), "mean_ap": "0.5", "energy_wh": "2.0"}
    return {"year": year, "score": score, "printed": printed, "short": {}, "place": 2}


def entry(team: str, score: float | None, **others: Any) -> dict[str, Any]:
    """Return an entry of this year."""
    printed = {"rank": "1", "team": team, "score": str(score), "verdict": ""}
    return {"team": team, "score": score, "printed": printed, "short": {}, "word": ""} | others


def view(*champions: dict[str, Any], entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the server tells."""
    return {"columns": COLUMNS, "champions": list(champions), "entries": entries, "stations": False}


MAKE = """
const [view] = a;
const make = m.rowMaker(view);
const rows = view.entries.map(make);
"""


@pytest.mark.parametrize("order", [(1.0, 4.0, 2.0), (4.0, 2.0, 1.0), (1.0, 2.0, 4.0)])
def test_each_bar_shows_the_best_champion(
    scripts: Scripts, order: tuple[float, float, float]
) -> None:
    """Its line stands where the best score of all years does, in any order."""
    champions = [champion(2015 + n, score) for n, score in enumerate(order)]
    body = f"{MAKE} return rows.map((row) => row.querySelector('.best').style.left);"
    entries = [entry("ants", 4.0), entry("bees", 3.0)]
    lines = scripts.run("scoreboard/rows.js", body, view(*champions, entries=entries))
    assert ["98%", "98%"] == lines


def test_without_champions_there_is_no_line(scripts: Scripts) -> None:
    """And without a score there is no bar."""
    body = f"{MAKE} return rows.map((row) => row.querySelectorAll('.best, .at').length);"
    all_of = view(entries=[entry("ants", 3.0), entry("bees", None)])
    assert [1, 0] == scripts.run("scoreboard/rows.js", body, all_of)


def test_a_bar_has_its_interval_around_its_score(scripts: Scripts) -> None:
    """The range stands on its middle, and is as wide as its two ends however small it is."""
    body = f"""{MAKE}
    const told = (row, name) => {{
      const {{ left, width }} = row.querySelector(name).style;
      return [left, width];
    }};
    return rows.map((row) => [...told(row, ".range"), told(row, ".at")[0]]);
    """
    wide = entry("ants", 4.0, score_low=2.0, score_high=4.0)
    narrow = entry("bees", 2.0, score_low=2.0, score_high=2.0)
    shown = scripts.run("scoreboard/rows.js", body, view(entries=[wide, narrow]))
    assert [
        ["74%", "max(var(--ends), 48.000%)", "98%"],
        ["50%", "max(var(--ends), 0.000%)", "50%"],
    ] == shown


def test_a_champion_stands_aside_with_the_place_it_would_have(scripts: Scripts) -> None:
    """Its year, its score, and its place of today; the rest is its title."""
    body = "const made = m.championOf(a[0]); return [made.textContent, made.title];"
    assert [
        "2018 4.0 would be 2nd",
        "champion of 2018: mAP 0.5, 2.0 Wh",
    ] == scripts.run("scoreboard/rows.js", body, champion(2018, 4.0))


def test_a_row_says_by_how_many_places_it_has_moved(scripts: Scripts) -> None:
    """In an arrow, and in words for those who do not know it; a row that stays has neither."""
    entries = [entry("ants", 3.0, moved=2), entry("bees", 2.0, moved=-1), entry("wasps", 1.0)]
    body = f"""{MAKE} return rows.map((row) => row.querySelector(".move"))
      .map((one) => one && [one.textContent, one.className, one.title]);
    """
    assert [
        ["▲2", "move up", "2 places up"],
        ["▼1", "move down", "1 place down"],
        None,
    ] == scripts.run("scoreboard/rows.js", body, view(entries=entries))


def test_a_row_is_of_one_kind(scripts: Scripts) -> None:
    """Who is on now, the newest result, or another."""
    entries = [
        entry("ants", 3.0, word="on now", newest=True),
        entry("bees", 2.0, newest=True),
        entry("wasps", 1.0),
    ]
    body = f"{MAKE} return rows.map((row) => row.className);"
    shown = scripts.run("scoreboard/rows.js", body, view(entries=entries))
    assert ["on-now", "newest", ""] == shown
