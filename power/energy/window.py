# SPDX-License-Identifier: Apache-2.0
"""The energy of a part of an integration, such as the counted runs of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from power.energy.moments import EnergyCourse
from power.energy.verdict import Finding, suspect
from power.meter import Reading
from power.readings import EPOCH, Numbers, Readings

_COARSE = 0.1


def energy_between(
    readings: Sequence[Reading],
    begin: datetime,
    end: datetime,
    course: EnergyCourse | None = None,
) -> float | None:
    """Return the watt-hours that the integrator counted between two instants.

    The energy at an instant is that of the `course`, which knows the moments of the updates.
    Without one it grows evenly between two readings. Return None where the readings do not reach,
    and for an end that is not after the begin.
    """
    first, last = _energy_at(readings, begin, course), _energy_at(readings, end, course)
    if first is None or last is None or end <= begin:
        return None
    return last - first


def edges_wh(
    readings: Sequence[Reading], begin: datetime, end: datetime, course: EnergyCourse
) -> float:
    """Return the limit of what time gives to the wrong side of both ends of a window."""
    ends = [course.until(_elapsed_s(readings, moment)) for moment in (begin, end)]
    off_s = [one.off_s + course.start_off_s for one in ends]
    return sum(
        one.within_wh + late_s * max(abs(one.low_w), abs(one.high_w)) / 3600
        for one, late_s in zip(ends, off_s, strict=True)
    )


def coarse_finding(readings: Sequence[Reading], begin: datetime, end: datetime) -> Finding | None:
    """Return a finding if a gap between readings is longer than a tenth of the window.

    What the device took inside such a gap, before or after the window, is counted by its share of
    time alone.
    """
    known, _ = _known(readings)
    inside = (known[:-1] < _microseconds(end)) & (known[1:] > _microseconds(begin))
    longest_s = float(np.diff(known)[inside].max(initial=0)) / 1e6
    window_s = (end - begin).total_seconds()
    if longest_s <= _COARSE * window_s:
        return None
    return suspect(
        "coarse_window",
        f"The readings are up to {longest_s:.1f} s apart, and the runs took {window_s:.1f} s. So"
        " the edges of the runs are not sharp: measure more runs, or read the meter more often.",
    )


def _energy_at(
    readings: Sequence[Reading], moment: datetime, course: EnergyCourse | None
) -> float | None:
    known, energy_wh = _known(readings)
    at = _microseconds(moment)
    around = np.flatnonzero((known[:-1] <= at) & (at <= known[1:]))
    if not len(around):
        return None
    if course is not None:
        return course.until(_elapsed_s(readings, moment)).energy_wh
    first = int(around[0])
    (before, after), (low_wh, high_wh) = (
        column[first : first + 2].tolist() for column in (known, energy_wh)
    )
    share = (at - before) / (after - before) if after > before else 0.0
    return float(low_wh + share * (high_wh - low_wh))


def _elapsed_s(readings: Sequence[Reading], moment: datetime) -> float:
    """Return an instant on the clock of the readings, which nobody sets."""
    rows = Readings.of(readings).columns()
    at_us = np.maximum.accumulate(rows.utc_us).astype(np.float64)
    return float(np.interp(_microseconds(moment), at_us, rows.numbers("monotonic_s")))


def _known(readings: Sequence[Reading]) -> tuple[NDArray[np.int64], Numbers]:
    """Return the wall clock in microseconds, and the energy, of the readings with an energy."""
    rows = Readings.of(readings).columns()
    rows = rows.where(~np.isnan(rows.numbers("energy_wh")))
    return rows.utc_us, rows.numbers("energy_wh")


def _microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)
