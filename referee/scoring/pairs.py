# SPDX-License-Identifier: Apache-2.0
"""Pairs of a row and each truth box that it may match, made a bounded number at a time.

A pair takes some 140 bytes while it is measured. An image may have thousands of truth boxes of one
class and tens of thousands of detections: all pairs at once would take many GB.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

MOST_PAIRS = 2**16
"""Pairs measured at a time: they take some 9 MiB."""


def runs(size: Ints, most: int | None = None) -> Iterator[slice]:
    """Yield slices of consecutive rows, none of which has more than `most` pairs.

    `size` (n,) has the number of each row's pairs. A row that alone has more is a slice of its own.
    Without `most` it is `MOST_PAIRS`.
    """
    most = MOST_PAIRS if most is None else most
    ends = np.cumsum(size)
    start = 0
    while start < len(size):
        before = int(ends[start - 1]) if start else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield slice(start, end)
        start = end


def expand(start: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Return the row of each pair, and its number: `size` numbers from `start` on for each row."""
    row = np.repeat(np.arange(len(size)), size)
    within = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    return row, np.repeat(start, size) + within
