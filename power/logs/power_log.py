# SPDX-License-Identifier: Apache-2.0
"""The power log: a CSV file with one row for each reading, written at once; and its reader."""

from __future__ import annotations

import csv
import io
import logging
import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from power.append_file import AppendFile, claim
from power.meter import QUALITIES, ElementValues, IntegrationState, Reading

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
"""The columns of every power log since the first version; the others come after them."""

_NUMBERS = COLUMNS[2:7]
ALL_COLUMNS = (*COLUMNS, *QUALITIES, "uncertainty_w")
"""The columns of a power log; `ELEMENT_COLUMNS` follow if the sum of all elements is measured."""

ELEMENT_COLUMNS = tuple(
    f"element_{number}_{name}" for number in (1, 2, 3) for name in ("power_w", "energy_wh")
)


def row_of(reading: Reading, start_s: float, uncertainty_w: float | None = None) -> list[str]:
    """Return a reading as the log's fields; a missing value is an empty field.

    Power factor, frequency and peaks are `nan` if the meter has no number for them, such as the
    frequency of direct current. They are empty if the meter was not asked. `uncertainty_w` is the
    limit of the error of the power; a reader computes it anew.
    """
    return [
        f"{reading.monotonic_s - start_s:.4f}",
        reading.utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        *(_field(getattr(reading, name)) for name in _NUMBERS),
        reading.state.value,
        *(
            "nan" if name in reading.absent else _field(getattr(reading, name))
            for name in QUALITIES
        ),
        "" if uncertainty_w is None else f"{uncertainty_w:.4g}",
    ]


def element_fields(reading: Reading) -> list[str]:
    """Return power and energy of the elements 1 to 3 as the log's fields."""
    single = {element.element: element for element in reading.elements}
    return [
        _field(getattr(single.get(number), name, None))
        for number in (1, 2, 3)
        for name in ("power_w", "energy_wh")
    ]


def _field(value: float | None) -> str:
    return "" if value is None else repr(value)


class PowerLog:
    """A new CSV file of readings; each row is in the file before `add` returns, if there is room.

    A killed process loses no finished row and leaves at most one incomplete row at the end. While
    the disk is full, rows wait in memory; they are written first when there is room again. Times
    count from `start_s`, which `begin` may set later. With `elements` there are columns for the
    single elements of a WT332 or WT333.
    """

    def __init__(
        self, path: Path, start_s: float = 0.0, *, resume: bool = False, elements: bool = False
    ) -> None:
        """Make the log, or with `resume` go on with the log of a program that was killed.

        Raises OSError if the file cannot be made, or if a living program still writes it.
        """
        self._path = path
        if resume:
            _mend(path)
        self._file = AppendFile(path, new=not resume)
        self._start_s = start_s
        self._limit_w: Callable[[Reading], float | None] = lambda reading: None
        header = (*ALL_COLUMNS, *ELEMENT_COLUMNS) if elements else ALL_COLUMNS
        # The log of an earlier version has fewer columns, in the same order.
        self._width = _columns_of(path) if resume else len(header)
        if not self._file.append(b"" if resume else _line(header)) or not self._file.sync():
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

    def begin(
        self, start_s: float, limit_w: Callable[[Reading], float | None] | None = None
    ) -> None:
        """Count the times of all later rows from this monotonic instant.

        `limit_w` gives the limit of the error of a reading's power, for its column.
        """
        self._start_s = start_s
        self._limit_w = limit_w or self._limit_w

    def add(self, reading: Reading) -> None:
        """Append one reading; a full disk gives a logged warning, never an error."""
        was = self._file.trouble
        fields = row_of(reading, self._start_s, self._limit_w(reading))
        self._file.append(_line([*fields, *element_fields(reading)][: self._width]))
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


def _columns_of(path: Path) -> int:
    """Return how many columns a log has; a log without a header gets all of this version."""
    with open(path, encoding="utf-8", newline="") as file:
        return len(next(csv.reader(file), ALL_COLUMNS))


def _line(fields: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(fields)
    return text.getvalue().encode()


def read_power_log(path: Path) -> list[Reading]:
    """Return the readings of a power log; their `monotonic_s` is the log's `elapsed_s`.

    Raises ValueError with file and line for a line that is not a row. A last line without a line
    feed is left out, because a killed writer may leave one. Logs of earlier versions lack the
    columns after `state`.
    """
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    if lines[-1]:
        lines.pop()
    try:
        rows = [(number, row) for number, row in enumerate(csv.reader(lines), start=1) if row]
    except csv.Error as error:
        raise ValueError(f"{path}: {error}") from None
    if not rows or tuple(rows[0][1][: len(COLUMNS)]) != COLUMNS:
        raise ValueError(f"{path}: the first line must begin with {','.join(COLUMNS)}")
    header = rows[0][1]
    return [_reading(path, number, header, row) for number, row in rows[1:]]


def _reading(path: Path, number: int, header: list[str], row: list[str]) -> Reading:
    try:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} fields instead of {len(header)}")
        voltage, current, power, energy, integration = (_number(text) for text in row[2:7])
        texts = dict(zip(header, row, strict=True))
        asked = [name for name in QUALITIES if texts.get(name)]
        qualities = {name: _number(texts[name]) for name in asked if texts[name] != "nan"}
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
                **{name: "no data" for name in _NUMBERS if not texts[name]},
                **{name: "no data" for name in asked if name not in qualities},
            },
            elements=_elements(texts),
            power_factor=qualities.get("power_factor"),
            frequency_hz=qualities.get("frequency_hz"),
            voltage_peak_v=qualities.get("voltage_peak_v"),
            current_peak_a=qualities.get("current_peak_a"),
        )
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from None


def _elements(texts: dict[str, str]) -> tuple[ElementValues, ...]:
    """Return the elements of which a row has any value."""
    values = [
        ElementValues(
            number,
            *(
                _number(texts.get(f"element_{number}_{name}", ""))
                for name in ("power_w", "energy_wh")
            ),
        )
        for number in (1, 2, 3)
    ]
    return tuple(value for value in values if (value.power_w, value.energy_wh) != (None, None))


def _number(text: str) -> float | None:
    if not text:
        return None
    value = float(text)
    if not math.isfinite(value) or abs(value) >= 9.8e37:
        raise ValueError(f"{text} is no measured value")
    return value
