# SPDX-License-Identifier: Apache-2.0
"""A curve as rows of text: a column of blocks for each stretch of time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Values = tuple[float, float, float]
"""The least, the mean and the greatest value of a stretch of time."""

Column = tuple[float, Values | None]
"""When a stretch begins, in seconds, and its values; None has no value."""


@dataclass(frozen=True)
class Marks:
    """The characters: parts of a block from low to high, the mark of a peak, and the axis."""

    parts: str
    peak: str
    axis: str


BLOCKS = Marks("▁▂▃▄▅▆▇█", "·", "┤")
ASCII = Marks("#", ".", "|")


def columns_of(
    bins: Sequence[Column], span_s: tuple[float, float], width: int
) -> list[Values | None]:
    """Return `width` columns over a span of time; a bin reaches as far as the next one."""
    from_s, to_s = span_s
    columns: list[Values | None] = [None] * max(1, width)
    scale = len(columns) / max(to_s - from_s, 1e-9)
    # Each bin fills all columns that it covers, so a curve of few bins has no holes.
    starts = [at_s for at_s, _ in bins]
    step_s = starts[1] - starts[0] if len(starts) > 1 else to_s - from_s
    for at_s, values in bins:
        if values is None:
            continue
        first = math.floor((at_s - from_s) * scale + 1e-9)
        last = math.ceil((at_s + step_s - from_s) * scale - 1e-9)
        for place in range(max(0, first), min(len(columns), max(last, first + 1))):
            columns[place] = _joined(columns[place], values)
    return columns


def chart(columns: Sequence[Values | None], rows: int, marks: Marks) -> list[str]:
    """Return the rows of a chart from 0 to a round number, the highest first, with a scale.

    A column is as high as its mean. A peak that rises above its column by a row has a mark. A
    column without a value stays empty. Negative power shows as nothing: the figures tell it.
    """
    top = nice_top(max((values[2] for values in columns if values is not None), default=0.0))
    drawn = []
    for row in range(rows - 1, -1, -1):
        label = {rows - 1: f"{top:.4g} W", 0: "0 W"}.get(row, "")
        cells = "".join(_cell(values, row, rows / top, marks) for values in columns)
        drawn.append(f"{label:>8}{marks.axis}{cells}".rstrip())
    return drawn


def nice_top(value: float) -> float:
    """Return a round number a tenth above a value, and 1 for a value that no meter shows."""
    if not 1e-12 < value < math.inf:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(
        step * unit for step in (1, 1.5, 2, 3, 4, 6, 8, 10, 15) if step * unit >= 1.1 * value
    )


def _cell(values: Values | None, row: int, scale: float, marks: Marks) -> str:
    if values is None:
        return " "
    _, mean, high = values
    filled = mean * scale - row
    if filled > 0:
        return marks.parts[min(len(marks.parts), max(1, round(filled * len(marks.parts)))) - 1]
    return marks.peak if high * scale - row > 0 and mean * scale < row else " "


def _joined(one: Values | None, other: Values) -> Values:
    """Return the values of two bins in one column; bins are as wide, so their means are as good."""
    if one is None:
        return other
    return min(one[0], other[0]), (one[1] + other[1]) / 2, max(one[2], other[2])
