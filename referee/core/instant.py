# SPDX-License-Identifier: Apache-2.0
"""Moments as the referee stores them: the monotonic clock rules, wall time labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Instant:
    """A moment, marked so that any process of this machine, and a later boot, can place it.

    `monotonic_s` is `time.monotonic()`, which every process shares while `boot_id` is the same.
    `utc` is an aware datetime in UTC; it labels, and it measures only across a reboot.
    """

    monotonic_s: float
    utc: datetime
    boot_id: str


def seconds_between(earlier: Instant, later: Instant) -> float:
    """Return the seconds from one instant to another, negative when they are swapped.

    Within one boot this is the monotonic difference, which no clock adjustment can move. Across
    a reboot only wall time is left; the result is then as good as the machine's wall clock.
    """
    if earlier.boot_id == later.boot_id:
        return later.monotonic_s - earlier.monotonic_s
    return (later.utc - earlier.utc).total_seconds()


def shifted(instant: Instant, seconds: float) -> Instant:
    """Return the instant that lies this many seconds later (earlier when negative)."""
    return Instant(
        instant.monotonic_s + seconds, instant.utc + timedelta(seconds=seconds), instant.boot_id
    )
