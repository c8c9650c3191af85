# SPDX-License-Identifier: Apache-2.0
"""The phase of a meter's updates: find it, and let a follower read shortly after each update."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from power.errors import MeterError
from power.follow import Follower, Schedule
from power.meter import Meter

_log = logging.getLogger(__name__)

# A reading comes this share of an interval after its update, or later on a busy machine.
_BEHIND = 0.2
# The phase of the updates is looked for again after this time. The meter's clock and ours drift
# apart by up to some 100 ppm: 6 ms in a minute. The shortest interval leaves 20 ms.
_REALIGN_S = 60.0
# If the error of a phase exceeds this share of an interval, the phase is looked for again.
_SHARP = 0.1
_FIRST_LOOKS = 5
_AGAIN_S = 1.0


@runtime_checkable
class ShowsUpdates(Protocol):
    """A meter that can tell when its values are updated."""

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the monotonic time of the next update, and the largest error of that time."""
        ...


def readings_after(update_s: float, interval_s: float) -> Schedule:
    """Return the instants shortly after the updates of which one is at `update_s`."""
    return Schedule(update_s + _BEHIND * interval_s, interval_s)


class UpdatePhase:
    """The phase of one meter's updates; a meter that cannot tell them keeps its schedule."""

    def __init__(self, meter: Meter, clock: Callable[[], float]) -> None:
        self._meter = meter
        self._clock = clock
        self._look_s = -math.inf

    def first_looks(self, follower: Follower, asked: Callable[[], bool]) -> None:
        """Look for the updates' phase a few times at most, until its error is small."""
        for _ in range(_FIRST_LOOKS):
            self._look_s = self._align(follower)
            if self._look_s > self._clock() + _AGAIN_S or asked():
                break

    def look_again(self, follower: Follower) -> None:
        """Look for the phase again if that is due and the meter answers."""
        if self._clock() >= self._look_s and follower.attached:
            self._look_s = self._align(follower)

    def _align(self, follower: Follower) -> float:
        """Align readings with the updates; return when to look for the updates' phase again.

        The search begins after a reading and ends with the next update, so no update is missed. If
        a busy machine made the result inexact, it is not used, and the search is repeated soon.
        """
        interval_s = follower.schedule.interval_s
        if not isinstance(self._meter, ShowsUpdates):
            return math.inf
        try:
            update_s, off_s = self._meter.await_update(interval_s)
        except MeterError as error:
            _log.warning("the phase of the updates was not found: %s", error)
            return self._clock() + _REALIGN_S
        if off_s > _SHARP * interval_s:
            return self._clock() + _AGAIN_S
        follower.keep_to(readings_after(update_s, interval_s))
        return self._clock() + _REALIGN_S
