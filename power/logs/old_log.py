# SPDX-License-Identifier: Apache-2.0
"""Read the power logs of the 2015 challenge: five columns, no header, no clock times."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from power.logs.packed import opened_log
from power.meter import IntegrationState, Reading
from power.readings import Readings

_NAMES = ("voltage_v", "current_a", "power_w", "energy_wh", "integration_s")
# A single float of 9.91E+37 decodes to a value slightly below 9.91e37, so the limit is lower.
_STAND_IN = 9.8e37
# Ten thousand hours: the meter's own timer.
_LONGEST_S = 3.6e7
# Five numbers are shorter; a file of another kind may be one line of gigabytes.
_LONGEST_FIRST_LINE = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
