# SPDX-License-Identifier: Apache-2.0
"""The energy of a part of an integration, such as the counted runs of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from power.energy.verdict import Finding, suspect
from power.meter import Reading
from power.readings import EPOCH, Numbers, Readings

_COARSE = 0.1


def energy_between(readings: Sequence[Reading], begin: datetime, end: datetime) -> float | None:
    """Return the watt-hours that the integrator counted between two instants.

    Between two readings the energy grows evenly. Return None where the readings do not reach, and
    for an end that is not after the begin.
    """
    first, last = _energy_at(readings, begin), _energy_at(readings, end)
    if first is None or last is None or end <= begin:
        return None
    return last - first


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


def _energy_at(readings: Sequence[Reading], moment: datetime) -> float | None:
    known, energy_wh = _known(readings)
    at = _microseconds(moment)
    around = np.flatnonzero((known[:-1] <= at) & (at <= known[1:]))
    if not len(around):
        return None
    first = int(around[0])
    (before, after), (low_wh, high_wh) = (
        column[first : first + 2].tolist() for column in (known, energy_wh)
    )
    share = (at - before) / (after - before) if after > before else 0.0
    return float(low_wh + share * (high_wh - low_wh))


def _known(readings: Sequence[Reading]) -> tuple[NDArray[np.int64], Numbers]:
    """Return the wall clock in microseconds, and the energy, of the readings with an energy."""
    rows = Readings.of(readings).columns()
    rows = rows.where(~np.isnan(rows.numbers("energy_wh")))
    return rows.utc_us, rows.numbers("energy_wh")


def _microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)
