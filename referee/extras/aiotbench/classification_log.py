# SPDX-License-Identifier: Apache-2.0
"""The log of AIoTBench: lines `image_id,workload_id,real_label,predict_label,time`.

The grammar is that of `lines` and `numbers`. The first line of a file may be a header with exactly
these names. An image is named by a number, by its picture's name (`7.jpg` is 7), or by any other
text. Labels are whole numbers. The time is in seconds. Together the files hold at most one line
for each image and workload.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from operator import sub
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from referee.errors import InputError
from referee.extras.aiotbench.line_chunks import read_chunks
from referee.extras.aiotbench.score import Tally
from referee.formats.fast_reading import fast_or_slow
from referee.formats.faults import quoted
from referee.formats.image_numbers import UNKNOWN_IMAGE
from referee.formats.lines import split_cells
from referee.formats.numbers import image_number, number, whole_number
from referee.formats.text import parse_cell, require_width

FIELDS = ("image_id", "workload_id", "real_label", "predict_label", "time")
"""The columns of a log, and the words of its header."""

# No clock measures less than a nanosecond. A log may be in nanoseconds, and a million million of
# them are a quarter of an hour. Within these bounds no sum and no quotient leaves the range of
# doubles.
_SHORTEST_S, _LONGEST_S = 1e-9, 1e12
# A place in the logs is one number: file * _LINES + line. Lines count from 1.
_LINES, _NOWHERE = 2**32, 0
_NUMBERS = re.compile(r"[-+.0-9A-Za-z]+")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def read_logs(paths: Sequence[Path], workloads: Collection[str], spelling: str) -> dict[str, Tally]:
    """Read logs as one, and return the tally of each workload that they name.

    `workloads` are the known ids, and `spelling` says in a message how they are written. Raises
    InputError, which names file, line and field of the first fault. Files are read in pieces: the
    memory that a line takes is two numbers. The result does not depend on the order of lines.
    """
    reader = LogReader(workloads, spelling)
    for path in paths:
        reader.read(path)
    if not reader.tallies():
        named = ", ".join(map(str, paths))
        raise InputError(f"{named}: no line of a workload; give lines {','.join(FIELDS)}")
    return reader.tallies()


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a piece: `line` is the line's number in the file, `image` a running number.

    `off` is the predicted label minus the real one.
    """

    line: Ints
    image: Ints
    workload: Ints
    off: Ints
    time_s: Floats


class LogReader:
    """What the lines so far add up to."""

    def __init__(self, workloads: Collection[str], spelling: str) -> None:
        self._names = list(workloads)
        self._workloads = {name: index for index, name in enumerate(self._names)}
        self._spelling = spelling
        self._images = ImageNumbers()
        self._labels = WholeNumbers()
        self._files: list[Path] = []
        # By workload: the place in the logs of each image's line, how many answers are right or one
        # label off, the times.
        self._places: list[Ints] = [np.empty(0, np.int64) for _ in self._names]
        self._off = [Counter[int]() for _ in self._names]
        self._times: list[list[Floats]] = [[] for _ in self._names]

    def read(self, path: Path) -> None:
        """Read one file."""
        self._files.append(path)
        for line, text in read_chunks(path):
            if line == 1:
                first, _, rest = text.partition("\n")
                if _is_header(split_cells(first)):
                    line, text = 2, rest
            if text:
                fast = partial(self._read_fast, line, text)
                slow = partial(self._read_slow, path, line, text)
                self._add(fast_or_slow(fast, slow))

    def tallies(self) -> dict[str, Tally]:
        """Return the tally of each workload with a line."""
        tallies = {}
        for index, name in enumerate(self._names):
            if self._times[index]:
                times = np.concatenate(self._times[index])
                total_s = math.fsum(times.tolist())  # It is exact, so the order does not matter.
                off = self._off[index]
                tallies[name] = Tally(len(times), off[0], total_s, off[1], off[-1])
        return tallies

    def _read_fast(self, line: int, text: str) -> _Rows | None:
        """Read lines by whole columns; return None for those that need a closer look."""
        lines = text.count("\n")
        text = text.replace(", ", ",")
        cells = text.replace("\n", ",\n,").split(",")
        # The end of each line must be the sixth cell of its row.
        if len(cells) != 6 * lines + 1 or cells[5::6].count("\n") != lines:
            return None
        if " " in text or "\t" in text or not _NUMBERS.fullmatch("".join(cells[4::6])):
            return None
        try:
            image = np.fromiter(map(self._images.__getitem__, cells[0:-1:6]), np.int64, lines)
            workload = np.fromiter(map(self._workloads.__getitem__, cells[1::6]), np.int64, lines)
            real, predicted = (map(self._labels.__getitem__, cells[k::6]) for k in (2, 3))
            off = np.fromiter(map(sub, predicted, real), np.int64, lines)
            time_s = np.fromiter(map(float, cells[4::6]), np.float64, lines)
        except (ValueError, KeyError, OverflowError):
            return None
        if not ((time_s >= _SHORTEST_S) & (time_s <= _LONGEST_S)).all():
            return None
        return _Rows(np.arange(line, line + lines), image, workload, off, time_s)

    def _read_slow(self, path: Path, first: int, text: str) -> _Rows:
        """Read lines one by one; raise InputError for the first fault."""
        rows = []
        for line, content in enumerate(text.split("\n"), start=first):
            row = split_cells(content)
            if row:
                rows.append((line, *self._read_line(path, line, row)))
        columns = list(zip(*rows, strict=True)) or [()] * 6
        line_, image, workload, real, predicted, time_s = columns
        return _Rows(
            line=np.array(line_, np.int64),
            image=np.array(image, np.int64),
            workload=np.array(workload, np.int64),
            off=np.array(predicted, np.int64) - np.array(real, np.int64),
            time_s=np.array(time_s, np.float64),
        )

    def _read_line(self, path: Path, line: int, row: list[str]) -> tuple[int, int, int, int, float]:
        """Return image, workload, both labels and the time."""
        require_width(path, line, row, FIELDS)
        if _is_header(row):
            raise InputError(
                f"{path}, line {line} is a header: only a file's first line may be one"
            )
        image, workload, real, predicted, time_s = row
        if workload not in self._workloads:
            raise InputError(
                f"{path}, line {line}, workload_id: {quoted(workload)} is not a workload:"
                f" give {self._spelling}"
            )
        label = self._labels.__getitem__
        return (
            parse_cell(path, line, "image_id", image, self._images.__getitem__, "an image's name"),
            self._workloads[workload],
            parse_cell(path, line, "real_label", real, label, "a whole number"),
            parse_cell(path, line, "predict_label", predicted, label, "a whole number"),
            parse_cell(path, line, "time", time_s, _seconds, "a time above 0, in seconds"),
        )

    def _add(self, rows: _Rows) -> None:
        """Add rows; raise InputError if an image was logged before for the same workload."""
        for index in np.flatnonzero(np.bincount(rows.workload)).tolist():
            taken = rows.workload == index
            image = rows.image[taken]
            place = (len(self._files) - 1) * _LINES + rows.line[taken]
            places = self._room(index)
            before = places[image]
            places[image] = place
            # An image that stands twice among these rows has lost the place of its first row.
            if (before != _NOWHERE).any() or (places[image] != place).any():
                places[image] = before
                self._refuse_second(index, image.tolist(), place.tolist())
            off = rows.off[taken]
            self._off[index].update({step: int((off == step).sum()) for step in (-1, 0, 1)})
            self._times[index].append(rows.time_s[taken])

    def _room(self, index: int) -> Ints:
        """Return the places of a workload, with room for all images that are known."""
        places = self._places[index]
        if len(places) < self._images.count:
            more = np.full(2 * self._images.count - len(places), _NOWHERE, np.int64)
            self._places[index] = places = np.concatenate([places, more])
        return places

    def _refuse_second(self, index: int, images: list[int], places: list[int]) -> None:
        """Raise InputError for the first of these images that stands twice in a workload."""
        taken = self._places[index]
        for image, place in zip(images, places, strict=True):
            if taken[image] != _NOWHERE:
                text = next(text for text, number in self._images.items() if number == image)
                raise InputError(
                    f"{self._where(place)}, image_id: image {quoted(text)} of"
                    f" {self._names[index]} was logged before: {self._where(int(taken[image]))}"
                )
            taken[image] = place

    def _where(self, place: int) -> str:
        """Return file and line of a place."""
        file, line = divmod(place, _LINES)
        return f"{self._files[file]}, line {line}"


def _is_header(row: list[str]) -> bool:
    return tuple(row) == FIELDS


def _seconds(text: str) -> float:
    """Read a time that some clock can have measured."""
    value = number(text)
    if not _SHORTEST_S <= value <= _LONGEST_S:
        raise ValueError(text)
    return value


class ImageNumbers(dict[str, int]):
    """A running number, from 0, for each image by the texts that name it.

    Texts that stand for one number name one image: `7`, `007` and `7.jpg`. Any other text names an
    image of its own. An empty text or one with unprintable characters raises ValueError.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[int | str, int] = {}

    def __missing__(self, text: str) -> int:
        """Number a text that is new."""
        if not text or not text.isprintable():
            raise ValueError(text)
        name: int | str
        try:
            name = image_number(text)
        except ValueError:
            name = text
        if name == UNKNOWN_IMAGE:  # It has more than 64 bits, so its text has to name it.
            name = text
        self[text] = self._known.setdefault(name, len(self._known))
        return self[text]

    @property
    def count(self) -> int:
        """Return the number of different images."""
        return len(self._known)


class WholeNumbers(dict[str, int]):
    """The whole number that each text stands for; any other text raises ValueError."""

    def __missing__(self, text: str) -> int:
        """Read a text that is new."""
        self[text] = whole_number(text)
        return self[text]
