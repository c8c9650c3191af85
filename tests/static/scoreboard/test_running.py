# SPDX-License-Identifier: Apache-2.0
"""What the audience reads of a session that is on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("session", "text"),
    [
        ({"state": "ARMED"}, "gets ready"),
        ({"state": "RUNNING"}, "running"),
        ({"state": "RUNNING", "old": True}, "running, no news from the meter"),
        ({"state": "ENDED"}, "has ended: the energy is judged"),
        ({"state": "RUNNING", "lane_name": "A"}, "lane A: running"),
        (
            {"state": "ENDED", "lane_name": "A", "old": True},
            "lane A: has ended: the energy is judged",
        ),
    ],
)
def test_a_session_in_words(scripts: Scripts, session: dict[str, Any], text: str) -> None:
    """A running session says whether its meter tells anything; with lanes it names its own."""
    assert text == scripts.call("scoreboard/running.js", "words", session)


@pytest.mark.parametrize(
    ("state", "remaining_s", "passed_s", "text", "last"),
    [
        ("RUNNING", 75, 0, "1:15", False),
        ("RUNNING", 75, 1.5, "1:14", False),
        ("RUNNING", 11, 0.9, "0:11", False),
        ("RUNNING", 11, 1, "0:10", True),
        ("RUNNING", 1, 5, "0:00", True),
        ("ARMED", 5, 3, "0:05", False),
    ],
)
def test_the_clock_goes_down(
    scripts: Scripts, state: str, remaining_s: float, passed_s: float, text: str, last: bool
) -> None:
    """Between two events it goes on by itself, and the last ten seconds are marked."""
    session = {"state": state, "remaining_s": remaining_s}
    shown = scripts.call("scoreboard/running.js", "clockOf", session, passed_s)
    assert {"text": text, "last": last} == shown
