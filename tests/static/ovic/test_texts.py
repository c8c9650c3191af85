# SPDX-License-Identifier: Apache-2.0
"""What the leaderboard of OVIC says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "ovic/texts.js"
LINE = {"now": None, "received": 2, "waiting": 1}
ENTRY = {
    "place": None,
    "builds": ["a"],
    "tries": 0,
    "text": "is read",
    "valid": True,
    "metric": -0.0125,
    "accuracy": 61.234,
    "latency_ms": 29.5,
}


@pytest.mark.parametrize(
    ("board", "text"),
    [
        ({}, "No model is running. 2 to validate, 1 to measure."),
        (
            {"line": LINE | {"now": {"entry": 7, "team": "ants", "state": "measuring"}}},
            "Entry 7 of ants is measuring. 2 to validate, 1 to measure.",
        ),
        ({"final": True}, "FINAL: entries can no longer be added or changed."),
    ],
)
def test_the_line_of_the_queue(scripts: Scripts, board: dict[str, Any], text: str) -> None:
    """It says what runs now and what waits, until all is final."""
    assert text == scripts.call(MODULE, "lineText", {"line": LINE, "final": False} | board)


def test_the_closing_time_is_told(scripts: Scripts) -> None:
    """Participants read until when models are taken."""
    board = {"line": LINE, "closes_utc": "2026-06-01T10:00:00Z", "final": False}
    assert " Models are accepted until 2026-06-01 " in scripts.call(MODULE, "lineText", board)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({}, "metric −0.013, 61.23 %, 29.500 ms"),
        ({"builds": ["a", "b"]}, "metric −0.013, 61.23 %, 29.500 ms, best of 2 measurements"),
        ({"valid": False}, "too slow to be valid, 61.23 %, 29.500 ms"),
        ({"builds": []}, "is read"),
        ({"builds": [], "place": 3}, "place 3 in the line. "),
        ({"builds": [], "place": 3, "tries": 1}, "place 3 in the line. is read"),
    ],
)
def test_where_an_entry_is(scripts: Scripts, entry: dict[str, Any], text: str) -> None:
    """One that was measured says what it has reached."""
    assert text == scripts.call(MODULE, "saidOf", ENTRY | entry)


@pytest.mark.parametrize(
    ("metric", "rank", "cells"),
    [
        (0.5, 1, ["1", "ants", "+0.500", "61.23", "29.500", "7", "2"]),
        (None, None, ["–", "ants", "too slow", "61.23", "29.500", "7", "2"]),
    ],
)
def test_a_row_of_the_ranking(
    scripts: Scripts, metric: float | None, rank: int | None, cells: list[str]
) -> None:
    """A metric has its sign, and one that is too slow none."""
    row = ENTRY | {"rank": rank, "team": "ants", "metric": metric, "entry": 7, "entries": 2}
    assert cells == scripts.call(MODULE, "cellsOf", row)


@pytest.mark.parametrize(("ms", "text"), [(8000, "live"), (8600, "connection lost 8 s ago")])
def test_silence_is_said(scripts: Scripts, ms: float, text: str) -> None:
    """After eight seconds the page says since when the connection is lost."""
    assert text == scripts.call(MODULE, "heardText", ms)
