# SPDX-License-Identifier: Apache-2.0
"""The power log: a CSV file with one row for each reading, written at once; and its reader."""

from __future__ import annotations

import csv
import io
import logging
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from power.append_file import AppendFile, claim
from power.meter import IntegrationState, Reading

_log = logging.getLogger(__name__)

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
    """Return a reading as the log's fields; a missing value is an empty field."""
    return [
        f"{reading.monotonic_s - start_s:.4f}",
        reading.utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        *("" if (value := getattr(reading, name)) is None else repr(value) for name in _NUMBERS),
        reading.state.value,
    ]


class PowerLog:
    """A new CSV file of readings; each row is in the file before `add` returns, if there is room.

    A killed process loses no finished row and leaves at most one incomplete row at the end. While
    the disk is full, rows wait in memory; they are written first when there is room again. Times
    count from `start_s`, which `begin` may set later.
    """

    def __init__(self, path: Path, start_s: float = 0.0, *, resume: bool = False) -> None:
        """Make the log, or with `resume` go on with the log of a program that was killed.

        Raises OSError if the file cannot be made, or if a living program still writes it.
        """
        self._path = path
        if resume:
            _mend(path)
        self._file = AppendFile(path, new=not resume)
        self._start_s = start_s
        if not self._file.append(b"" if resume else _line(COLUMNS)) or not self._file.sync():
            reason = self._file.trouble
            self._file.close()
            if not resume:
                path.unlink(missing_ok=True)
            raise OSError(f"{path} cannot be written ({reason}); free some space on the disk")
        self._file.claim()

    def __enter__(self) -> PowerLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def waiting(self) -> str:
        """Return the rows that are not in the file yet; the first may lack its beginning."""
        return self._file.waiting.decode()

    def begin(self, start_s: float) -> None:
        """Count the times of all later rows from this monotonic instant."""
        self._start_s = start_s

    def add(self, reading: Reading) -> None:
        """Append one reading; a full disk gives a logged warning, never an error."""
        was = self._file.trouble
        self._file.append(_line(row_of(reading, self._start_s)))
        self._tell(was)

    def flush(self) -> bool:
        """Try to write the waiting rows; return whether all rows are in the file now."""
        was = self._file.trouble
        written = self._file.flush()
        self._tell(was)
        return written

    def sync(self) -> bool:
        """Wait until all rows are on the disk, so they survive a power cut; return whether."""
        return self._file.sync()

    def close(self) -> None:
        """Close the file; never raises, and may be called twice."""
        self._file.close()

    def _tell(self, was: str) -> None:
        """Log once when rows begin to wait, and once when all are written."""
        if self._file.trouble and not was:
            _log.warning(
                "%s cannot be written (%s): free some space on the disk; the readings wait in "
                "memory and the measurement goes on",
                self._path,
                self._file.trouble,
            )
        elif was and not self._file.trouble:
            _log.warning("%s is written again; no reading is missing", self._path)


def _mend(path: Path) -> None:
    """Cut off what a killed program or a power cut left behind the last whole row.

    After a power cut the end of a file may be zeros. Raises OSError while a program writes the log.
    """
    with open(path, "r+b") as file:
        if not claim(file.fileno()):
            raise OSError(f"{path} is being written by another program; let it end, or end it")
        content = file.read()
        whole = content[: content.index(0)] if 0 in content else content
        file.truncate(whole.rfind(b"\n") + 1)


def _line(fields: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(fields)
    return text.getvalue().encode()


def read_power_log(path: Path) -> list[Reading]:
    """Return the readings of a power log; their `monotonic_s` is the log's `elapsed_s`.

    Raises ValueError with file and line for a line that is not a row. A last line without a line
    feed is left out, because a killed writer may leave one.
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
