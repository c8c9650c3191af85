# SPDX-License-Identifier: Apache-2.0
"""Seconds between two instants: monotonic within a boot, wall time across boots."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from referee.core.instant import Instant, seconds_between

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)


def test_one_boot_uses_the_monotonic_clock():
    """A wall clock that is set back does not change a duration within one boot."""
    first = Instant(10.0, NOON, "a")
    second = Instant(12.5, NOON - timedelta(hours=1), "a")
    assert 2.5 == seconds_between(first, second)
    assert -2.5 == seconds_between(second, first)


def test_another_boot_uses_wall_time():
    """Across boots wall time counts, since each boot begins the monotonic clock anew."""
    first = Instant(90000.0, NOON, "a")
    second = Instant(7.0, NOON + timedelta(seconds=30), "b")
    assert 30.0 == seconds_between(first, second)
    assert -30.0 == seconds_between(second, first)


def test_time_zones_do_not_matter():
    """Aware wall times in different zones are compared as moments."""
    tokyo = timezone(timedelta(hours=9))
    first = Instant(1.0, NOON, "a")
    second = Instant(1.0, NOON.astimezone(tokyo), "b")
    assert 0.0 == seconds_between(first, second)
