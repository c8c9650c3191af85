# SPDX-License-Identifier: Apache-2.0
"""The power log: a file with one row for each reading, written at once; and its reader.

A log is CSV, or JSON lines if its name ends in `.jsonl`.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from power.append_file import AppendFile, claim
from power.bounded_file import TEXT_ENCODING
from power.logs.facts_file import unpacked
from power.logs.packed import opened_log
from power.logs.rows import (
    ALL_COLUMNS,
    SUFFIX,
    RowReader,
    csv_line,
    csv_values,
    header_of,
    json_line,
    json_values,
    row_of,
)
from power.logs.rows import COLUMNS as COLUMNS
from power.logs.usual_rows import BLOCK, usual_rows
from power.meter import Reading
from power.readings import Readings

_log = logging.getLogger(__name__)

# No row comes near this length; a file of another kind may be one line of gigabytes.
_LONGEST_LINE = 1 << 20


class PowerLog:
    """A new file of readings; each row is in the file before `add` returns, if there is room.

    A killed process loses no finished row and leaves at most one incomplete row at the end. While
    the disk is full, rows wait in memory; they are written first when there is room again. Times
    count from `start_s`, which `begin` may set later. With `elements` there are columns for the
    single elements of a WT332 or WT333, and there is one for each of the chosen `quantities`.
    """

    def __init__(
        self,
        path: Path,
        start_s: float = 0.0,
        *,
        resume: bool = False,
        elements: bool = False,
        quantities: Sequence[str] = (),
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
        self._json = path.suffix == SUFFIX
        new = header_of(elements=elements, quantities=quantities)
        self._header = _header_in(path) if resume and not self._json else new
        first = b"" if resume or self._json else csv_line(new)
        self._file.append(first)
        if not self._file.sync():
            reason = self._file.trouble
            self._file.close()
            if not resume:
                path.unlink(missing_ok=True)
            raise OSError(f"{path} cannot be written ({reason}); free some space on the disk")
        self._file.claim()

    def __enter__(self) -> PowerLog:
        return self

    def __exit__(self, *exc: object) -> None:
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
        limit_w = self._limit_w(reading)
        if self._json:
            self._file.append(json_line(reading, self._start_s, limit_w))
        else:
            self._file.append(csv_line(row_of(reading, self._start_s, limit_w, self._header)))
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
        begin = whole = 0
        while block := file.read(_LONGEST_LINE):
            written, zero, _ = block.partition(b"\0")
            if b"\n" in written:
                whole = begin + written.rindex(b"\n") + 1
            if zero:
                break
            begin += len(block)
        file.truncate(whole)


def _header_in(path: Path) -> tuple[str, ...]:
    """Return the columns that a log has; a log without a header gets those of this version."""
    with open(path, encoding=TEXT_ENCODING, newline="") as file:
        return tuple(next(csv.reader(file), ALL_COLUMNS))


def read_power_log(path: Path) -> Readings:
    """Return the readings of a power log; their `monotonic_s` is the log's `elapsed_s`.

    Raises ValueError with file and line for a line that is not a row. A last line without a line
    feed is left out, because a killed writer may leave one. A log may lack the columns after
    `state`. A file that begins with `{` has JSON lines, whatever its name.
    """
    reader = RowReader()
    with opened_log(path) as file:
        try:
            begins = file.readline(1)
            file.seek(0)
            lines = _whole_lines(path, file)
            if begins == "{" or (unpacked(path).suffix == SUFFIX and not begins):
                _read_json(path, lines, reader)
            else:
                _read_csv(path, lines, reader)
        except UnicodeDecodeError:
            raise ValueError(f"{path} is no text in UTF-8") from None
        except csv.Error as error:
            raise ValueError(f"{path}: {error}") from None
    return reader.readings


def _whole_lines(path: Path, file: TextIO) -> Iterator[str]:
    """Yield the lines that end with a line feed, without it; none of them fills the memory."""
    number = 0
    while (line := file.readline(_LONGEST_LINE)).endswith("\n"):
        number += 1
        yield line[:-1]
    if len(line) == _LONGEST_LINE:
        raise ValueError(f"{path}, line {number + 1} is longer than {_LONGEST_LINE} characters")


def _read_json(path: Path, lines: Iterator[str], reader: RowReader) -> None:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            _read_row(path, number, reader, json_values, line)


def _read_csv(path: Path, lines: Iterator[str], reader: RowReader) -> None:
    rows = csv.reader(lines)
    number, header = next(((number, row) for number, row in enumerate(rows, 1) if row), (0, []))
    if tuple(header[: len(COLUMNS)]) != COLUMNS:
        raise ValueError(f"{path}: the first line must begin with {','.join(COLUMNS)}")
    while block := list(islice(rows, BLOCK)):
        usual = usual_rows(header, block)
        for at, row in enumerate(block if usual is None else block[:1], start=number + 1):
            if row:
                _read_row(path, at, reader, csv_values, header, row)
        if usual is not None:
            later = {name: numbers[1:] for name, numbers in usual.numbers.items()}
            reader.add_alike(usual.utc_us[1:], later)
        number += len(block)


def _read_row(
    path: Path, number: int, reader: RowReader, values: Callable[..., dict[str, object]], *row: Any
) -> None:
    """Read the reading in a row whose values the function `values` gets out of it."""
    try:
        reader.add(values(*row))
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from None
