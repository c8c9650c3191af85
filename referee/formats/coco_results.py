# SPDX-License-Identifier: Apache-2.0
"""Detections as COCO results, posted or in a file: a JSON list of objects.

Each object has `image_id`, `category_id`, `bbox` and `score`. `bbox` is [x, y, width, height].
When no object has a `score`, every score is 1.0. An id that needs more than 64 bits names no image
and no class.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from referee.core.coco_boxes import CocoResults
from referee.core.garbage import collections_paused
from referee.formats.fast_reading import Columns, Pieces, begin_rows, fast_or_slow, read_rows
from referee.formats.faults import Faults, FormatError, quoted
from referee.formats.image_numbers import UNKNOWN_IMAGE
from referee.formats.json_text import TypedDecoder, bare, list_spans, parse_json_text, shown
from referee.formats.unused_fields import meaning_of

_INT64_LIMIT = 2**63
# So many names are compared with the fields of a result; a stranger's object may have millions.
_MOST_NAMES = 100


def any_number(_count: int) -> None:
    """Allow any number of entries."""


def parse_results(content: bytes, allow: Callable[[int], None] = any_number) -> CocoResults:
    """Parse a JSON list of results.

    `allow` gets the number of entries before any of them is judged, and may raise. Raises
    `FormatError` for text that is not such a list; each fault names its row, counted from 1.
    """
    return _results(partial(read_rows, _pieces(content)), content, allow)


@collections_paused()
def begin_results(content: bytes) -> Callable[[], CocoResults]:
    """Begin to parse a long list in a second process; return a function that ends what it began.

    The function returns and raises what `parse_results` does.
    """
    rows = begin_rows(_pieces(content))
    return collections_paused()(partial(_results, rows, content, any_number))


def _results(
    rows: Callable[[], Columns | None], content: bytes, allow: Callable[[int], None]
) -> CocoResults:
    """Return the results of the fast reader, or those that are read one by one."""

    def fast() -> CocoResults | None:
        columns = rows()
        if columns is None:
            return None
        allow(len(columns[0]))
        return CocoResults(*columns)

    def slow() -> CocoResults:
        entries = _load_results(content)
        allow(len(entries))
        return read_one_by_one([f"row {row}" for row in range(1, len(entries) + 1)], entries)

    return fast_or_slow(fast, slow)


class UsualResult(msgspec.Struct, gc=False):
    """An entry of the usual form: a fast decoder takes no other."""

    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    score: float


_USUAL = TypedDecoder(list[UsualResult])


def _pieces(content: bytes) -> Pieces:
    content = bare(content)
    return Pieces(content, list_spans(content), b"{", _read_piece)  # Each entry has a brace.


def _read_piece(piece: bytes, room: Callable[[int], Columns]) -> int | None:
    """Write the entries of a list without its brackets."""
    entries = _USUAL.decode(b"[" + piece + b"]")
    return None if entries is None else write_usual(entries, room)


def write_usual(entries: Sequence[UsualResult], room: Callable[[int], Columns]) -> int | None:
    """Write entries into their rows, as a `PieceReader` does; None for an id beyond 64 bits."""
    values: tuple[Iterable[float], ...] = (
        [entry.image_id for entry in entries],
        [entry.category_id for entry in entries],
        [entry.score for entry in entries],
        chain.from_iterable([entry.bbox for entry in entries]),
    )
    try:
        for column, numbers in zip(room(len(entries)), values, strict=True):
            _write(column, numbers)
    except struct.error:
        return None
    return len(entries)


def _write(column: NDArray[Any], numbers: Iterable[float]) -> None:
    """Write numbers into a column; `struct` takes half the time of numpy's own conversion."""
    code = "q" if column.dtype == np.int64 else "d"
    # Any: before Python 3.12 the types do not say that an array is a buffer.
    memory: Any = column
    struct.pack_into(f"{column.size}{code}", memory, 0, *numbers)


def _load_results(content: bytes) -> list[Any]:
    """Return the entries of a JSON list; raise `FormatError` for anything else."""
    entries = parse_json_text(content)
    if not isinstance(entries, list):
        raise FormatError(
            (
                f"the JSON is {_kind_of(entries)}: COCO results are a list of"
                ' {"image_id", "category_id", "bbox", "score"}',
            )
        )
    return entries


def _kind_of(value: object) -> str:
    """Return what a JSON text is that is no list."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return "a text that holds JSON (encode it once)"
    if not isinstance(value, dict):
        return shown(value)
    if "bbox" in value:
        return "one result"
    lists = [key for key, held in value.items() if isinstance(held, list)]
    if len(lists) == 1:
        truth = ", as ground truth is" if lists[0] == "annotations" else ""
        return f"an object{truth}, whose {quoted(lists[0])} holds a list (send that list alone)"
    if "images" in value or "annotations" in value:
        return "an object, as ground truth is"
    return "an object of lists, as a form has them" if lists else "an object"


@dataclass(frozen=True)
class NoJson:
    """It stands for an entry that is no JSON; `why` follows the entry's place in its fault."""

    why: str


def read_one_by_one(places: Iterable[str], entries: Sequence[Any]) -> CocoResults:
    """Read entries of any form; raise `FormatError`, which names the places of the faulty ones."""
    names: set[str] = set().union(*(entry for entry in entries if isinstance(entry, dict)))
    # Without any score each is 1.0, but confidences under another name are not left out unseen.
    scored = "score" in names or any(
        meaning_of(name) == ("confidence",) for name in islice(names, _MOST_NAMES)
    )
    faults = Faults()
    ids: list[tuple[int, int]] = []
    numbers: list[list[float]] = []
    for place, entry in zip(places, entries, strict=True):
        detection = _Entry(place, entry, faults)
        ids.append((detection.whole("image_id"), detection.whole("category_id")))
        numbers.append([detection.number("score") if scored else 1.0, *detection.box()])
    faults.raise_if_any()
    id_table = np.array(ids, dtype=np.int64).reshape(-1, 2)
    table = np.array(numbers, dtype=np.float64).reshape(-1, 5)
    return CocoResults(id_table[:, 0], id_table[:, 1], table[:, 0].copy(), table[:, 1:].copy())


class _Entry:
    """One entry of the list; reading a field adds the field's faults to `faults`."""

    def __init__(self, place: str, entry: object, faults: Faults) -> None:
        self._place = place
        self._faults = faults
        self._fields = entry if isinstance(entry, dict) else None
        if isinstance(entry, NoJson):
            faults.add(f"{place}{entry.why}")
        elif self._fields is None:
            faults.add(f"{place} is not an object")

    def whole(self, field: str) -> int:
        """Return a field's whole number, `UNKNOWN_IMAGE` if it does not fit into 64 bits."""
        value = self._field(field)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value if -_INT64_LIMIT <= value < _INT64_LIMIT else UNKNOWN_IMAGE
        return int(self._not(field, value, "a whole number"))

    def number(self, field: str) -> float:
        """Return a field's number."""
        return self._number(field, self._field(field))

    def box(self) -> list[float]:
        """Return the four numbers of `bbox`."""
        box = self._field("bbox")
        if isinstance(box, list) and len(box) == 4:
            return [self._number("bbox", value) for value in box]
        if box is not _MISSING:
            self._faults.add(f"{self._place}, bbox: give four numbers [x, y, width, height]")
        return [0.0] * 4

    def _field(self, field: str) -> object:
        """Return a field's value; note a missing field and return `_MISSING` for it."""
        if self._fields is None:
            return _MISSING
        if field not in self._fields:
            names = islice(self._fields, _MOST_NAMES)
            other = [name for name in names if meaning_of(name) == meaning_of(field)]
            hint = f": its {quoted(other[0])} is not used, the name is {field}" if other else ""
            self._faults.add(f"{self._place} has no {field}{hint}")
            return _MISSING
        value: object = self._fields[field]
        return value

    def _number(self, field: str, value: object) -> float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                return float(value)
            except OverflowError:
                # An integer too large for a float is infinite, as 1e400 is in JSON.
                return float("inf") if value > 0 else float("-inf")
        return self._not(field, value, "a number")

    def _not(self, field: str, value: object, kind: str) -> float:
        """Note that a value is not of this kind, unless it is missing, and return 0."""
        if value is not _MISSING:
            self._faults.add(f"{self._place}, {field}: {shown(value)} is not {kind}")
        return 0.0


_MISSING = object()
