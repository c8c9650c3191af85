# SPDX-License-Identifier: Apache-2.0
"""Rows that were taken but can never match: a contestant is told which, and why."""

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
    """Name one row of an answer, counted from 0, and why it can never be a true positive."""

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
    position = np.searchsorted(class_ids, detections.class_id)
    listed = np.zeros(len(detections), dtype=bool)
    within = position < len(class_ids)
    listed[within] = class_ids[position[within]] == detections.class_id[within]
    applies = np.array(
        (
            (image < 1) | (image > image_count),
            ~listed,
            ~np.isfinite(detections.confidence),
            ~np.isfinite(box).all(axis=1),
            (box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1]),
        )
    )
    rows = np.flatnonzero(applies.any(axis=0))
    first = applies[:, rows].argmax(axis=0)
    return tuple(
        Flag(row, _REASONS[index]) for row, index in zip(rows.tolist(), first.tolist(), strict=True)
    )
