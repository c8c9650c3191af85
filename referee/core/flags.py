# SPDX-License-Identifier: Apache-2.0
"""Rows that were taken but can never match: a contestant is told which, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections

__all__ = ["Flag", "flag_rows"]


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
    reasons = (
        ("unknown image", (image < 1) | (image > image_count)),
        ("class out of range", ~listed),
        ("confidence not finite", ~np.isfinite(detections.confidence)),
        ("coordinate not finite", ~np.isfinite(box).all(axis=1)),
        ("inverted box", (box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])),
    )
    first = np.full(len(detections), -1)
    for index, (_, applies) in enumerate(reasons):
        first[(first < 0) & applies] = index
    return tuple(Flag(int(row), reasons[first[row]][0]) for row in np.flatnonzero(first >= 0))
