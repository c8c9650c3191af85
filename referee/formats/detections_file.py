# SPDX-License-Identifier: Apache-2.0
"""Detections from a file: COCO results or lines, in the grammar of posts and a little more."""

from __future__ import annotations

from pathlib import Path

from referee.core.coco_boxes import CocoResults
from referee.core.detections import Detections
from referee.errors import InputError
from referee.formats.detection_lines import FIELDS_WITHOUT_CONFIDENCE, LINE_FIELDS, parse_lines
from referee.formats.faults import FormatError
from referee.formats.file_lines import plain_file
from referee.formats.text import read_bytes


def read_detections(path: Path) -> Detections:
    """Read the detections of a file.

    A file named `.json`, or one that begins with `[` or `{`, holds COCO results. Any other file
    holds lines, see `detection_lines` and `file_lines`. Raises InputError, which names the file
    and its faults.
    """
    found = _read(path)
    return found.to_detections() if isinstance(found, CocoResults) else found


def read_coco_results(path: Path) -> CocoResults:
    """Read the same files as `read_detections`, with boxes as x, y, width, height."""
    found = _read(path)
    return found if isinstance(found, CocoResults) else CocoResults.from_detections(found)


def _read(path: Path) -> CocoResults | Detections:
    content = read_bytes(path)
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    try:
        if path.suffix.lower() == ".json" or start in (b"[", b"{"):
            # Loaded here: lines need no decoder of JSON.
            from referee.formats.coco_results import parse_results
            from referee.formats.typed_json import collections_paused

            with collections_paused():
                return parse_results(content, large=True)
        lines = plain_file(path, content, LINE_FIELDS, FIELDS_WITHOUT_CONFIDENCE)
        return parse_lines(lines, large=True)
    except FormatError as error:
        raise InputError(f"{path}, {error}") from None
