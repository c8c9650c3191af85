# SPDX-License-Identifier: Apache-2.0
"""Columns of detections that are filled piece by piece, in any order, by one process or by two."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Columns = tuple[Ints, Ints, Floats, Floats]
"""Image ids (n,), class ids (n,), confidences (n,) and boxes (n, 4)."""

UNUSUAL = -1
"""Instead of a number of rows: this piece has a form that needs another reader."""

_BYTES_OF_A_ROW = 56


class SharedRows:
    """The rows of p pieces of a text, each piece at its own place.

    `most` (p,) says how many rows each piece has at most. With `shared`, the rows lie in memory
    that a second process shares: what it writes, the first one sees.
    """

    def __init__(self, most: Sequence[int], *, shared: bool = False) -> None:
        self._starts = [0, *accumulate(most)]
        rows, pieces = self._starts[-1], len(most)
        size = _BYTES_OF_A_ROW * rows + 8 * pieces
        room = mmap.mmap(-1, max(size, 1)) if shared else bytearray(size)
        self._columns: Columns = (
            np.frombuffer(room, np.int64, rows, 0),
            np.frombuffer(room, np.int64, rows, 8 * rows),
            np.frombuffer(room, np.float64, rows, 16 * rows),
            np.frombuffer(room, np.float64, 4 * rows, 24 * rows).reshape(rows, 4),
        )
        self.counts: Ints = np.frombuffer(room, np.int64, pieces, _BYTES_OF_A_ROW * rows)
        """The number of rows of each piece (p,), or `UNUSUAL`; 0 before it is filled."""

    def place(self, piece: int, count: int) -> Columns:
        """Return the room of a piece, for `count` rows."""
        return self._rows(self._starts[piece], count)

    def all(self) -> Columns:
        """Return all rows; the pieces move together where one has fewer rows than it may have."""
        end = 0
        for start, count in zip(self._starts[:-1], self.counts.tolist(), strict=True):
            if start != end:
                for target, rows in zip(
                    self._rows(end, count), self._rows(start, count), strict=True
                ):
                    target[:] = rows
            end += count
        return self._rows(0, end)

    def _rows(self, start: int, count: int) -> Columns:
        image_id, class_id, confidence, box = self._columns
        rows = slice(start, start + count)
        return image_id[rows], class_id[rows], confidence[rows], box[rows]
