# SPDX-License-Identifier: Apache-2.0
"""The sentences that the console has of its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "console/wording.js"
FIGURES = {"accuracy": {"label": "mAP", "field": "mean_ap"}, "score": {"unit": "mAP/Wh"}}
ROW = {
    "id": 3,
    "team": "ants",
    "state": "SCORED",
    "rehearsal": False,
    "verdict": "VALID",
    "marks": [],
    "mean_ap": 0.25,
    "energy_wh": 0.5,
    "score": 0.5,
    "score_text": "0.500",
    "too_short": False,
}


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({}, "session 3 of ants: VALID, 0.500 mAP/Wh, mAP 0.2500, 0.5000 Wh"),
        (
            {"rehearsal": True},
            "session 3 of ants, rehearsal: VALID, 0.500 mAP/Wh, mAP 0.2500, 0.5000 Wh",
        ),
        ({"score_text": "~0.5"}, "session 3 of ants: VALID, ~0.5 mAP/Wh, mAP 0.2500, 0.5000 Wh"),
        (
            {"verdict": "SUSPECT", "marks": ["SUSPECT", "EMULATED"], "score": None},
            "session 3 of ants: SUSPECT EMULATED, no score, mAP 0.2500, 0.5000 Wh",
        ),
        ({"score": None}, "session 3 of ants: VALID, no score, mAP 0.2500, 0.5000 Wh"),
        ({"verdict": None, "state": "ENDED"}, "session 3 of ants: ENDED, no result yet"),
        ({"state": "VOID", "void_reason": "a fall"}, "session 3 of ants: VOID, a fall"),
    ],
)
def test_a_session_in_one_line(scripts: Scripts, others: dict[str, Any], text: str) -> None:
    """What is over says what it gave; what is void says why."""
    assert text == "".join(scripts.call(MODULE, "rowParts", ROW | others, FIGURES))


def test_boxes_that_match_nothing_are_explained(scripts: Scripts) -> None:
    """Each reason is in words, and one that the page does not know is there as it is."""
    words = {
        "unknown image": "of an image that does not exist",
        "class out of range": "of a class that does not exist",
        "confidence not finite": "without a finite confidence",
        "coordinate not finite": "without finite coordinates",
        "inverted box": "with corners the wrong way round",
        "other": "other",
    }
    # The browser gets them in the order of the alphabet.
    counts = {why: number for number, why in enumerate(sorted(words), 1)}
    told = ", ".join(f"{number} {words[why]}" for why, number in counts.items())
    text = f"These boxes match no object: {told}."
    assert text == scripts.call(MODULE, "flagText", counts)
    assert "" == scripts.call(MODULE, "flagText", {})
