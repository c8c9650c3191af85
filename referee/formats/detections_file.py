# SPDX-License-Identifier: Apache-2.0
"""Detections from a file, in the grammar of what is posted: COCO results, or lines."""

from __future__ import annotations

import os
from pathlib import Path

from referee.core.coco_boxes import CocoResults
from referee.core.detections import Detections
from referee.errors import InputError
from referee.formats.coco_results import load_results, to_results
from referee.formats.detection_lines import parse_lines
from referee.formats.faults import FormatError
from referee.formats.text import read_bytes

_THREADS = min(4, os.cpu_count() or 1)


def read_detections(path: Path) -> Detections:
    """Read detections; a file named `.json`, or one that begins with `[` or `{`, is COCO results.

    Others are lines, see `detection_lines`. Raises InputError naming the file and what is wrong.
    """
    found = _read(path)
    return found.to_detections() if isinstance(found, CocoResults) else found


def read_coco_results(path: Path) -> CocoResults:
    """Read the same files in COCO's terms, x, y, width, height, as results JSON has them."""
    found = _read(path)
    return found if isinstance(found, CocoResults) else CocoResults.from_detections(found)


def _read(path: Path) -> CocoResults | Detections:
    content = read_bytes(path)
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    try:
        if path.suffix.lower() == ".json" or start in (b"[", b"{"):
            return to_results(load_results(content))
        return parse_lines(content, threads=_THREADS)
    except FormatError as error:
        raise InputError(f"{path}, {error}") from None
