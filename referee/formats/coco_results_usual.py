# SPDX-License-Identifier: Apache-2.0
"""COCO results of the usual form, decoded straight into columns."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from referee.core.coco_boxes import CocoResults
from referee.formats.shared_rows import UNUSUAL, SharedRows
from referee.formats.typed_json import Typed, bare, list_spans


class _Result(msgspec.Struct, gc=False):
    """An entry of the usual form."""

    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    score: float


_USUAL = Typed(list[_Result])


class UsualResults:
    """A JSON text, its pieces, and the entries that were decoded of them."""

    def __init__(self, content: bytes, *, shared: bool = False) -> None:
        self._content = bare(content)
        self._spans = list_spans(self._content)
        spans = self._spans or [slice(0, len(self._content))]
        # Each entry has a brace. numpy counts them in a quarter of the time of bytes.count.
        text = np.frombuffer(self._content, np.uint8)
        most = [int(np.count_nonzero(text[span] == ord("{"))) for span in spans]
        self.pieces = range(len(spans))
        self._rows = SharedRows(most, shared=shared)

    def decode(self, piece: int) -> None:
        """Decode a piece, unless an entry before was found not to be usual."""
        if (self._rows.counts == UNUSUAL).any():
            return
        entries = _USUAL.decode(self._text(piece))
        if entries is None or not self._write(piece, entries):
            self._rows.counts[piece] = UNUSUAL

    def all(self) -> CocoResults | None:
        """Return the entries of all pieces, or None if one is not usual."""
        if (self._rows.counts == UNUSUAL).any():
            return None
        return CocoResults(*self._rows.all())

    def _text(self, piece: int) -> bytes:
        if self._spans is None:
            return self._content
        return b"[" + self._content[self._spans[piece]] + b"]"

    def _write(self, piece: int, entries: list[_Result]) -> bool:
        """Write entries into their rows; return False for an id of more than 64 bits."""
        values: tuple[Iterable[float], ...] = (
            [entry.image_id for entry in entries],
            [entry.category_id for entry in entries],
            [entry.score for entry in entries],
            chain.from_iterable([entry.bbox for entry in entries]),
        )
        try:
            columns = self._rows.place(piece, len(entries))
            for column, numbers in zip(columns, values, strict=True):
                _write(column, numbers)
        except struct.error:
            return False
        self._rows.counts[piece] = len(entries)
        return True


def _write(column: NDArray[Any], numbers: Iterable[float]) -> None:
    """Write numbers into a column; `struct` takes half the time of numpy's own conversion."""
    code = "q" if column.dtype == np.int64 else "d"
    # Any: before Python 3.12 the types do not say that an array is a buffer.
    room: Any = column
    struct.pack_into(f"{column.size}{code}", room, 0, *numbers)
