# SPDX-License-Identifier: Apache-2.0
"""Find a device that works while the meter sees nothing of it: a battery, or a second cable."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from power.energy.course_checks import GAP_UPDATES
from power.energy.measured_run import Run, noise_floor_w
from power.energy.verdict import Finding, invalid
from power.meter import Identity, MeterSettings, Reading

IDLE_LEAST_S = 5.0
"""A device that draws nothing for so long, and works meanwhile, is not measured."""
IDLE_LEAST_UPDATES = 5
"""The time must have so many readings, where the updates are slow."""
WORK_LEAST = 2
"""So many pieces of work must arrive in that time: one may have been on its way before."""


@dataclass(frozen=True)
class Idle:
    """A time in which a device drew at most `floor_w`, the meter's error at zero."""

    from_s: float
    to_s: float
    floor_w: float

    @property
    def seconds(self) -> float:
        """Return its length."""
        return self.to_s - self.from_s

    def finding(self) -> Finding:
        """Return the finding about a run whose device was at work meanwhile."""
        return invalid(
            "no_load_at_work",
            f"The device drew nothing for {self.seconds:.1f} s, from second {self.from_s:.1f} on, "
            f"that is at most {self.floor_w:.2g} W, while its requests arrived. It ran from a "
            "battery or a second cable, or a fuse of the meter is blown.",
        )


def idle_times(
    readings: Sequence[Reading], settings: MeterSettings, identity: Identity | None
) -> tuple[Idle, ...]:
    """Return each time in which the device drew nothing for long enough, in order of time."""
    run = Run.of(readings, settings)
    if run is None:
        return ()
    least_s = max(IDLE_LEAST_S, IDLE_LEAST_UPDATES * settings.update_interval_s)
    floor_w = noise_floor_w(run, identity)
    return tuple(
        Idle(from_s, to_s, floor_w)
        for from_s, to_s in _idle_times(run, floor_w)
        if to_s - from_s >= least_s
    )


def is_at_work(idle: Idle, work_s: Sequence[float], update_s: float) -> bool:
    """Tell whether work of the device arrived in a time in which it drew nothing.

    `work_s`, when pieces of work arrived, is in order and has the clock of the readings. A reading
    is as old as two updates of `update_s` at most. So work just after the begin of the time, and
    just before its end, does not count.
    """
    first = bisect_right(work_s, idle.from_s + update_s)
    last = bisect_left(work_s, idle.to_s - 2 * update_s)
    return last - first >= WORK_LEAST


def _idle_times(run: Run, floor_w: float) -> Iterator[tuple[float, float]]:
    """Yield when readings in a row begin and end to show no load; a gap ends the row."""
    begin_s = end_s = None
    gap_s = GAP_UPDATES * run.settings.update_interval_s
    for at_s, power_w in run.running.rows("monotonic_s", "power_w"):
        idle = abs(power_w) <= floor_w
        if begin_s is not None and end_s is not None:
            if idle and at_s - end_s <= gap_s:
                end_s = at_s
                continue
            yield begin_s, end_s
        begin_s = end_s = at_s if idle else None
    if begin_s is not None and end_s is not None:
        yield begin_s, end_s
