# SPDX-License-Identifier: Apache-2.0
"""Judge the energy in a log file, with the facts that are known about its run.

It may be a power log of the 2015 challenge: five columns, no header, no clock times.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from power.energy.conditions import UNKNOWN, AmbientConditions
from power.energy.duration import Duration, mean_power
from power.energy.judge import RunFacts, judge_run
from power.energy.moments import START_OFF_S, EnergyCourse, course_of
from power.energy.verdict import EnergyResult, Finding, suspect, with_findings
from power.logs.facts_file import load_course, load_facts
from power.logs.packed import opened_log
from power.logs.power_log import read_power_log
from power.meter import IntegrationState, MeterSettings, Reading
from power.readings import Readings

_INTERVALS_S = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

_NAMES = ("voltage_v", "current_a", "power_w", "energy_wh", "integration_s")
# A single float of 9.91E+37 decodes to a value slightly below 9.91e37, so the limit is lower.
_STAND_IN = 9.8e37
# Ten thousand hours: the meter's own timer.
_LONGEST_S = 3.6e7
# Five numbers are shorter; a file of another kind may be one line of gigabytes.
_LONGEST_FIRST_LINE = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Audit:
    """The verdict on a log, the facts behind it, and the source of these facts.

    `source` is `given`, `recorded` or `guessed`. The meter began at most `start_off_s` after the
    start from which the log counts.
    """

    result: EnergyResult
    facts: RunFacts
    source: str
    readings: Readings
    start_off_s: float = START_OFF_S

    @property
    def course(self) -> EnergyCourse | None:
        """Return the course of the energy, on the clock of the readings; None if there is none."""
        lasted = self.result.duration
        if lasted is None:
            return None
        return course_of(self.readings, self.facts.settings, self.start_off_s, lasted)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.readings)


def audit(
    path: Path, given: RunFacts | None = None, conditions: AmbientConditions = UNKNOWN
) -> Audit:
    """Return the verdict on a log; raise ValueError for a file that is not a log.

    The facts come from `given`, or else from the file beside the log, or else they are guessed from
    the rows. With guessed facts the verdict is SUSPECT at best, because ranges and settings are not
    known. `conditions` are answers that the facts lack or that replace theirs.
    """
    old = is_old_log(path)
    readings = read_old_log(path) if old else read_power_log(path)
    facts, source = given, "given"
    if facts is None:
        facts, source = load_facts(path), "recorded"
    if facts is None:
        facts, source = _guess(readings), "guessed"
    if facts.session_s is None:
        facts = replace(facts, session_s=_span_s(readings))
    known = facts.conditions
    facts = replace(
        facts,
        conditions=AmbientConditions(
            known.ambient_c if conditions.ambient_c is None else conditions.ambient_c,
            conditions.calibrated or known.calibrated,
        ),
    )
    result = judge_run(readings, facts)
    if source == "guessed":
        result = with_findings(_without_settings(result), [_NO_SETTINGS])
    if old:
        result = with_findings(result, _old_faults(readings))
        if source == "guessed" or result.integration_s != facts.settings.timer_s:
            result = _of_whole_seconds(result)
    course = load_course(path)
    begun_s = START_OFF_S if course is None else course.start_off_s
    return Audit(result, facts, source, readings, begun_s)


# These findings depend on the settings. Guessed settings cannot support them.
_NEEDS_SETTINGS = ("auto_range", "timer", "uncertain", "spec_1_percent")
_NO_SETTINGS = suspect(
    "no_settings",
    "The log does not tell model, ranges and settings. So clipping, auto-range and the uncertainty "
    "cannot be judged. Give them as options.",
)


def _without_settings(result: EnergyResult) -> EnergyResult:
    """Return the result without the findings that guessed settings cannot support."""
    kept = [finding for finding in result.findings if finding.code not in _NEEDS_SETTINGS]
    return replace(result, findings=tuple(kept))


def _of_whole_seconds(result: EnergyResult) -> EnergyResult:
    """Return the result of a log whose only clock is the meter's TIME, whole seconds cut off.

    Where the timer is known, and TIME is equal to it, that is exact.
    """
    if result.integration_s is None:
        return result
    lasted = Duration(result.integration_s, 1.0)
    mean_w, off_w = mean_power(result.energy_wh, lasted)
    return replace(
        result,
        duration_uncertainty_s=lasted.off_s,
        mean_power_w=mean_w,
        mean_power_uncertainty_w=off_w,
    )


def _old_faults(readings: Readings) -> list[Finding]:
    """Return findings about a log of 2015: what it cannot prove, and its missing seconds."""
    findings = [
        suspect(
            "no_clock",
            "The rows have neither a time nor the integrator's state. So nobody can check how long "
            "the integration lasted, and how it ended.",
        )
    ]
    counted_s = readings.columns().numbers("integration_s")
    seconds = np.unique(np.rint(counted_s[~np.isnan(counted_s)])).astype(np.int64).tolist()
    expected: set[int] = set(range(seconds[0], seconds[-1] + 1)) if seconds else set()
    missing = sorted(expected - set(seconds))
    if missing:
        listed = ", ".join(str(second) for second in missing[:20])
        findings.append(
            suspect(
                "lost_rows",
                f"{len(missing)} of {seconds[-1]} seconds have no row: {listed}"
                f"{' and more' if len(missing) > 20 else ''}.",
            )
        )
    blank = int(np.isnan(readings.columns().numbers("power_w")).sum())
    if blank:
        findings.append(
            suspect(
                "stand_in",
                f"{blank} of {len(readings)} rows hold 9.91e+37, which means no data. Taken "
                "for watts it would ruin any mean.",
            )
        )
    return findings


def _guess(readings: Readings) -> RunFacts:
    """Return facts guessed from the rows: their interval, and the last time as the timer."""
    rows = readings.columns()
    running = rows.where(rows.having(lambda kind: kind.state is IntegrationState.START))
    steps_s = np.diff(running.numbers("monotonic_s"))
    steps_s = steps_s[steps_s > 0]
    typical_s = float(np.median(steps_s)) if len(steps_s) else 1.0
    interval_s = min(_INTERVALS_S, key=lambda choice: abs(choice - typical_s))
    timer_s = round(readings[-1].integration_s or 0) if readings else 0
    return RunFacts(None, MeterSettings(timer_s=timer_s, update_interval_s=interval_s))


def _span_s(readings: Readings) -> float:
    """Return how long the integration ran by the log's own clock."""
    if not readings:
        return 0.0
    rows = readings.columns()
    ended = rows.where(rows.having(lambda kind: kind.state is not IntegrationState.START))
    return (ended.reading(0) if len(ended) else readings[-1]).monotonic_s


def is_old_log(path: Path) -> bool:
    """Tell whether a file's first line is five numbers."""
    with opened_log(path, errors="replace") as file:
        fields = file.readline(_LONGEST_FIRST_LINE).split(",")
    try:
        return len(fields) == 5 and all(math.isfinite(float(field)) for field in fields)
    except ValueError:
        return False


def read_old_log(path: Path) -> Readings:
    """Return the rows as readings: voltage, current, power, energy, integration time.

    These logs have no clock and no state; both are derived from the integration time. A repeated
    time counts as one second more. Rows with the time of the last row are after the end; in all
    earlier rows the integration runs. A value of 9.91e+037 is absent. Raises ValueError
    with file and line for a row of something else.
    """
    last_s = None
    for row in _rows(path):
        last_s = row[4]
    readings = Readings()
    before_s, repeats = None, 0
    for row in _rows(path):
        later = len(readings) > 0
        repeats = repeats + 1 if later and row[4] == before_s else 0
        at_end = later and row[4] == last_s
        readings.append(_reading(row, (row[4] or 0.0) + repeats, at_end=at_end))
        before_s = row[4]
    return readings


def _rows(path: Path) -> Iterator[list[float | None]]:
    """Yield the values of each row."""
    with opened_log(path) as file:
        try:
            rows = (row for row in csv.reader(file) if row)
            yield from (_values(path, number, row) for number, row in enumerate(rows, start=1))
        except csv.Error as error:
            raise ValueError(f"{path}: {error}") from None


def _values(path: Path, number: int, row: list[str]) -> list[float | None]:
    try:
        numbers = [float(field) for field in row]
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from None
    if len(numbers) != len(_NAMES):
        raise ValueError(f"{path}, line {number}: {len(numbers)} fields instead of {len(_NAMES)}")
    values = [value if abs(value) < _STAND_IN else None for value in numbers]
    if not 0 <= (values[4] or 0.0) < _LONGEST_S:
        raise ValueError(f"{path}, line {number}: {row[4]} is no time of a run")
    return values


def _reading(row: list[float | None], at_s: float, *, at_end: bool) -> Reading:
    voltage, current, power, energy, integration = row
    return Reading(
        monotonic_s=at_s,
        utc=_EPOCH + timedelta(seconds=at_s),
        voltage_v=voltage,
        current_a=current,
        power_w=power,
        energy_wh=energy,
        integration_s=integration,
        state=IntegrationState.STOP if at_end else IntegrationState.START,
        absent={name: "no data" for name, value in zip(_NAMES, row, strict=True) if value is None},
    )
