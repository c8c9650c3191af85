# SPDX-License-Identifier: Apache-2.0
"""Flags: they tell a contestant which stored rows can never match, and why."""

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
    """A row of an answer, counted from 0, and the reason why it can never match."""

    row: int
    reason: str


def flag_rows(
    detections: Detections, image_count: int, class_ids: NDArray[np.int64]
) -> tuple[Flag, ...]:
    """Return a flag for each row that no ground truth can match, by ascending row.

    A row gets the first reason that applies: its image is outside 1…image_count, its class is not
    in `class_ids` (ascending), its confidence is not finite, a coordinate is not finite, or the
    box is inverted.
    """
    image = detections.image_id
    box = detections.box
    known = (image >= 1) & (image <= image_count)
    listed = _listed(detections.class_id, class_ids)
    sure = np.isfinite(detections.confidence)
    finite = np.isfinite(box)
    upright = (box[:, 0] <= box[:, 2]) & (box[:, 1] <= box[:, 3])
    # Most answers have no bad row, and counting is the fastest way to see that. A good row has
    # eight marks: one each for image, class, confidence and box order, four for its coordinates.
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
    """Return, for each class, whether `class_ids` (ascending) contains it."""
    if not len(class_ids):
        return np.zeros(len(class_id), dtype=bool)
    # searchsorted points behind the end for a class above the highest; "clip" takes the highest.
    nearest: NDArray[np.int64] = class_ids.take(class_ids.searchsorted(class_id), mode="clip")
    return np.equal(nearest, class_id)
