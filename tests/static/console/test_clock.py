# SPDX-License-Identifier: Apache-2.0
"""The large line of the console's card."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

BOARD = {"settings": {"seconds": 600}, "figures": {"score": {"unit": "mAP/Wh"}}}


def session(state: str = "RUNNING", **others: Any) -> dict[str, Any]:
    """Return what the board says of a session of 600 s, of which 100 are left."""
    facts = {"state": state, "remaining_s": 100, "length_s": 600, "too_short": False}
    return (
        facts
        | {"score": 1.23456, "score_text": "1.23", "score_about": False, "verdict": "VALID"}
        | others
    )


@pytest.mark.parametrize(
    ("state", "remaining_s", "age_s", "left_s"),
    [
        ("RUNNING", 100, 0, 100),
        ("RUNNING", 100, 1.5, 98.5),
        ("RUNNING", 1, 1, 0),
        ("RUNNING", 1, 7, 0),
        ("READY", 600, 7, 600),
        ("ARMED", 600, 7, 600),
        ("ENDED", 20, 7, 20),
    ],
)
def test_the_time_goes_down_while_a_session_runs(
    scripts: Scripts, state: str, remaining_s: float, age_s: float, left_s: float
) -> None:
    """Between two boards the page counts down from the desk's time, to 0 and no further."""
    one = session(state, remaining_s=remaining_s)
    assert left_s == scripts.call("console/clock.js", "leftOf", one, BOARD, age_s)


def test_without_a_session_all_of_its_time_is_left(scripts: Scripts) -> None:
    """The next session has the length of the contest."""
    shown = scripts.call("console/clock.js", "clockOf", None, BOARD, 3)
    assert {"text": "10:00", "label": "", "classes": ["still"], "percent": 0} == shown


@pytest.mark.parametrize(
    ("left_s", "classes"),
    [(30, []), (29.9, ["last"]), (10.1, ["last"]), (10, ["last", "ten"]), (0, ["last", "ten"])],
)
def test_the_last_seconds_are_marked(scripts: Scripts, left_s: float, classes: list[str]) -> None:
    """The last half minute stands out, and the last ten seconds more."""
    shown = scripts.call("console/clock.js", "clockOf", session(remaining_s=left_s), BOARD, 0)
    assert (classes, "to go") == (shown["classes"], shown["label"])


def test_the_bar_fills_with_the_time(scripts: Scripts) -> None:
    """It is a third full after a third of a session that was made longer."""
    one = session(remaining_s=600, length_s=900)
    assert (
        pytest.approx(100 / 3)
        == scripts.call("console/clock.js", "clockOf", one, BOARD, 0)["percent"]
    )


@pytest.mark.parametrize("state", ["READY", "ARMED", "ENDED"])
def test_a_clock_that_stands_looks_so(scripts: Scripts, state: str) -> None:
    """No second is marked as the last one where none goes by."""
    shown = scripts.call("console/clock.js", "clockOf", session(state, remaining_s=5), BOARD, 9)
    assert ("0:05", "", ["still"]) == (shown["text"], shown["label"], shown["classes"])


@pytest.mark.parametrize(
    ("others", "text", "label", "classes"),
    [
        ({}, "1.23", "mAP/Wh", []),
        (
            {"score_text": "~1", "score_about": True},
            "~1",
            "mAP/Wh, too uncertain for more digits",
            [],
        ),
        ({"too_short": True}, "1.23", "mAP/Wh, too short to be exact", ["still"]),
        ({"score": None}, "no score", "", []),
        ({"state": "SEALED"}, "1.23", "mAP/Wh", []),
        ({"state": "VOID"}, "void", "", ["still"]),
    ],
)
def test_what_a_session_gave(
    scripts: Scripts, others: dict[str, Any], text: str, label: str, classes: list[str]
) -> None:
    """A session that is over has its score in the clock's place, as the desk prints it."""
    shown = scripts.call("console/clock.js", "clockOf", session("SCORED") | others, BOARD, 5)
    assert {"text": text, "label": label, "classes": classes, "percent": 100} == shown


@pytest.mark.parametrize(
    ("state", "told"), [("RUNNING", False), ("ENDED", False), ("SCORED", True), ("VOID", True)]
)
def test_only_what_is_over_is_too_short(scripts: Scripts, state: str, told: bool) -> None:
    """While a session runs every figure is one so far, so nothing is said of its length."""
    assert told == scripts.call("console/clock.js", "isTooShort", session(state, too_short=True))
