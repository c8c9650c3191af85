# SPDX-License-Identifier: Apache-2.0
"""The phases of a run between marks: the energy and the mean power of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from power.energy.measured_run import Run
from power.energy.uncertainty import Measuring, energy_limit
from power.meter import Reading
from power.readings import Columns

# A reading shows an update that ended up to an update before, and a mark falls within one.
_EDGE_UPDATES = 1.5


@dataclass(frozen=True)
class Mark:
    """A moment to which somebody gave a name: what begins then."""

    at_s: float
    text: str


@dataclass(frozen=True)
class Phase:
    """A part of a run, from one mark to the next.

    `text` is that of the mark, None before the first one. `begin_s` counts from the start of the
    run. The limit of the energy's error is None where a range is not known.
    """

    text: str | None
    begin_s: float
    seconds: float
    energy_wh: float
    uncertainty_wh: float | None
    mean_power_w: float


def phases_of(
    readings: Sequence[Reading],
    marks: Sequence[Mark],
    measuring: Measuring,
    session_s: float | None,
    start_s: float = 0.0,
) -> tuple[Phase, ...]:
    """Return the phases of a run that began at `start_s`, and lasted `session_s`.

    There are none without marks, and none of a run whose length or energy is not known. Marks are
    in order of time, on the clock of the readings. Between two readings the energy grows evenly. So
    where the power changes at a mark, the energy of an update may go to the wrong side: the
    difference of the powers around the mark, times one and a half updates, is in the limit.
    """
    run = Run.of(readings, measuring.settings)
    if run is None or not marks:
        return ()
    rows = run.running.where(~np.isnan(run.running.numbers("energy_wh")))
    final = run.final
    if not len(rows) or final.energy_wh is None or not session_s:
        return ()
    end_s = start_s + session_s
    at_s = np.clip(rows.numbers("monotonic_s"), start_s, end_s)
    times_s = np.concatenate(([start_s], at_s, [end_s]))
    counted_wh = np.concatenate(([0.0], rows.numbers("energy_wh"), [final.energy_wh]))
    inside = [mark for mark in marks if start_s <= mark.at_s < end_s]
    edges = [Mark(start_s, ""), *inside, Mark(end_s, "")]
    known_wh = np.interp([edge.at_s for edge in edges], times_s, counted_wh).tolist()
    limits_wh = [
        _edge_wh(rows, edge.at_s, measuring.settings.update_interval_s) if edge in inside else 0.0
        for edge in edges
    ]
    phases = []
    for number, (begin, end) in enumerate(zip(edges, edges[1:], strict=False)):
        seconds = end.at_s - begin.at_s
        if seconds <= 0:
            continue
        energy_wh = known_wh[number + 1] - known_wh[number]
        at_s = rows.numbers("monotonic_s")
        # The first reading at or after the end still shows an update of the phase.
        last_s = float(at_s[min(int(np.searchsorted(at_s, end.at_s)), len(at_s) - 1)])
        part = rows.where((at_s > begin.at_s) & (at_s <= last_s))
        limit = energy_limit(part, energy_wh, seconds, measuring)
        phases.append(
            Phase(
                text=begin.text if number else None,
                begin_s=begin.at_s - start_s,
                seconds=seconds,
                energy_wh=energy_wh,
                uncertainty_wh=(
                    None
                    if limit is None
                    else limit.total_wh + limits_wh[number] + limits_wh[number + 1]
                ),
                mean_power_w=3600 * energy_wh / seconds,
            )
        )
    return tuple(phases)


def phases_to_json(phases: Sequence[Phase]) -> list[dict[str, Any]]:
    """Return phases as JSON values."""
    return [asdict(phase) for phase in phases]


def _edge_wh(rows: Columns, at_s: float, interval_s: float) -> float:
    """Return the limit of what an edge may give to the wrong side."""
    far_s = _EDGE_UPDATES * interval_s
    times_s, powers_w = rows.numbers("monotonic_s"), rows.numbers("power_w")
    near_w = powers_w[(times_s >= at_s - far_s) & (times_s <= at_s + 2 * far_s)]
    near_w = near_w[~np.isnan(near_w)]
    return float(np.ptp(near_w)) * far_s / 3600 if len(near_w) else 0.0
