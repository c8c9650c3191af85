# SPDX-License-Identifier: Apache-2.0
"""Moments as the referee stores them: monotonic time measures, wall time labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Instant:
    """A moment that any process of this machine can place in time, also after a reboot.

    `monotonic_s` is `time.monotonic()`; all processes of one boot share it. `boot_id` names the
    boot. `utc` is an aware datetime in UTC. It is a label; durations use it only across a reboot.
    """

    monotonic_s: float
    utc: datetime
    boot_id: str


def seconds_between(earlier: Instant, later: Instant) -> float:
    """Return the seconds from `earlier` to `later`, negative when they are swapped.

    Within one boot the monotonic clock gives the result, so no clock adjustment can change it.
    Across a reboot only wall time is left: the result is then as good as the wall clock.
    """
    if earlier.boot_id == later.boot_id:
        return later.monotonic_s - earlier.monotonic_s
    return (later.utc - earlier.utc).total_seconds()


def shifted(instant: Instant, seconds: float) -> Instant:
    """Return the instant `seconds` later, or earlier when `seconds` is negative."""
    return Instant(
        instant.monotonic_s + seconds, instant.utc + timedelta(seconds=seconds), instant.boot_id
    )
