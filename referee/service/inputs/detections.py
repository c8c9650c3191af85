# SPDX-License-Identifier: Apache-2.0
"""Detections from a file: COCO results JSON, or lines of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from referee.core.detections import Detections
from referee.errors import InputError
from referee.service.inputs.json_fields import number, object_at, whole
from referee.service.inputs.text import cells, load_json, parse_cell, read_bytes, whole_number

__all__ = ["LINE_FIELDS", "is_coco_results", "read_detections"]

LINE_FIELDS = ("image_id", "class_id", "confidence", "xmin", "ymin", "xmax", "ymax")
"""Fields of a line of detections; lines of six fields leave the confidence out."""


def read_detections(path: Path) -> Detections:
    """Read detections; a file that begins with `[` is COCO results, others are lines.

    A line is `image_id class_id confidence xmin ymin xmax ymax`, separated by commas or blanks;
    without confidence in all lines it is 1.0. Numbers are read as Python's float() reads them,
    so NaN and infinity are taken: judging them is the scorer's business. Raises InputError naming
    file, line and field.
    """
    content = read_bytes(path)
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        raise InputError(f"{path} is a JSON object, as ground truth is: COCO results are a list")
    if start == b"[":
        return _from_results(path, load_json(path, content))
    return _from_lines(path, content)


def is_coco_results(path: Path) -> bool:
    """Tell whether a file of detections is COCO results, whose image ids are the truth's own."""
    return read_bytes(path).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["


def _from_lines(path: Path, content: bytes) -> Detections:
    rows: list[list[float]] = []
    fields: tuple[str, ...] = LINE_FIELDS
    for line, row in cells(path, content):
        if not rows and len(row) == len(LINE_FIELDS) - 1:
            fields = tuple(field for field in LINE_FIELDS if field != "confidence")
        if len(row) != len(fields):
            raise InputError(
                f"{path}, line {line} has {len(row)} fields, not {len(fields)}:"
                f" give {' '.join(fields)}"
            )
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
    if fields is not LINE_FIELDS:
        rows = [[*row[:2], 1.0, *row[2:]] for row in rows]
    return Detections.from_rows(rows)


def _from_results(path: Path, entries: list[Any]) -> Detections:
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
    box = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    box[:, 2:] += box[:, :2] - 1
    id_table = np.array(ids, dtype=np.int64).reshape(-1, 2)
    return Detections(id_table[:, 0], id_table[:, 1], np.array(confidence, dtype=np.float64), box)
