# SPDX-License-Identifier: Apache-2.0
"""Detections from a file: COCO results or lines, in the grammar of posts and a little more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from referee.core.coco_boxes import CocoResults
from referee.core.detections import Detections
from referee.errors import InputError
from referee.formats.detection_lines import FIELDS_WITHOUT_CONFIDENCE, LINE_FIELDS, begin_lines
from referee.formats.faults import FormatError
from referee.formats.text import STANDARD_INPUT, plain_file, read_bytes

_JSON = ".json"
_JSON_LINES = (".jsonl", ".ndjson")
# The beginning of a file that shows what it holds: more than a line of one result.
_LOOK_BYTES = 1000

_Read = CocoResults | Detections
_Value = TypeVar("_Value")


def read_detections(path: Path) -> Detections:
    """Read the detections of a file.

    A file named `.json`, or one that begins with `[` or `{`, holds COCO results. A file named
    `.jsonl` or `.ndjson`, or one whose first line is a whole result, holds JSON lines. Any other
    file holds lines, see `detection_lines` and `text`. Raises InputError, which names the file and
    its faults.
    """
    return begin_detections(path)()


def begin_detections(path: Path) -> Callable[[], Detections]:
    """Begin to read a file, beside the caller's own work; return a function that ends it.

    The function returns and raises what `read_detections` does. It gives the detections away: call
    it once.
    """
    finish = begin_detections_and_form(path)
    return lambda: finish()[0]


def begin_detections_and_form(path: Path) -> Callable[[], tuple[Detections, bool]]:
    """Do as `begin_detections`; the function also tells whether the file holds COCO results."""
    finish = _begin(path)

    def detections() -> tuple[Detections, bool]:
        rows = finish()
        return (rows.to_detections(), True) if isinstance(rows, CocoResults) else (rows, False)

    return detections


def begin_coco_results(path: Path) -> Callable[[], CocoResults]:
    """Begin to read the same files as `begin_detections`, with boxes as x, y, width, height."""
    finish = _begin(path)

    def results() -> CocoResults:
        rows = finish()
        return rows if isinstance(rows, CocoResults) else CocoResults.from_detections(rows)

    return results


def _begin(path: Path) -> Callable[[], _Read]:
    if path is STANDARD_INPUT:  # To wait for it now would delay what is said of other files.
        return lambda: _begin_content(path, read_bytes(path))()
    return _begin_content(path, read_bytes(path))


def _begin_content(path: Path, content: bytes) -> Callable[[], _Read]:
    """Begin to parse; a thread would do no good, only a second process parses beside this one."""
    suffix = path.suffix.lower()
    beginning = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:_LOOK_BYTES]
    if suffix in (_JSON, *_JSON_LINES) or beginning[:1] in (b"[", b"{"):
        # Loaded here: lines need no decoder of JSON.
        from referee.formats.coco_results import begin_results
        from referee.formats.json_lines import begin_json_lines, is_json_line

        by_line = suffix in _JSON_LINES or (suffix != _JSON and is_json_line(beginning))
        begin = begin_json_lines if by_line else begin_results
        return partial(_named, path, begin(content))
    lines = plain_file(path, content, LINE_FIELDS, FIELDS_WITHOUT_CONFIDENCE)
    return partial(_named, path, _named(path, partial(begin_lines, lines)))


def _named(path: Path, read: Callable[[], _Value]) -> _Value:
    """Name the file in a fault of its text."""
    try:
        return read()
    except FormatError as error:
        raise InputError(f"{path}, {error}") from None
