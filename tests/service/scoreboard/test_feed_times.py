# SPDX-License-Identifier: Apache-2.0
"""Times of the feed, as the contest API writes them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from referee.service.scoreboard.feed_times import absolute_time, relative_time, since


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00:00.000"),
        (59.9996, "0:01:00.000"),
        (3661.25, "1:01:01.250"),
        (360_000, "100:00:00.000"),
        (-1.5, "-0:00:01.500"),
        (-0.0001, "0:00:00.000"),
    ],
)
def test_relative_times(seconds, text):
    """Hours, minutes, seconds and milliseconds, rounded without overflow, with their sign."""
    assert text == relative_time(seconds)


def test_a_contest_time_is_the_difference_of_the_times_that_are_told():
    """A reader who subtracts two moments of the feed gets the same, to the millisecond."""
    start = datetime(2026, 6, 7, 12, 0, 0, 1999, timezone.utc)
    later = datetime(2026, 6, 7, 14, 0, 1, 1000, timezone(timedelta(hours=2)))
    told = [absolute_time(start), absolute_time(later)]
    assert ["2026-06-07T12:00:00.001Z", "2026-06-07T12:00:01.001Z"] == told
    assert ("0:00:01.000", "-0:00:01.000") == (since(start, later), since(later, start))
    assert since(None, start) is since(start, None) is absolute_time(None) is None
