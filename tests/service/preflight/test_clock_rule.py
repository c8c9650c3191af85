# SPDX-License-Identifier: Apache-2.0
"""A date that cannot be right, or is years from all that is there, is a finding."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from referee.service.preflight.clock_rule import Dated, DateFacts, date_finding
from referee.service.preflight.finding import Level

PROGRAM = Dated("this program's commit", datetime(2026, 11, 1, tzinfo=UTC))
NEWEST = Dated("the file contest.toml", datetime(2026, 11, 20, tzinfo=UTC))


@pytest.mark.parametrize(
    ("now", "level", "told"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), Level.FAIL, "contest.toml is of 2026-11-20"),
        (datetime(2026, 11, 18, tzinfo=UTC), Level.FAIL, "the clock says 2026-11-18"),
        (datetime(2026, 11, 19, 1, tzinfo=UTC), Level.OK, "the newest thing here"),
        (datetime(2026, 11, 28, tzinfo=UTC), Level.OK, "2026-11-28"),
        (datetime(2028, 3, 1, tzinfo=UTC), Level.OK, "2028-03-01"),
        (datetime(2029, 1, 1, tzinfo=UTC), Level.WARN, "contest.toml is of 2026-11-20: years ago"),
        (datetime(2036, 1, 1, tzinfo=UTC), Level.WARN, "the clock says 2036-01-01"),
    ],
)
def test_the_date_is_compared_with_what_is_there(now: datetime, level: Level, told: str) -> None:
    """Behind it is a FAIL, beyond the time zones; far ahead of it a WARN."""
    finding = date_finding(DateFacts(now, PROGRAM, [NEWEST]))
    assert (level, True) == (finding.level, told in finding.text), finding.text


def test_an_event_that_was_made_under_a_wrong_clock_is_told_by_the_program() -> None:
    """Its files are of that date, too, and the program's commit is not."""
    now = datetime(2036, 1, 1, tzinfo=UTC)
    event = [Dated("the file contest.toml", now - timedelta(hours=1))]
    assert Level.WARN is date_finding(DateFacts(now, PROGRAM, event)).level
    assert Level.OK is date_finding(DateFacts(now, None, event)).level


def test_without_anything_to_compare_there_is_no_fault() -> None:
    """The finding says so."""
    finding = date_finding(DateFacts(datetime(1970, 1, 1, tzinfo=UTC), None, []))
    assert (Level.OK, True) == (finding.level, "nothing to compare" in finding.text)
