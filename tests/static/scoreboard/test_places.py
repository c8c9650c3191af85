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
    ("entries", "places"),
    [
        ([], [None, None]),
        ([entry("ants", 5.0)], [2, 2]),
        ([entry("ants", 2.0), entry("bees", 0.5, 2)], [1, 2]),
        ([entry("ants", 4.0)], [2, 2]),
        # The last bit of a quotient is no lead.
        ([entry("ants", 4.0 - 4.4e-16)], [2, 2]),
        ([entry("ants", 3.9999999999)], [1, 2]),
        ([entry("ants", 2.0), entry("bees", None)], [1, 2]),
        ([entry("ants", 9.0, None)], [None, None]),
    ],
)
def test_champions_have_the_places_of_their_scores(
    scripts: Scripts, entries: list[dict[str, Any]], places: list[int | None]
) -> None:
    """The best one is first; of equal scores this year's leads, and who has no rank counts not."""
    told = {"entries": entries, "champions": OLD}
    champions = scripts.call("scoreboard/places.js", "championsOf", told)
    assert ["2018", "2015"] == [one["name"] for one in champions]
    assert places == [one["place"] for one in champions]


@pytest.mark.parametrize(
    ("heights", "room", "leaders", "pages"),
    [
        ([], 100, 0, [[0, -1]]),
        ([10] * 10, 100, 0, [[0, 9]]),
        ([10] * 11, 100, 3, [[3, 9], [4, 10]]),
        ([10] * 24, 100, 3, [[3, 9], [10, 16], [17, 23]]),
        ([10] * 9, 50, 3, [[3, 4], [5, 6], [7, 8]]),
        ([10] * 4, 20, 1, [[1, 1], [2, 2], [3, 3]]),
        ([10] * 3, 15, 0, [[0, 0], [1, 1], [2, 2]]),
        # A name of two lines makes its row higher, and no leader takes its room.
        ([20, 10, 10, 10, 30, 10, 10], 70, 3, [[3, 3], [4, 4], [5, 6]]),
        ([10, 10, 10, 10, 35, 10, 10], 60, 2, [[2, 3], [4, 4], [5, 6]]),
        # A row that no screen holds has a page of its own.
        ([10, 90, 10], 50, 0, [[0, 0], [1, 1], [2, 2]]),
    ],
)
def test_pages_turn_below_the_leaders(
    scripts: Scripts, heights: list[int], room: int, leaders: int, pages: list[list[int]]
) -> None:
    """Leaders leave room for every other row; no row is cut, and the last page is full."""
    found = scripts.call("scoreboard/places.js", "pagesOf", heights, room)
    assert {"leaders": leaders, "pages": pages} == found


def test_a_long_ranking_has_one_leader_rather_than_a_round_of_minutes(scripts: Scripts) -> None:
    """Each row comes within two minutes; up to twelve pages three leaders stay."""
    found = scripts.call("scoreboard/places.js", "pagesOf", [10] * 40, 50)
    assert (1, 10, [36, 39]) == (found["leaders"], len(found["pages"]), found["pages"][-1])
    found = scripts.call("scoreboard/places.js", "pagesOf", [10] * 27, 50)
    assert (3, 12) == (found["leaders"], len(found["pages"]))


@pytest.mark.parametrize(
    ("page", "panel", "panels", "turn"),
    [
        (0, None, 0, (1, None)),
        (2, None, 0, (0, None)),
        (2, None, 2, (0, 0)),
        (2, 0, 2, (0, 1)),
        (2, 1, 2, (0, None)),
    ],
)
def test_after_the_last_page_the_panels_come(
    scripts: Scripts, page: int, panel: int | None, panels: int, turn: tuple[int, int | None]
) -> None:
    """No page and no panel is left out, and then the first page comes again."""
    shown = {"page": page, "panel": panel}
    found = scripts.call("scoreboard/places.js", "nextTurn", shown, 3, panels)
    assert turn == (found["page"], found["panel"])


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


@pytest.mark.parametrize(
    ("entries", "champions", "scale"),
    [
        ([], [], {"from": 0, "to": 1}),
        (
            [{"score": 4, "score_low": 2, "score_high": 6}, {"score": None}],
            [],
            {"from": 0, "to": 6},
        ),
        ([{"score": 4}, {"score": 1}], [{"score": 6}], {"from": 0, "to": 6}),
        # Who was far better would push all bars to the side.
        ([{"score": 4}, {"score": 1}], [{"score": 8}], {"from": 0, "to": 4}),
        ([], [{"score": 8}], {"from": 0, "to": 8}),
        # All of them on the right: the bars begin below the least one.
        ([{"score": 20}, {"score": 10.5, "score_low": 10.5}], [], {"from": 9.55, "to": 20}),
    ],
)
def test_all_bars_have_one_scale(
    scripts: Scripts,
    entries: list[dict[str, Any]],
    champions: list[dict[str, Any]],
    scale: dict[str, float],
) -> None:
    """Every interval of this year fits, and the champions that are near."""
    told = {"entries": entries, "champions": champions}
    assert scale == pytest.approx(scripts.call("scoreboard/places.js", "scaleOf", told))


def test_a_bar_has_its_place_on_the_scale(scripts: Scripts) -> None:
    """Without an interval there is the score alone; without a score there is nothing."""
    body = """
    const scale = { from: 0, to: 8 };
    const entry = { score: 4, score_low: 2, score_high: 6 };
    const halves = [[2, null], [null, 6], [null, null], [2], [undefined, 6]];
    return [
      ...[entry, { score: null }, { score: 8 }, { score: 9 }].map((one) => m.barOf(one, scale)),
      ...halves.map(([score_low, score_high]) =>
        m.barOf({ score: 4, score_low, score_high }, scale).from),
    ];
    """
    assert [
        {"at": 50, "from": 26, "to": 74},
        None,
        {"at": 98, "from": None, "to": None},
        {"at": None, "from": None, "to": None},
        *[None] * 5,
    ] == scripts.run("scoreboard/places.js", body)


@pytest.mark.parametrize(
    ("names", "share"),
    [([], 34), (["ants"], 34), (["a" * 40], 43), (["東" * 20], 43), (["a" * 90, "b"], 44)],
)
def test_the_longest_name_decides_the_room_of_all(
    scripts: Scripts, names: list[str], share: float
) -> None:
    """Short names leave the width to the bars; no name takes more than the figures can spare."""
    entries = [{"team": name} for name in names]
    assert share == scripts.call("scoreboard/places.js", "nameShare", entries)
