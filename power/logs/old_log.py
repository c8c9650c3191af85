# SPDX-License-Identifier: Apache-2.0
"""Read the power logs of the 2015 challenge: five columns, no header, no clock times."""

from __future__ import annotations

import csv
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

from power.meter import IntegrationState, Reading

_NAMES = ("voltage_v", "current_a", "power_w", "energy_wh", "integration_s")
# A single float of 9.91E+37 decodes to a value slightly below 9.91e37, so the limit is lower.
_STAND_IN = 9.8e37
# Ten thousand hours: the meter's own timer.
_LONGEST_S = 3.6e7
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_old_log(path: Path) -> bool:
    """Tell whether a file's first line is five numbers."""
    with open(path, encoding="utf-8") as file:
        fields = file.readline().split(",")
    try:
        return len(fields) == 5 and all(math.isfinite(float(field)) for field in fields)
    except ValueError:
        return False


def read_old_log(path: Path) -> list[Reading]:
    """Return the rows as readings: voltage, current, power, energy, integration time.

    These logs have no clock and no state; both are derived from the integration time. A repeated
    time counts as one second more. Rows with the time of the last row are after the end; in all
    earlier rows the integration runs. A value of 9.91e+037 is absent. Raises ValueError
    with file and line for a row of something else.
    """
    with open(path, newline="", encoding="utf-8") as file:
        try:
            rows = [row for row in csv.reader(file) if row]
        except csv.Error as error:
            raise ValueError(f"{path}: {error}") from None
    values = [_values(path, number, row) for number, row in enumerate(rows, start=1)]
    last_s = values[-1][4] if values else None
    readings: list[Reading] = []
    repeats = 0
    for index, row in enumerate(values):
        repeats = repeats + 1 if index and row[4] == values[index - 1][4] else 0
        at_end = index > 0 and row[4] == last_s
        readings.append(_reading(row, (row[4] or 0.0) + repeats, at_end=at_end))
    return readings


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
