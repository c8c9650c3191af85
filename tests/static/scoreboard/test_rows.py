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
    printed = {"rank": "", "team": f"winner of {year}", "score": str(score), "verdict": ""}
    return {"year": year, "score": score, "printed": printed, "short": {}}


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
const rows = [...view.entries, ...view.champions].map(make);
"""


@pytest.mark.parametrize("order", [(1.0, 4.0, 2.0), (4.0, 2.0, 1.0), (1.0, 2.0, 4.0)])
def test_each_bar_shows_the_best_champion(
    scripts: Scripts, order: tuple[float, float, float]
) -> None:
    """Its line stands where the circle of the best score of all years does, in any order."""
    champions = [champion(2015 + n, score) for n, score in enumerate(order)]
    body = f"""{MAKE}
    const best = rows[1 + a[1]].querySelector("circle").getAttribute("cx");
    const lines = rows.map((row) => row.querySelector(".best").getAttribute("x1"));
    return [...new Set(lines), best];
    """
    all_of = view(*champions, entries=[entry("ants", 3.0)])
    line, circle = scripts.run("scoreboard/rows.js", body, all_of, order.index(4.0))
    assert line == circle


def test_without_champions_there_is_no_line(scripts: Scripts) -> None:
    """And without a score there is no bar."""
    body = f"{MAKE} return rows.map((row) => row.querySelectorAll('.best, circle').length);"
    all_of = view(entries=[entry("ants", 3.0), entry("bees", None)])
    assert [1, 0] == scripts.run("scoreboard/rows.js", body, all_of)


def test_a_bar_has_its_interval_around_its_score(scripts: Scripts) -> None:
    """Band and circle are on one height, and an interval has a width however small it is."""
    body = f"""{MAKE}
    const told = (part, names) => names.map((name) => part.getAttribute(name));
    return rows.map((row) => [
      ...told(row.querySelector("rect"), ["x", "width", "y", "height"]),
      ...told(row.querySelector("circle"), ["cx", "cy"]),
    ]);
    """
    wide = entry("ants", 4.0, score_low=2.0, score_high=4.0)
    narrow = entry("bees", 2.0, score_low=2.0, score_high=2.0)
    shown = scripts.run("scoreboard/rows.js", body, view(entries=[wide, narrow]))
    assert [
        ["50%", "48%", "30%", "40%", "98%", "50%"],
        ["50%", "0.4%", "30%", "40%", "50%", "50%"],
    ] == shown


def test_a_row_is_of_one_kind(scripts: Scripts) -> None:
    """A champion, who is on now, the newest result, or another."""
    entries = [
        entry("ants", 3.0, word="on now", newest=True),
        entry("bees", 2.0, newest=True),
        entry("wasps", 1.0),
    ]
    body = f"{MAKE} return rows.map((row) => row.className);"
    shown = scripts.run("scoreboard/rows.js", body, view(champion(2015, 1.0), entries=entries))
    assert ["on-now", "newest", "", "champion"] == shown
