# SPDX-License-Identifier: Apache-2.0
"""COCO results of the usual form, decoded straight into columns."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from referee.formats.typed_json import Typed


class _Result(msgspec.Struct, gc=False):
    """An entry of the usual form."""

    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    score: float


_USUAL = Typed(list[_Result])

# No entry of the usual form is shorter, blanks left out.
_SHORTEST = len('{"image_id":1,"category_id":1,"bbox":[1,1,1,1],"score":1}')

Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""Image ids (n,), category ids (n,), scores (n,) and boxes (n, 4)."""


class UsualColumns:
    """Columns with room for all entries that a text of `length` bytes can have.

    `shared` columns lie in memory that a second process shares: what it writes, the first one sees.
    Room that nobody writes to takes no memory there.
    """

    def __init__(self, length: int, *, shared: bool = False) -> None:
        rows = self.most_in(length)
        room = mmap.mmap(-1, 56 * rows) if shared else bytearray(56 * rows)
        self._columns: Columns = (
            np.frombuffer(room, np.int64, rows, 0),
            np.frombuffer(room, np.int64, rows, 8 * rows),
            np.frombuffer(room, np.float64, rows, 16 * rows),
            np.frombuffer(room, np.float64, 4 * rows, 24 * rows).reshape(rows, 4),
        )

    @staticmethod
    def most_in(length: int) -> int:
        """Return a number of entries that no text of `length` bytes exceeds, at least 1."""
        return length // _SHORTEST + 1

    def fill(self, first: int, texts: Iterable[bytes]) -> int | None:
        """Write the entries of all lists from row `first` on, and return how many they are.

        Returns None if an entry is not usual.
        """
        row = first
        for text in texts:
            entries = _USUAL.decode(text)
            if entries is None:
                return None
            values: tuple[Iterable[float], ...] = (
                [entry.image_id for entry in entries],
                [entry.category_id for entry in entries],
                [entry.score for entry in entries],
                chain.from_iterable([entry.bbox for entry in entries]),
            )
            try:
                for column, numbers in zip(self._columns, values, strict=True):
                    _write(column[row : row + len(entries)], numbers)
            except struct.error:  # An id has more than 64 bits.
                return None
            row += len(entries)
        return row - first

    def move(self, source: int, target: int, count: int) -> None:
        """Move `count` rows from row `source` to row `target`."""
        column: NDArray[Any]
        for column in self._columns:
            column[target : target + count] = column[source : source + count]

    def first(self, count: int) -> Columns:
        """Return the first `count` rows of each column."""
        image_id, category_id, score, box = self._columns
        return image_id[:count], category_id[:count], score[:count], box[:count]


def _write(column: NDArray[Any], numbers: Iterable[float]) -> None:
    """Write numbers into a column; `struct` takes half the time of numpy's own conversion."""
    code = "q" if column.dtype == np.int64 else "d"
    # Any: before Python 3.12 the types do not say that an array is a buffer.
    room: Any = column
    struct.pack_into(f"{column.size}{code}", room, 0, *numbers)
