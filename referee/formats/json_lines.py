# SPDX-License-Identifier: Apache-2.0
"""Detections as JSON lines, posted or in a file: each line is one object of COCO results.

The fields and their grammar are those of `coco_results`. A blank line is skipped, and has a number.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from referee.core.coco_boxes import CocoResults
from referee.core.garbage import collections_paused
from referee.formats.coco_results import (
    NoJson,
    UsualResult,
    any_number,
    read_one_by_one,
    write_usual,
)
from referee.formats.fast_reading import Columns, Pieces, begin_rows, fast_or_slow, read_rows
from referee.formats.json_text import TypedDecoder, bare, why_not_json, without_mark
from referee.formats.lines import refuse_other_text
from referee.formats.number_table import line_spans

_USUAL = TypedDecoder(UsualResult)


def parse_json_lines(content: bytes, allow: Callable[[int], None] = any_number) -> CocoResults:
    """Parse JSON lines of results.

    `allow` gets the number of lines that are not blank before any of them is judged, and may raise.
    Raises `FormatError`, which names the lines that are no results.
    """
    allow(len(_lines(content)))
    return _results(partial(read_rows, _pieces(content)), content)


@collections_paused()
def begin_json_lines(content: bytes) -> Callable[[], CocoResults]:
    """Begin to parse a long text in a second process; return a function that ends what it began.

    The function returns and raises what `parse_json_lines` does.
    """
    rows = begin_rows(_pieces(content))
    return collections_paused()(partial(_results, rows, content))


def is_json_line(beginning: bytes) -> bool:
    """Tell whether a text begins with one result, whole, and the end of its line."""
    line, end, _ = beginning.partition(b"\n")
    if not end:  # It may be any JSON: one object is most often a list without its brackets.
        return False
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and "image_id" in entry


def _results(rows: Callable[[], Columns | None], content: bytes) -> CocoResults:
    def fast() -> CocoResults | None:
        columns = rows()
        return None if columns is None else CocoResults(*columns)

    return fast_or_slow(fast, partial(_line_by_line, content))


def _lines(content: bytes) -> list[bytes]:
    return [line for line in content.split(b"\n") if line.strip()]


def _pieces(content: bytes) -> Pieces:
    content = bare(content)
    return Pieces(content, list(line_spans(content)), b"{", _read_piece)  # Each result has a brace.


def _read_piece(piece: bytes, room: Callable[[int], Columns]) -> int | None:
    """Write the results of whole lines; return None if one of them is not usual."""
    entries = []
    for line in _lines(piece):
        entry = _USUAL.decode(line)
        if entry is None:
            return None
        entries.append(entry)
    return write_usual(entries, room)


def _line_by_line(content: bytes) -> CocoResults:
    refuse_other_text(content)
    lines = enumerate(without_mark(content).split(b"\n"), 1)
    numbered = [(number, line) for number, line in lines if line.strip()]
    places = [f"line {number}" for number, _ in numbered]
    return read_one_by_one(places, [_entry(line) for _, line in numbered])


def _entry(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except json.JSONDecodeError as error:
        advice = "give one object a line"
        if error.msg == "Extra data":
            advice += ", and keep the line ends: curl --data-binary @FILE does, -d @FILE does not"
        return NoJson(f", column {error.colno}: {why_not_json(error)}; {advice}")
    except (ValueError, RecursionError) as error:
        return NoJson(f": {why_not_json(error)}")
