# SPDX-License-Identifier: Apache-2.0
"""The power log: one CSV row for each reading, written as it comes, and read back."""

from __future__ import annotations

import csv
import math
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from power.meter import IntegrationState, Reading

COLUMNS = (
    "elapsed_s",
    "utc",
    "voltage_v",
    "current_a",
    "power_w",
    "energy_wh",
    "integration_s",
    "state",
)
_NUMBERS = COLUMNS[2:7]


def row_of(reading: Reading, start_s: float) -> list[str]:
    """Return a reading as the log's fields; a value that the meter did not have is empty."""
    return [
        f"{reading.monotonic_s - start_s:.4f}",
        reading.utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        *("" if (value := getattr(reading, name)) is None else repr(value) for name in _NUMBERS),
        reading.state.value,
    ]


class PowerLog:
    """Write readings to a new CSV file; each row is in the file before `add` returns.

    A killed process loses nothing and leaves at most the row that it was writing incomplete. The
    times are counted from `start_s`, which `begin` may set later.
    """

    def __init__(self, path: Path, start_s: float = 0.0) -> None:
        self._file = open(path, "x", newline="", encoding="utf-8", buffering=1)
        self._start_s = start_s
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(COLUMNS)

    def __enter__(self) -> PowerLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def begin(self, start_s: float) -> None:
        """Count the times of the rows to come from this monotonic instant."""
        self._start_s = start_s

    def add(self, reading: Reading) -> None:
        """Append one reading."""
        self._writer.writerow(row_of(reading, self._start_s))
        self._file.flush()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()


def read_power_log(path: Path) -> list[Reading]:
    """Return the readings of a power log; their `monotonic_s` is the log's `elapsed_s`.

    Raises ValueError naming file and line for anything that is no row of it, except a last line
    without its line feed, which a killed writer leaves behind.
    """
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    if lines[-1]:
        lines.pop()
    rows = [(number, row) for number, row in enumerate(csv.reader(lines), start=1) if row]
    if not rows or tuple(rows[0][1]) != COLUMNS:
        raise ValueError(f"{path}: the first line must be {','.join(COLUMNS)}")
    return [_reading(path, number, row) for number, row in rows[1:]]


def _reading(path: Path, number: int, row: list[str]) -> Reading:
    try:
        if len(row) != len(COLUMNS):
            raise ValueError(f"{len(row)} fields instead of {len(COLUMNS)}")
        voltage, current, power, energy, integration = (_number(text) for text in row[2:7])
        return Reading(
            monotonic_s=float(row[0]),
            utc=datetime.fromisoformat(row[1]),
            voltage_v=voltage,
            current_a=current,
            power_w=power,
            energy_wh=energy,
            integration_s=integration,
            state=IntegrationState(row[7]),
            absent={
                name: "no data" for name, text in zip(_NUMBERS, row[2:7], strict=True) if not text
            },
        )
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from None


def _number(text: str) -> float | None:
    if not text:
        return None
    value = float(text)
    if not math.isfinite(value) or abs(value) >= 9.8e37:
        raise ValueError(f"{text} is no measured value")
    return value
