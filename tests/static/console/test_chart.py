# SPDX-License-Identifier: Apache-2.0
"""The seconds that the console's chart of power shows."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("state", "elapsed_s", "newest_s", "shown"),
    [
        ("RUNNING", 10, 9, (0, 300)),
        ("RUNNING", 400, 399, (100, 400)),
        ("RUNNING", 610, 600, (305, 605)),
        ("ENDED", 900, 600, (300, 600)),
        ("SCORED", 900, None, (0, 300)),
        (None, 0, None, (0, 300)),
    ],
)
def test_the_last_five_minutes_are_shown(
    scripts: Scripts,
    state: str | None,
    elapsed_s: float,
    newest_s: float | None,
    shown: tuple[float, float],
) -> None:
    """The line runs to this moment, and after the end of a session to its newest reading."""
    session = state and {"state": state, "elapsed_s": elapsed_s}
    samples = [] if newest_s is None else [[1, 0, 5.0], [2, newest_s, 5.0]]
    found = scripts.call("console/chart.js", "shownTime", session, 600, samples)
    assert {"from": shown[0], "to": shown[1]} == found


def test_a_short_session_has_a_short_chart(scripts: Scripts) -> None:
    """The axis ends with the session's length."""
    running = {"state": "RUNNING", "elapsed_s": 3}
    found = scripts.call("console/chart.js", "shownTime", running, 20, [])
    assert {"from": 0, "to": 20} == found
