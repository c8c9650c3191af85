# SPDX-License-Identifier: Apache-2.0
"""Rows that are stored and can never match. The contestant is told which, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections

_REASONS = (
    "unknown image",
    "class out of range",
    "confidence not finite",
    "coordinate not finite",
    "inverted box",
)


@dataclass(frozen=True)
class Flag:
    """One row of an answer, counted from 0, and why it can never count."""

    row: int
    reason: str


def flag_rows(
    detections: Detections, image_count: int, class_ids: NDArray[np.int64]
) -> tuple[Flag, ...]:
    """Return a flag for each row that no ground truth can match, by ascending row.

    A row gets the first reason that applies: an image outside 1…image_count, a class outside
    `class_ids` (ascending), a confidence or coordinate that is not finite, corners the wrong way
    round.
    """
    image = detections.image_id
    box = detections.box
    known = (image >= 1) & (image <= image_count)
    listed = _listed(detections.class_id, class_ids)
    sure = np.isfinite(detections.confidence)
    finite = np.isfinite(box)
    upright = (box[:, 0] <= box[:, 2]) & (box[:, 1] <= box[:, 3])
    # Most answers have nothing to flag, and counting is the fastest way to see that: a good row
    # has eight marks, four of them for its corners.
    marks = sum(map(np.count_nonzero, (known, listed, sure, finite, upright)))
    if marks == 8 * len(detections):
        return ()
    applies = ~np.array((known, listed, sure, finite.all(axis=1), upright))
    rows = np.flatnonzero(applies.any(axis=0))
    first = applies[:, rows].argmax(axis=0)
    return tuple(
        Flag(row, _REASONS[index]) for row, index in zip(rows.tolist(), first.tolist(), strict=True)
    )


def _listed(class_id: NDArray[np.int64], class_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell of each class whether it is one of `class_ids` (ascending)."""
    if not len(class_ids):
        return np.zeros(len(class_id), dtype=bool)
    # A class above the highest would be looked for behind the end: compare it with the highest.
    nearest: NDArray[np.int64] = class_ids.take(class_ids.searchsorted(class_id), mode="clip")
    return np.equal(nearest, class_id)
