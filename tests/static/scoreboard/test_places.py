# SPDX-License-Identifier: Apache-2.0
"""The order of the scoreboard's rows, and which of them a projector shows."""

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
    ("part", "count", "top"),
    [([0, 9], 25, 10), ([10, 19], 25, 20), ([15, 24], 25, 0), ([0, 23], 25, 24), (None, 25, 0)],
)
def test_the_next_rows_follow(
    scripts: Scripts, part: list[int] | None, count: int, top: int
) -> None:
    """No row is left out, and after the last one the first comes again."""
    assert top == scripts.call("scoreboard/places.js", "nextTop", part, count)
