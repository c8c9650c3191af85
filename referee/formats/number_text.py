# SPDX-License-Identifier: Apache-2.0
"""Detections as lines of text; each number is as short as reads back to the same bits."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np

from referee.core.detections import Detections

# Rows that are written at once: their numbers take half a megabyte as Python's objects,
# which then stay in the processor's cache.
_AT_ONCE = 2048

_encode_lines = msgspec.json.Encoder().encode_lines


def detection_lines(detections: Detections) -> bytes:
    """Return `image_id,class_id,confidence,xmin,ymin,xmax,ymax`, one line for each detection."""
    return b"".join(
        _lines(detections.select(slice(start, start + _AT_ONCE)))
        for start in range(0, len(detections), _AT_ONCE)
    )


def csv_lines(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as lines of CSV in UTF-8."""
    lines = io.StringIO(newline="")
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue().encode("utf-8")


def detection_rows(detections: Detections) -> Iterator[Sequence[float]]:
    """Yield the same values as `detection_lines`, a row for each detection."""
    columns = (detections.image_id, detections.class_id, detections.confidence, *detections.box.T)
    return zip(*(column.tolist() for column in columns), strict=True)


def _lines(part: Detections) -> bytes:
    rows = list(detection_rows(part))
    # JSON has no NaN and no infinity. A NaN may have a sign, and its bits count.
    if not (np.isfinite(part.confidence).all() and np.isfinite(part.box).all()):
        return csv_lines([[_signed(value) for value in row] for row in rows])
    return _encode_lines(rows).translate(None, b"[]")


def _signed(value: float) -> float | str:
    return "-nan" if value != value and math.copysign(1, value) < 0 else value
