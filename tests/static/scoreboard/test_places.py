# SPDX-License-Identifier: Apache-2.0
"""The order of the scoreboard's rows, their bars, and which of them a projector shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

OLD = [{"name": "2015", "score": 1.0}, {"name": "2018", "score": 4.0}]


def entry(name: str, score: float | None, rank: int | None = 1) -> dict[str, Any]:
    """Return an entry of this year."""
    return {"name": name, "score": score, "rank": rank}


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        ([], []),
        ([entry("ants", 5.0)], ["ants", "2018", "2015"]),
        ([entry("ants", 2.0), entry("bees", 0.5, 2)], ["2018", "ants", "2015", "bees"]),
        ([entry("ants", 4.0)], ["ants", "2018", "2015"]),
        # The last bit of a quotient is no lead.
        ([entry("ants", 4.0 - 4.4e-16)], ["ants", "2018", "2015"]),
        ([entry("ants", 3.9999999999)], ["2018", "ants", "2015"]),
        ([entry("ants", 2.0), entry("bees", None)], ["2018", "ants", "2015", "bees"]),
        ([entry("ants", 9.0, None)], ["2018", "2015", "ants"]),
    ],
)
def test_champions_stand_where_their_scores_lead(
    scripts: Scripts, entries: list[dict[str, Any]], names: list[str]
) -> None:
    """The better score is above; who has no rank is below all champions."""
    rows = scripts.call("scoreboard/places.js", "ranked", {"entries": entries, "champions": OLD})
    assert names == [row["name"] for row in rows]


@pytest.mark.parametrize(
    ("part", "panel", "panels", "turn"),
    [
        ([0, 9], None, 0, 10),
        ([10, 19], None, 2, 20),
        ([15, 24], None, 0, 0),
        ([15, 24], None, 2, 25),
        ([0, 23], None, 2, 24),
        (None, None, 0, 0),
        (None, None, 1, 25),
        (None, 0, 2, 26),
        ([0, 9], 0, 2, 26),
        (None, 1, 2, 0),
        (None, 0, 1, 0),
    ],
)
def test_the_next_rows_follow_and_then_the_panels(
    scripts: Scripts, part: list[int] | None, panel: int | None, panels: int, turn: int
) -> None:
    """No row and no panel is left out, and after the last one the first row comes again."""
    shown = {"part": part, "panel": panel}
    assert turn == scripts.call("scoreboard/places.js", "nextTurn", shown, 25, panels)


@pytest.mark.parametrize(
    ("moved", "newest", "text", "words"),
    [
        (2, True, "▲2", "2 places up"),
        (1, False, "▲1", "1 place up"),
        (-1, False, "▼1", "1 place down"),
        (0, True, "new", "the newest result"),
        (None, True, "new", "the newest result"),
        (0, False, "", ""),
        (None, False, "", ""),
    ],
)
def test_a_move_is_an_arrow_with_its_places(
    scripts: Scripts, moved: int | None, newest: bool, text: str, words: str
) -> None:
    """The newest result says so where it has moved nobody."""
    found = scripts.call("scoreboard/places.js", "moveOf", {"moved": moved, "newest": newest})
    assert (text, words) == (found["text"], found["words"])


def test_all_bars_have_one_scale(scripts: Scripts) -> None:
    """The widest interval and the best champion fit; an empty ranking has a scale, too."""
    body = """
    const entries = [{ score: 4, score_low: 2, score_high: 6 }, { score: null }];
    const scale = m.scaleOf({ entries, champions: [{ score: 8 }] });
    return [scale, m.scaleOf({ entries: [], champions: [] }), m.scaleOf({ entries, champions: [] }),
      m.barOf(entries[0], scale), m.barOf(entries[1], scale), m.barOf({ score: 8 }, scale),
      ...[[2, null], [null, 6], [null, null], [2], [undefined, 6]].map(
        ([low, high]) => m.barOf({ score: 4, score_low: low, score_high: high }, scale).from)];
    """
    assert [
        *(8, 1, 6),
        {"at": 50, "from": 26, "to": 74},
        None,
        {"at": 98, "from": None, "to": None},
        *[None] * 5,
    ] == scripts.run("scoreboard/places.js", body)


@pytest.mark.parametrize(
    ("names", "share"),
    [([], 34), (["ants"], 34), (["a" * 40], 43), (["東" * 20], 43), (["a" * 90, "b"], 56)],
)
def test_the_longest_name_decides_the_room_of_all(
    scripts: Scripts, names: list[str], share: float
) -> None:
    """Short names leave the width to the bars; no name takes more than the figures can spare."""
    entries = [{"team": name} for name in names]
    assert share == scripts.call("scoreboard/places.js", "nameShare", entries)
