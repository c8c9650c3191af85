# SPDX-License-Identifier: Apache-2.0
"""Answers of detections as contestants post them: form lists, JSON or CSV.

A post is taken whole or refused whole. A refusal lists the faults of the post at once, so a
contestant need not find them one by one. JSON and CSV follow the same grammar as files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from referee.core.coco_boxes import CocoResults
from referee.core.counts import counted
from referee.core.detections import Detections
from referee.errors import Refusal
from referee.formats.coco_results import parse_results
from referee.formats.detection_lines import (
    FIELDS_WITHOUT_CONFIDENCE,
    count_lines,
    fields_of,
    parse_lines,
)
from referee.formats.faults import Faults, FormatError, quoted
from referee.formats.image_numbers import UNKNOWN_IMAGE, parse_posted_image
from referee.formats.lines import plain_lines, split_cells
from referee.formats.text_columns import to_floats, to_ids
from referee.formats.unused_fields import meaning_of

FORM_FIELDS = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")
"""The parallel lists of a form post, under the names that the clients of 2015-2019 send."""

REFUSALS = ("lists_unequal", "fields_unused", "not_a_number", "too_many_rows")
"""The codes with which an answer is refused, beside those of the formats of its other types."""

MAX_ROWS = 200_000
"""Most detections in one answer: four times as many as in the whole sample answer file."""

MAX_JSON_COMMAS = 16 * MAX_ROWS
"""Most commas in one JSON answer: twice what the longest has. Each may cost a hundred bytes."""

_INT64_LIMIT = 2**63
# Several numbers in one value: str() of a list or array, or numbers joined. 1,5 may be one number.
_LIST = re.compile(r"^[\[(].*[\])]$|[,; ].*[,; ]")
_PLAIN_CELL = re.compile(r"[-+.\w]+", re.ASCII)
# The fewest cells of two lines that have become one: the last of one and the first of the other are
# one cell.
_TWO_LINES = 2 * len(FIELDS_WITHOUT_CONFIDENCE) - 1
# The part of a post in which its first lines are looked at.
_FIRST_LINES = 20_000


@contextmanager
def refused(code: str) -> Iterator[None]:
    """Turn a `FormatError` of the block into the refusal of the post, with this code."""
    try:
        yield
    except FormatError as error:
        raise _refusal(code, error) from None


def parse_form(fields: Mapping[str, Sequence[str]]) -> Detections:
    """Parse the parallel lists of a form post.

    `fields` maps a field's name to its values in the order sent. Names outside `FORM_FIELDS` are
    ignored: `unused_fields` judges them. A post without any list is an empty answer. Without
    `confidence` every detection has confidence 1.0. Numbers follow Python's float(), so NaN and
    infinity are taken.

    Raises `Refusal` with one of these codes: `lists_unequal` when a list is shorter or longer than
    `image_name` (the refusal then also lists the values that are not numbers); `not_a_number`,
    also for any text that is not ASCII; `too_many_rows`.
    """
    names = fields.get("image_name", ())
    require_rows(len(names))
    columns = [fields.get(field, ()) for field in FORM_FIELDS]
    missing = not columns[2]
    columns[2] = columns[2] or ("1.0",) * len(names)
    unequal = len(set(map(len, columns))) > 1
    detections = None if unequal else _from_text_columns(columns)
    if detections is None:
        raise _bad_form(columns, "lists_unequal" if unequal else "not_a_number")
    return replace(detections, without_confidence=missing)


def parse_csv(body: bytes) -> Detections:
    """Parse lines of detections, as `detection_lines` reads them.

    Raises `Refusal` with code `csv_invalid`, naming the lines, or `too_many_rows`.
    """
    if body.count(b"\n") + body.count(b"\r") >= MAX_ROWS:
        require_rows(count_lines(body))
    try:
        detections = parse_lines(body)
    except FormatError as error:
        raise _refusal("csv_invalid", error, _advice_on_lines(body)) from None
    return replace(detections, without_confidence=fields_of(body) == FIELDS_WITHOUT_CONFIDENCE)


def parse_json(body: bytes) -> Detections:
    """Parse COCO results, as `coco_results` reads them.

    Raises `Refusal` with code `json_invalid`, naming the entries, or `too_many_rows`.
    """
    return parse_coco(parse_results, "json_invalid", body)


def parse_coco(
    read: Callable[[bytes, Callable[[int], None]], CocoResults], code: str, body: bytes
) -> Detections:
    """Parse objects of COCO results by a reader, which gets the body and the limit of rows.

    Raises `Refusal` with this code, or `too_many_rows`.
    """
    if body.count(b",") > MAX_JSON_COMMAS:
        raise Refusal(
            "too_many_rows",
            f"Nothing was stored: the JSON has more values than {MAX_ROWS} detections need; leave "
            "out what is not image_id, category_id, bbox or score, or send it in several posts.",
        )
    with refused(code):
        detections = read(body, require_rows).to_detections()
    return replace(detections, without_confidence=b'"score"' not in body)


def _advice_on_lines(body: bytes) -> str:
    """Return what to do where a faulty post has a header, or has lost the ends of its lines."""
    lines = plain_lines(body[:_FIRST_LINES]).decode("ascii", "backslashreplace").split("\n")
    full = [(place, split_cells(line)) for place, line in enumerate(lines, 1) if line.strip()]
    names = [cell.strip("\"'") for cell in full[0][1]] if full else []
    if sum(bool(_PLAIN_CELL.fullmatch(name) and meaning_of(name)) for name in names) > 1:
        return f" Line {full[0][0]} is a header: leave it out, a post has rows alone."
    joined = len(full) == 1 and len(full[0][1]) >= _TWO_LINES
    if joined and all(map(_PLAIN_CELL.fullmatch, full[0][1])):
        return " It is one line: curl -d @FILE drops line ends, --data-binary @FILE keeps them."
    return ""


def require_rows(count: int) -> None:
    """Raise `Refusal` with code `too_many_rows` for more rows than one post may have."""
    if count > MAX_ROWS:
        raise Refusal(
            "too_many_rows",
            f"Nothing was stored: {count} detections in one post, at most {MAX_ROWS} are taken; "
            "send them in several posts.",
        )


def _from_text_columns(columns: Sequence[Sequence[str]]) -> Detections | None:
    """Convert the columns of `FORM_FIELDS`; return None if a cell is not a number."""
    # int() and float() also read digits of other scripts. No client means those.
    if not "".join(map("".join, columns)).isascii():
        return None
    ids = to_ids(columns[0], columns[1], _image_number, _integer)
    floats = to_floats(columns[2:])
    if ids is None or floats is None:
        return None
    return Detections(ids[0], ids[1], floats[0], floats[1:].T.copy())


def _bad_form(columns: Sequence[Sequence[str]], code: str) -> Refusal:
    """Return the refusal of a form, with its faults: lists of other lengths, then bad cells.

    The fast conversion only says that a cell is wrong. This goes cell by cell to say which.
    """
    faults = Faults()
    rows = len(columns[0])
    for name, texts in zip(FORM_FIELDS, columns, strict=True):
        if len(texts) != rows:
            faults.add(f"{name} has {counted(len(texts), 'value')} and image_name has {rows}")
    readers: list[Callable[[str], float]] = [_image_number, _integer, *[float] * 5]
    for name, texts, read in zip(FORM_FIELDS, columns, readers, strict=True):
        for row, text in enumerate(texts, 1):
            try:
                read(text if text.isascii() else "")
            except ValueError:
                faults.add(f"row {row}: {name} {quoted(text)} is not a number")
    joined = any(_LIST.search(text) for texts in columns for text in texts[:1])
    # The number of an image has neither a comma nor a blank within.
    joined = joined or any(set(",; ") & set(text.strip()) for text in columns[0][:1])
    advice = " A list is sent as one field for each value: xmin=1&xmin=2." if joined else ""
    return _refusal(code, faults.error(), advice)


def _refusal(code: str, error: FormatError, advice: str = "") -> Refusal:
    return Refusal(code, f"Nothing was stored: {error}.{advice}", error.faults)


def _image_number(text: str) -> int:
    return int(text) if len(text) < 18 and text.isdigit() else parse_posted_image(text)


def _integer(text: str) -> int:
    """Read a class id: an integer, or a float without a fraction, as numeric libraries print."""
    try:
        number = int(text)
    except ValueError:
        value = float(text)
        if not value.is_integer():
            raise ValueError(text) from None
        number = int(value)
    return number if -_INT64_LIMIT <= number < _INT64_LIMIT else UNKNOWN_IMAGE
