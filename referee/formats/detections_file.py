# SPDX-License-Identifier: Apache-2.0
"""Detections from a file: COCO results JSON, or lines of numbers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from referee.core.detections import Detections
from referee.errors import InputError
from referee.formats.json_fields import number, object_at, whole
from referee.formats.number_table import are_whole, parse_numbers
from referee.formats.text import (
    cells,
    load_json,
    parse_cell,
    read_bytes,
    require_width,
    whole_number,
)
from referee.scoring.coco_boxes import CocoResults

LINE_FIELDS: tuple[str, ...] = (
    "image_id",
    "class_id",
    "confidence",
    "xmin",
    "ymin",
    "xmax",
    "ymax",
)
"""Fields of a line of detections; lines of six fields leave the confidence out."""

_NO_CONFIDENCE = tuple(field for field in LINE_FIELDS if field != "confidence")

# The number of fields is told by the first line that is not empty; it stands within these bytes.
_FIRST_LINES = 65536


def read_detections(path: Path) -> Detections:
    """Read detections; a file that begins with `[` is COCO results, others are lines.

    A line is `image_id class_id confidence xmin ymin xmax ymax`, separated by commas or blanks;
    without confidence in all lines it is 1.0. Numbers are read as Python's float() reads them,
    so NaN and infinity are taken: judging them is the scorer's business. Raises InputError naming
    file, line and field.
    """
    content = read_bytes(path)
    if _is_results(path, content):
        return _from_results(path, load_json(path, content)).to_detections()
    return _from_lines(path, content)


def read_coco_results(path: Path) -> CocoResults:
    """Read the same files in COCO's terms, x, y, width, height, as results JSON has them."""
    content = read_bytes(path)
    if _is_results(path, content):
        return _from_results(path, load_json(path, content))
    return CocoResults.from_detections(_from_lines(path, content))


def _is_results(path: Path, content: bytes) -> bool:
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        raise InputError(f"{path} is a JSON object, as ground truth is: COCO results are a list")
    return start == b"["


def _from_lines(path: Path, content: bytes) -> Detections:
    """Read lines by whole arrays; only what that does not take is read line by line."""
    first = next(cells(path, content[: content.find(b"\n", _FIRST_LINES) + 1 or None]), None)
    fields = _NO_CONFIDENCE if first and len(first[1]) == len(_NO_CONFIDENCE) else LINE_FIELDS
    table = parse_numbers(content, len(fields))
    if table is None or not are_whole(table[:, :2]):
        return _from_slow_lines(path, content, fields)
    ids = table[:, :2].astype(np.int64)
    confidence = table[:, 2].copy() if fields is LINE_FIELDS else np.ones(len(table))
    return Detections(ids[:, 0], ids[:, 1], confidence, table[:, -4:].copy())


def _from_slow_lines(path: Path, content: bytes, fields: tuple[str, ...]) -> Detections:
    rows: list[list[float]] = []
    for line, row in cells(path, content):
        require_width(path, line, row, fields)
        rows.append(
            [
                (
                    parse_cell(path, line, field, text, whole_number, "a whole number")
                    if field.endswith("_id")
                    else parse_cell(path, line, field, text, float, "a number")
                )
                for field, text in zip(fields, row, strict=True)
            ]
        )
    if fields is _NO_CONFIDENCE:
        rows = [[*row[:2], 1.0, *row[2:]] for row in rows]
    return Detections.from_rows(rows)


def _from_results(path: Path, entries: list[Any]) -> CocoResults:
    """Take results by whole columns; only what that does not take is read one by one."""
    try:
        found = _from_columns(entries)
    except (KeyError, TypeError, ValueError, OverflowError):
        found = None
    return _from_single_results(path, entries) if found is None else found


def _from_columns(entries: list[Any]) -> CocoResults | None:
    """Read results that are all complete and of the right types; None or an error for others."""
    ids = [[entry[field] for entry in entries] for field in ("image_id", "category_id")]
    score = [entry["score"] for entry in entries]
    boxes = [entry["bbox"] for entry in entries]
    if not all(set(map(type, column)) <= {int} for column in ids):
        return None
    numbers = itertools.chain(score, itertools.chain.from_iterable(boxes))
    if not set(map(type, numbers)) <= {int, float} or not set(map(len, boxes)) <= {4}:
        return None
    return CocoResults(
        np.array(ids[0], dtype=np.int64),
        np.array(ids[1], dtype=np.int64),
        np.array(score, dtype=np.float64),
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
    )


def _from_single_results(path: Path, entries: list[Any]) -> CocoResults:
    scored = any(isinstance(entry, dict) and "score" in entry for entry in entries)
    ids, confidence, boxes = [], [], []
    for index, entry in enumerate(entries):
        place = f"result [{index}]"
        if not isinstance(entry, dict):
            raise InputError(f"{path}, {place} is not an object")
        box = object_at(path, place, entry, "bbox")
        if not isinstance(box, list) or len(box) != 4:
            raise InputError(f"{path}, {place}, bbox: give four numbers [x, y, width, height]")
        boxes.append([number(path, place, "bbox", value) for value in box])
        ids.append(
            (whole(path, place, entry, "image_id"), whole(path, place, entry, "category_id"))
        )
        score = object_at(path, place, entry, "score") if scored else 1.0
        confidence.append(number(path, place, "score", score))
    id_table = np.array(ids, dtype=np.int64).reshape(-1, 2)
    return CocoResults(
        id_table[:, 0],
        id_table[:, 1],
        np.array(confidence, dtype=np.float64),
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
    )
