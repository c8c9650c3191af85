# SPDX-License-Identifier: Apache-2.0
"""Jumps of the wall clock, and sleep of the machine, between two samples of its clocks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

JUMP_S = 0.5
"""How far the wall clock may move against the monotonic one between two samples.

NTP slews by 0.5 ms a second at most (adjtimex(2)), so in a second a slew is far below.
"""


@dataclass(frozen=True)
class ClockSample:
    """The clocks at one moment; `boot_s` goes on while the machine sleeps, `monotonic_s` does not.

    `boot_s` is None on systems without such a clock.
    """

    monotonic_s: float
    utc: datetime
    boot_s: float | None = None


@dataclass(frozen=True)
class Jump:
    """A step of the wall clock by `stepped_s`, or a sleep of `slept_s` seconds, seen at `utc`."""

    utc: datetime
    stepped_s: float
    slept_s: float

    def __str__(self) -> str:
        at = self.utc.astimezone().strftime("%H:%M:%S")
        if self.slept_s > JUMP_S:
            return f"the laptop slept {self.slept_s:.0f} s before {at}"
        return f"the clock jumped by {self.stepped_s:+.1f} s at {at}"


def jump_between(earlier: ClockSample, later: ClockSample) -> Jump | None:
    """Return what happened to the clocks between two samples of one boot, or None if nothing.

    A sleep moves the wall clock too, so it is taken out of the step.
    """
    passed_s = later.monotonic_s - earlier.monotonic_s
    slept_s = 0.0
    if earlier.boot_s is not None and later.boot_s is not None:
        slept_s = max(0.0, later.boot_s - earlier.boot_s - passed_s)
    stepped_s = (later.utc - earlier.utc).total_seconds() - passed_s - slept_s
    if abs(stepped_s) <= JUMP_S and slept_s <= JUMP_S:
        return None
    return Jump(later.utc, stepped_s, slept_s)
