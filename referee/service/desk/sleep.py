# SPDX-License-Identifier: Apache-2.0
"""How long the laptop slept since a lane's session began."""

from __future__ import annotations

from referee.service.setup.clock import Clock


class SleepCount:
    """The laptop's sleep since `begin`, or since this object was made.

    A desk that takes over a running session counts from then on. What the laptop slept before shows
    as a gap in the readings.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._before_s = clock.asleep_s()

    def begin(self) -> None:
        """Count from now on."""
        self._before_s = self._clock.asleep_s()

    def seconds(self) -> float:
        """Return the seconds of sleep so far."""
        return max(0.0, self._clock.asleep_s() - self._before_s)
