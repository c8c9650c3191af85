# SPDX-License-Identifier: Apache-2.0
"""The phases of a run between marks: the energy and the mean power of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from power.energy.duration import Duration, carried
from power.energy.measured_run import ENDED, Run
from power.energy.moments import START_OFF_S, EnergyCourse, Until, energy_course
from power.energy.uncertainty import Measuring, energy_limit
from power.energy.verdict import EnergyResult
from power.meter import Reading
from power.readings import Columns


@dataclass(frozen=True)
class Mark:
    """A moment to which somebody gave a name: what begins then."""

    at_s: float
    text: str


@dataclass(frozen=True)
class RunPhase:
    """A part of a run, from one mark to the next.

    `text` is that of the mark, None before the first one. `begin_s` counts from the start of the
    run. `uncertainty_wh` is the limit of the energy's error, None where a range is not known.
    `time_wh` is the part of it that is due to time: to moments that are not sure, and to the course
    of the power within an update. `mean_power_w` has the digits that this part and the length
    leave, `mean_power_uncertainty_w`.
    """

    text: str | None
    begin_s: float
    seconds: float
    energy_wh: float
    uncertainty_wh: float | None
    time_wh: float
    mean_power_w: float
    mean_power_uncertainty_w: float


@dataclass(frozen=True)
class _Edge:
    """A phase begins or ends here: what it is called, when it is, and the energy until then.

    The run's own ends may be off by `off_s`; marks are made by our clock.
    """

    at_s: float
    text: str | None
    until: Until
    off_s: float = 0.0


def phases_of(
    readings: Sequence[Reading],
    marks: Sequence[Mark],
    measuring: Measuring,
    session_s: float | None,
    start_s: float = 0.0,
    *,
    start_off_s: float = START_OFF_S,
    duration: Duration | None = None,
) -> tuple[RunPhase, ...]:
    """Return the phases of a run that began at `start_s`, and lasted `session_s`.

    There are none without marks, and none of a run whose length, end or energy is not known. Marks
    are in order of time, on the clock of the readings. The meter began at most `start_off_s` after
    `start_s`, and integrated for `duration`; without it for `session_s`. `power.energy.moments`
    says how the energy until a mark is known.
    """
    run = Run.of(readings, measuring.settings)
    if run is None or not marks or not session_s or run.final.state not in ENDED:
        return ()
    if run.sampled:
        start_off_s = 0.0  # A program that integrates began at its own moment.
    lasted = Duration(session_s) if duration is None else duration
    ends_s = (start_s + lasted.low_s, start_s + start_off_s + lasted.high_s)
    course = energy_course(run, (start_s, start_s + start_off_s), ends_s)
    if course is None:
        return ()
    end_s = start_s + lasted.seconds
    inside = [mark for mark in marks if start_s <= mark.at_s < end_s]
    edges = [
        _Edge(start_s, None, course.until(float(course.at_s[0])), start_off_s),
        *(_Edge(mark.at_s, mark.text, course.until(mark.at_s)) for mark in inside),
        _Edge(end_s, None, course.until(float(course.at_s[-1])), lasted.off_s),
    ]
    return tuple(
        _phase(begin, end, run.running, course, measuring, start_s)
        for begin, end in pairwise(edges)
        if end.at_s > begin.at_s
    )


def judged_phases(
    result: EnergyResult,
    readings: Sequence[Reading],
    marks: Sequence[Mark],
    measuring: Measuring,
    start_s: float = 0.0,
    *,
    start_off_s: float = START_OFF_S,
) -> tuple[RunPhase, ...]:
    """Return the phases of a judged run; one that has no energy has no phases.

    The other arguments are those of `phases_of`.
    """
    if result.energy_wh is None:
        return ()
    return phases_of(
        readings,
        marks,
        measuring,
        result.session_s,
        start_s,
        start_off_s=start_off_s,
        duration=result.duration,
    )


def phases_to_json(phases: Sequence[RunPhase]) -> list[dict[str, object]]:
    """Return phases as JSON values."""
    return [asdict(phase) for phase in phases]


def _phase(
    begin: _Edge,
    end: _Edge,
    rows: Columns,
    course: EnergyCourse,
    measuring: Measuring,
    start_s: float,
) -> RunPhase:
    """Return what lies between two edges."""
    seconds = end.at_s - begin.at_s
    energy_wh = end.until.energy_wh - begin.until.energy_wh
    time_wh = _time_wh(begin.until, end.until, course.start_off_s)
    limit = energy_limit(_part(rows, begin.at_s, end.at_s), energy_wh, seconds, measuring)
    mean_w = 3600 * energy_wh / seconds
    off_w = (3600 * time_wh + abs(mean_w) * (begin.off_s + end.off_s)) / seconds
    return RunPhase(
        text=begin.text,
        begin_s=begin.at_s - start_s,
        seconds=seconds,
        energy_wh=energy_wh,
        uncertainty_wh=None if limit is None else limit.total_wh + time_wh,
        time_wh=time_wh,
        mean_power_w=carried(mean_w, off_w),
        mean_power_uncertainty_w=off_w,
    )


def _time_wh(begin: Until, end: Until, start_off_s: float) -> float:
    """Return the limit of what time gives to the wrong side of two edges.

    The start is the same for both, so there only the difference of the powers counts.
    """
    together_w = max(end.high_w - begin.low_w, begin.high_w - end.low_w, 0.0)
    alone_ws = sum(one.off_s * max(abs(one.low_w), abs(one.high_w)) for one in (begin, end))
    return begin.within_wh + end.within_wh + (start_off_s * together_w + alone_ws) / 3600


def _part(rows: Columns, begin_s: float, end_s: float) -> Columns:
    """Return the readings of a phase; the first one after its end shows an update of it."""
    at_s = rows.numbers("monotonic_s")
    if not len(at_s):
        return rows
    last = min(int(np.searchsorted(at_s, end_s)), len(at_s) - 1)
    places = np.arange(len(at_s))
    first = min(int(np.searchsorted(at_s, begin_s, side="right")), last)
    return rows.where((places >= first) & (places <= last))
