# SPDX-License-Identifier: Apache-2.0
"""The keys of a ceremony, and the columns of its podium."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "ceremony/steps.js"


@pytest.mark.parametrize(
    ("key", "step", "to"),
    [
        ({"key": " "}, 0, 1),
        ({"key": "ArrowRight"}, 3, 4),
        ({"key": "PageDown"}, 3, 4),
        ({"key": "ArrowLeft"}, 3, 2),
        ({"key": "PageUp"}, 3, 2),
        ({"key": "ArrowLeft"}, 0, 0),
        ({"key": " "}, 4, 4),
        ({"key": "Enter"}, 2, 2),
        ({"key": "a"}, 2, 2),
        ({"key": " ", "repeat": True}, 2, 2),
        ({"key": "ArrowLeft", "altKey": True}, 2, 2),
        ({"key": "ArrowRight", "ctrlKey": True}, 2, 2),
        ({"key": "ArrowRight", "metaKey": True}, 2, 2),
    ],
)
def test_a_key_leads_one_scene_on_or_back(
    scripts: Scripts, key: dict[str, Any], step: int, to: int
) -> None:
    """Of five scenes; a key that is held down reveals nothing more, and other keys do nothing."""
    assert to == scripts.call(MODULE, "stepAfter", step, key, 5)


@pytest.mark.parametrize(
    ("hash_", "step"),
    [("", 0), ("#0", 0), ("#3", 3), ("#9", 4), ("#-1", 0), ("#1e3", 0), ("#place", 0)],
)
def test_the_address_names_the_scene(scripts: Scripts, hash_: str, step: int) -> None:
    """A page that is loaded again goes on where it was; nonsense leads to the first scene."""
    assert step == scripts.call(MODULE, "stepOf", hash_, 5)


def test_the_next_key_is_named_without_the_team(scripts: Scripts) -> None:
    """The operator reads what comes, and so may everybody."""
    scenes = [
        {"kind": "title", "title": "LPIRC"},
        {"kind": "ranking", "title": "Place 3"},
        {"kind": "ranking", "title": "Place 3"},
        {"kind": "prize", "title": "Least energy"},
    ]
    told = [scripts.call(MODULE, "nextText", scenes, step) for step in range(4)]
    assert told == [
        "Space or →: Place 3",
        "Space or →: who it is: Place 3",
        "Space or →: Least energy",
        "This is the end. Press ← to go back.",
    ]


@pytest.mark.parametrize(
    ("places", "columns"),
    [
        (["1", "2", "3"], ["2", "1", "3"]),
        (["1", "1", "3"], ["3", "1"]),
        (["1", "2", "2"], ["2", "1"]),
        (["1", "1", "1"], ["1"]),
        (["1"], ["1"]),
        ([], []),
    ],
)
def test_the_first_stands_in_the_middle(
    scripts: Scripts, places: list[str], columns: list[str]
) -> None:
    """The second stands on its left, and teams that share a place share a column."""
    lines = [{"place": place, "team": f"team {n}"} for n, place in enumerate(places)]
    found = scripts.call(MODULE, "podiumOf", lines)
    assert columns == [column["place"] for column in found]
    teams = sorted(line["team"] for column in found for line in column["lines"])
    assert [line["team"] for line in lines] == teams


@pytest.mark.parametrize("count", [0, 12, 13, 40])
def test_the_names_beside_the_ranking_fit(scripts: Scripts, count: int) -> None:
    """Twelve lines at most: the last one counts those that are not named."""
    teams = [f"team {n}" for n in range(count)]
    shown = scripts.call(MODULE, "waitingOf", teams)
    assert shown[:11] == teams[:11]
    assert shown[11:] == (teams[11:] if count <= 12 else [f"and {count - 11} more"])
