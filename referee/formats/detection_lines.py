# SPDX-License-Identifier: Apache-2.0
"""Detections as lines of numbers, posted or in a file; long texts are parsed by whole arrays.

A line is `image_id class_id confidence xmin ymin xmax ymax`. The modules `lines` and `numbers`
define its grammar. If the first line has no confidence, no line may have one, and every confidence
is 1.0. An image id may be a file name, `7.jpg`. An id that needs more than 64 bits names no image
and no class. NaN and infinity are taken; the scorer judges them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from referee.core.detections import Detections
from referee.formats.fast_reading import Columns, Pieces, begin_rows, fast_or_slow, is_long
from referee.formats.faults import Faults, quoted
from referee.formats.lines import plain_lines, short_lines, split_cells, width_fault
from referee.formats.number_table import are_whole, line_spans, parse_block
from referee.formats.numbers import class_number, image_number, number
from referee.formats.text_columns import to_floats, to_ids

LINE_FIELDS: tuple[str, ...] = (
    "image_id",
    "class_id",
    "confidence",
    "xmin",
    "ymin",
    "xmax",
    "ymax",
)
"""Fields of a line of detections; a line of six fields has no confidence."""

FIELDS_WITHOUT_CONFIDENCE = tuple(field for field in LINE_FIELDS if field != "confidence")
"""Fields of a line of detections without confidence."""


# The first line that is not empty decides the number of fields; it is looked for in these bytes.
_FIRST_LINES = 65536
_FULL_LINE = re.compile(rb"[^ \t\n][^\n]*")
# Below this many bytes whole arrays cost more than they save.
_FEW = 2**14
# float() also reads underscores and other white space. The grammar has neither.
_STRANGE = re.compile(r"[^\t\n +-9A-Za-z]")


def count_lines(content: bytes) -> int:
    """Count the lines that are not blank: each is one detection, well-formed or not."""
    return sum(1 for _ in _FULL_LINE.finditer(plain_lines(content)))


def parse_lines(content: bytes) -> Detections:
    """Parse lines; raise `FormatError` naming the lines that are wrong."""
    content = short_lines(content)
    faults = Faults()
    if len(content) < _FEW:
        detections = _from_text(_text(content), 1, None, faults)
        faults.raise_if_any()
        return detections
    fields = fields_of(content)

    def rows(span: slice) -> Detections:
        block = content[span]

        def slow() -> Detections:
            first = 1 + content.count(b"\n", 0, span.start)
            return _from_text(_text(block), first, fields, faults)

        return fast_or_slow(partial(_from_table, block, len(fields)), slow)

    parts = [rows(span) for span in line_spans(content)]
    faults.raise_if_any()
    return Detections.concatenate(parts)


def begin_lines(content: bytes) -> Callable[[], Detections]:
    """Begin to parse a long text in a second process; return a function that ends what it began.

    The function returns and raises what `parse_lines` does. Raises `FormatError` itself for a text
    in UTF-16, and for a line that is too long.
    """
    if not is_long(content):
        return partial(parse_lines, content)
    lines = short_lines(content)
    if not lines.endswith(b"\n"):
        lines += b"\n"  # So each row has one.
    read = partial(_read_piece, len(fields_of(lines)))
    rows = begin_rows(Pieces(lines, list(line_spans(lines)), b"\n", read))

    def fast() -> Detections | None:
        columns = rows()
        return None if columns is None else Detections(*columns)

    return lambda: fast_or_slow(fast, lambda: parse_lines(content))


def _read_piece(width: int, piece: bytes, room: Callable[[int], Columns]) -> int | None:
    """Write the detections of whole lines; return None if they are no table of detections."""
    detections = _from_table(piece, width)
    if detections is None:
        return None
    values = (detections.image_id, detections.class_id, detections.confidence, detections.box)
    for column, numbers in zip(room(len(detections)), values, strict=True):
        column[:] = numbers
    return len(detections)


def fields_of(content: bytes) -> tuple[str, ...]:
    """Return the fields of every line, decided by the first line that is not empty."""
    content = plain_lines(content)
    beginning = _text(content[: content.find(b"\n", _FIRST_LINES) + 1 or None])
    cells = map(split_cells, beginning.split("\n"))
    return _fields(next(filter(None, cells), []))


def _fields(cells: list[str]) -> tuple[str, ...]:
    short = len(cells) == len(FIELDS_WITHOUT_CONFIDENCE)
    return FIELDS_WITHOUT_CONFIDENCE if short else LINE_FIELDS


def _text(content: bytes) -> str:
    """Decode ASCII; any other byte becomes an escape such as `\\xff`, which no number contains."""
    return content.decode("ascii", "backslashreplace")


def _from_table(block: bytes, width: int) -> Detections | None:
    """Read whole lines as a table; return None for what needs `_from_text`."""
    table = parse_block(block, width)
    if table is None or not are_whole(table[:, :2]):
        return None
    ids = table[:, :2].astype(np.int64)
    confidence = table[:, 2] if width == len(LINE_FIELDS) else np.ones(len(table))
    # These columns are views. Joining several blocks copies them once.
    return Detections(ids[:, 0], ids[:, 1], confidence, table[:, -4:])


def _from_text(text: str, first: int, fields: tuple[str, ...] | None, faults: Faults) -> Detections:
    """Parse lines cell by cell; add the faults of each line to `faults`.

    `first` is the number of the first line. Without `fields` the first line decides them.
    """
    ordinary = not _STRANGE.search(text)
    numbered = [(n, row) for n, row in enumerate(_rows(text, ordinary), first) if row]
    if not numbered:
        return Detections.empty()
    fields = fields or _fields(numbered[0][1])
    width = len(fields)
    for place, row in numbered:
        if len(row) != width:
            faults.add(width_fault(place, row, fields))
    # Check the cells of the other lines too, so that all faults are told at once.
    numbered = [(place, row) for place, row in numbered if len(row) == width]
    columns = list(zip(*(row for _, row in numbered), strict=True)) or [()] * width
    ids = to_ids(columns[0], columns[1], image_number, class_number)
    floats = to_floats(columns[2:], float if ordinary else number)
    if ids is None or floats is None:
        for place, row in numbered:
            _name_faults(place, row, fields, faults)
        return Detections.empty()
    confidence = floats[0] if width == len(LINE_FIELDS) else np.ones(len(numbered))
    return Detections(ids[0], ids[1], confidence, floats[-4:].T.copy())


def _rows(text: str, ordinary: bool) -> Iterable[list[str]]:
    """Return the cells of each line; a text that separates by blanks alone is split fast."""
    lines = text.split("\n")
    if ordinary and "," not in text:
        return map(str.split, lines)
    return map(split_cells, lines)


def _name_faults(place: int, cells: list[str], fields: tuple[str, ...], faults: Faults) -> None:
    convert: Callable[[str], float]
    for field, text in zip(fields, cells, strict=True):
        kind = "a number"
        convert = number
        if field.endswith("_id"):
            kind = "a whole number"
            convert = image_number if field == "image_id" else class_number
        try:
            convert(text)
        except ValueError:
            faults.add(f"line {place}, {field}: {quoted(text)} is not {kind}")
