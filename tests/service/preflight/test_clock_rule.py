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
        (datetime(2027, 5, 20, tzinfo=UTC), Level.OK, "2027-05-20"),
        (datetime(2027, 5, 24, tzinfo=UTC), Level.WARN, "today is 185 days later"),
        (
            datetime(2027, 12, 25, tzinfo=UTC),
            Level.WARN,
            "contest.toml is of 2026-11-20, and today",
        ),
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


def test_a_clock_that_jumped_during_the_preparation_is_told_by_the_gap() -> None:
    """What was made since is of the wrong date, too; nothing was made between."""
    now = datetime(2027, 12, 25, tzinfo=UTC)
    record = Dated("a record of the event", now - timedelta(hours=1))
    finding = date_finding(DateFacts(now, PROGRAM, [record, NEWEST]))
    told = "contest.toml is of 2026-11-20, and a record of the event, 2027-12-24, is 399 days later"
    assert (Level.WARN, True) == (finding.level, told in finding.text), finding.text


@pytest.mark.parametrize(("days", "level"), [(400, Level.WARN), (100, Level.OK), (-3, Level.FAIL)])
def test_a_clock_that_no_server_has_set_for_long_is_told(days: int, level: Level) -> None:
    """An event whose files are all of a wrong date has that witness alone."""
    now = datetime(2027, 12, 25, tzinfo=UTC)
    event = [Dated("the file contest.toml", now - timedelta(hours=1))]
    server = Dated("the last word of a time server", now - timedelta(days=days))
    assert level is date_finding(DateFacts(now, PROGRAM, event, server)).level


def test_an_old_program_is_told_after_a_year_and_a_half() -> None:
    """A release of last year is no fault."""
    for days, level in ((540, Level.OK), (550, Level.WARN)):
        now = PROGRAM.made + timedelta(days=days)
        assert level is date_finding(DateFacts(now, PROGRAM, [Dated("a file", now)])).level


def test_without_anything_to_compare_there_is_no_fault() -> None:
    """The finding says so."""
    finding = date_finding(DateFacts(datetime(1970, 1, 1, tzinfo=UTC), None, []))
    assert (Level.OK, True) == (finding.level, "nothing to compare" in finding.text)
