# SPDX-License-Identifier: Apache-2.0
"""The rows of a YOLO label file: a class index, then fractions of the image's width and height.

A row of a ground truth is `class cx cy w h`, the centre and size of a box, or
`class x1 y1 x2 y2 …`, the corners of an outline, as for segments and for turned boxes; the box
around an outline stands for it. A row of keypoints is a box and what follows it, if the data set
says how many points a row has. Every number is a fraction, so one far beyond 0 to 1 is a fault;
rounding takes some a little beyond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.core.counts import counted
from referee.errors import InputError
from referee.formats.fast_reading import fast_or_slow
from referee.formats.faults import Faults, FormatError, quoted
from referee.formats.number_table import are_whole, parse_numbers
from referee.formats.numbers import TooLarge, number, whole_number
from referee.formats.text import cells

Floats = NDArray[np.float64]

LABEL_FIELDS = ("class", "cx", "cy", "w", "h")
"""Fields of a row of a ground truth."""

SLACK = 0.01
"""How far a fraction, or the edge of a box, may lie beyond the image: rounding takes it there."""

_MOST_CLASS = 2**31
_PIXELS = 1 + SLACK


class Keypoints(NamedTuple):
    """How many keypoints a row has, and how many numbers each has: 2, or 3 with its visibility."""

    points: int
    numbers: int


@dataclass(frozen=True, eq=False)
class LabelRows:
    """The objects of one file; `table` (n, 5) has class index, cx, cy, w and h.

    `outlines` of them were outlines, and `duplicates` more rows said the same as another one.
    """

    table: Floats
    outlines: int = 0
    duplicates: int = 0


def read_label_rows(
    path: Path,
    content: bytes,
    faults: Faults,
    classes: int | None = None,
    keypoints: Keypoints | None = None,
) -> LabelRows:
    """Read the rows of one file of a ground truth; what is wrong goes to `faults`.

    A class index is below `classes`. Of rows that are equal one is kept, as the programs keep it
    that train on such files.
    """
    most = _MOST_CLASS if classes is None else classes
    table, outlines = fast_or_slow(
        partial(_fast, content, most, keypoints),
        partial(_slow, path, content, faults, most, keypoints),
    )
    kept = list(dict.fromkeys(map(tuple, table.tolist())))
    if len(kept) == len(table):
        return LabelRows(table, outlines)
    rows = np.array(kept, dtype=np.float64).reshape(-1, len(LABEL_FIELDS))
    return LabelRows(rows, outlines, len(table) - len(kept))


def is_label_text(path: Path, content: bytes) -> bool:
    """Tell whether a file could be one of labels: each row is sound, or it is empty."""
    faults = Faults()
    try:
        read_label_rows(path, content, faults)
    except InputError:  # It is no text.
        return False
    return not faults.error().faults


def _fast(content: bytes, most: int, keypoints: Keypoints | None) -> tuple[Floats, int] | None:
    """Return the table if each row is a sound box, else None."""
    table = None if keypoints else parse_numbers(content, len(LABEL_FIELDS))
    if table is None:
        return None
    classes, box = table[:, :1], table[:, 1:]
    sound = (
        are_whole(classes)
        and bool(((classes >= 0) & (classes < most)).all())
        and bool(((box >= -SLACK) & (box <= _PIXELS)).all())
        and bool((box[:, 2:] >= 0).all())
    )
    return (table, 0) if sound else None


def _slow(
    path: Path, content: bytes, faults: Faults, most: int, keypoints: Keypoints | None
) -> tuple[Floats, int]:
    """Read row by row, and note each fault."""
    rows: list[list[float]] = []
    outlines = 0
    for line, row in cells(path, content):
        try:
            values = _box_of(_numbers(row, most), keypoints)
        except FormatError as error:
            faults.add(f"{path}, line {line}{error}")
            continue
        outlines += len(row) > len(LABEL_FIELDS) and keypoints is None
        rows.append(values)
    return np.array(rows, dtype=np.float64).reshape(-1, len(LABEL_FIELDS)), outlines


def _numbers(row: Sequence[str], most: int) -> list[float]:
    """Return class index and fractions of a row; raise `FormatError` for what is none."""
    try:
        index = whole_number(row[0])
    except TooLarge:
        index = _MOST_CLASS
    except ValueError:
        raise _fault(
            f", class: {quoted(row[0])} is not a class index, which comes first: a row is"
            f" {' '.join(LABEL_FIELDS)}"
        ) from None
    if index < 0:
        raise _fault(f", class: {quoted(row[0])} is no class index: the first class is 0")
    if index >= most:
        raise _fault(
            f", class: {quoted(row[0])} is beyond the data set's"
            f" {counted(most, 'class', 'classes')}, which are 0 to {most - 1}"
        )
    return [index, *(_fraction(place, text) for place, text in enumerate(row[1:], start=2))]


def _fraction(place: int, text: str) -> float:
    """Read the number in a column, counted from 1; raise `FormatError` for any other text."""
    try:
        value = number(text)
    except ValueError:
        raise _fault(f", column {place}: {quoted(text)} is not a number") from None
    if not math.isfinite(value):
        raise _fault(f", column {place}: {quoted(text)} is not a finite number")
    return value


def _box_of(values: Sequence[float], keypoints: Keypoints | None) -> list[float]:
    """Return class index, cx, cy, w and h of a row; raise `FormatError` for any other row."""
    width = len(values)
    if keypoints is not None:
        expected = len(LABEL_FIELDS) + keypoints.points * keypoints.numbers
        if width != expected:
            raise _fault(
                f" has {_fields(width)}, not {expected}: the data set's kpt_shape says"
                f" {keypoints.points} points of {keypoints.numbers} numbers behind the box"
            )
        values = values[: len(LABEL_FIELDS)]
    elif width > len(LABEL_FIELDS) + 1 and width % 2:
        _require_fractions(values[1:])
        return _around(values)
    elif width != len(LABEL_FIELDS):
        raise _fault(f" has {_fields(width)}: {_meant(width)}")
    _require_fractions(values[1:])
    if min(values[3:]) < 0:
        raise _fault(f" has a width or height below 0: a row is {' '.join(LABEL_FIELDS)}")
    return list(values)


def _around(values: Sequence[float]) -> list[float]:
    """Return the box around an outline."""
    xs, ys = values[1::2], values[2::2]
    left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
    return [values[0], (left + right) / 2, (top + bottom) / 2, right - left, bottom - top]


def _require_fractions(values: Sequence[float]) -> None:
    """Raise `FormatError` for a number that is no fraction of the image."""
    for place, value in enumerate(values, start=2):
        if value > _PIXELS:
            raise _fault(
                f", column {place}: {value:g} is above 1: the numbers are fractions of the image's"
                " width and height, not pixels"
            )
        if value < -SLACK:
            raise _fault(
                f", column {place}: {value:g} is below 0: the numbers are fractions of the image"
            )


def _meant(width: int) -> str:
    """Say what a row of so many fields may be, and what a ground truth has."""
    usual = f"give {' '.join(LABEL_FIELDS)}"
    if width == len(LABEL_FIELDS) + 1:
        return f"with a confidence it is a detection, and a ground truth has none: {usual}"
    if width > len(LABEL_FIELDS):
        return (
            f"an outline has two for each corner; for keypoints say kpt_shape in data.yaml, or"
            f" {usual}"
        )
    return usual


def _fields(width: int) -> str:
    return counted(width, "field")


def _fault(text: str) -> FormatError:
    return FormatError((text,))
