# SPDX-License-Identifier: Apache-2.0
"""A break of the event: words and countdown."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

PAUSE = {"text": "Lunch", "until_utc": "2026-06-07T12:30:00+00:00"}


@pytest.mark.parametrize(
    ("now", "clock", "after"),
    [
        ("12:00:00", "30:00", ""),
        ("12:28:59.5", "1:01", ""),
        ("12:29:59.9", "0:01", ""),
        ("12:30:00", "", "in a moment"),
        ("12:44:59", "", "in a moment"),
    ],
)
def test_a_break_counts_down(scripts: Scripts, now: str, clock: str, after: str) -> None:
    """When its time is over, the event goes on in a moment."""
    body = "return m.pauseOf(a[0], Date.parse(a[1]))"
    found = scripts.run("scoreboard/pause.js", body, PAUSE, f"2026-06-07T{now}+00:00")
    assert {"text": "Lunch", "clock": clock, "after": after} == found


def test_a_forgotten_break_disappears(scripts: Scripts) -> None:
    """A quarter of an hour after its time nobody reads it any more; no break is nothing."""
    body = "return [m.pauseOf(a[0], Date.parse(a[1])), m.pauseOf(null, 0)]"
    late = "2026-06-07T12:45:01+00:00"
    assert [None, None] == scripts.run("scoreboard/pause.js", body, PAUSE, late)


@pytest.mark.parametrize(
    ("date", "behind"), [("Sun, 07 Jun 2026 12:00:00 GMT", 60_000), (None, 0), ("soon", 0)]
)
def test_the_referees_clock_counts(scripts: Scripts, date: str | None, behind: int) -> None:
    """A phone whose clock is a minute late still shows the right countdown."""
    body = "return m.behindMs(a[0], Date.parse('2026-06-07T11:59:00Z'))"
    assert behind == scripts.run("scoreboard/pause.js", body, date)
