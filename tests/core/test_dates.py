# SPDX-License-Identifier: Apache-2.0
"""Days and moments are written as people write them."""

from __future__ import annotations

import pytest

from referee.core.dates import day_text, moment_text


@pytest.mark.parametrize(
    ("utc", "day", "moment"),
    [
        ("2026-06-07T16:02:11.25+00:00", "7 June 2026", "7 June 2026, 16:02 UTC"),
        ("2026-12-31T23:30:00-02:00", "1 January 2027", "1 January 2027, 01:30 UTC"),
        ("2026-02-28T08:05:00Z", "28 February 2026", "28 February 2026, 08:05 UTC"),
        ("2026-02-28T08:05:00", "28 February 2026", "28 February 2026, 08:05 UTC"),
        ("", "", ""),
        ("yesterday", "yesterday", "yesterday"),
    ],
)
def test_a_stored_time_is_read_in_utc(utc: str, day: str, moment: str) -> None:
    """Its seconds are left out; what is no time stays as it is."""
    assert (day, moment) == (day_text(utc), moment_text(utc))
