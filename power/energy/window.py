# SPDX-License-Identifier: Apache-2.0
"""The energy of a part of an integration, such as the counted runs of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from power.energy.verdict import Finding, suspect
from power.meter import Reading

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
    known = [it.utc for it in readings if it.energy_wh is not None]
    gaps = [
        (after - before).total_seconds()
        for before, after in pairwise(known)
        if before < end and after > begin
    ]
    window_s = (end - begin).total_seconds()
    if max(gaps, default=0.0) <= _COARSE * window_s:
        return None
    return suspect(
        "coarse_window",
        f"The readings are up to {max(gaps):.1f} s apart, and the runs took {window_s:.1f} s. So"
        " the edges of the runs are not sharp: measure more runs, or read the meter more often.",
    )


def _energy_at(readings: Sequence[Reading], moment: datetime) -> float | None:
    known = [(it.utc, it.energy_wh) for it in readings if it.energy_wh is not None]
    for (before, low_wh), (after, high_wh) in pairwise(known):
        if before <= moment <= after:
            share = (moment - before) / (after - before) if after > before else 0.0
            return low_wh + share * (high_wh - low_wh)
    return None
