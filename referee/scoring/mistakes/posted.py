# SPDX-License-Identifier: Apache-2.0
"""What a contestant sent, before the referee reads its own meaning into it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections


@dataclass(frozen=True, eq=False)
class Posted:
    """A session's detections as the contestant sent them, with the numbering of the images.

    `detections.image_id` holds the numbers that were sent. `as_coco` (bool, a value per row) marks
    the rows that came as COCO boxes [x, y, width, height]. `order[n - 1]` is the image id that the
    session showed under number n. `source_ids[k - 1]` is the id that the ground truth's file
    gives to image id k.
    """

    detections: Detections
    as_coco: NDArray[np.bool_]
    order: NDArray[np.int64]
    source_ids: NDArray[np.int64]

    def select(self, rows: NDArray[np.int64]) -> Posted:
        """Return these rows alone, in this order."""
        return Posted(self.detections.select(rows), self.as_coco[rows], self.order, self.source_ids)


@dataclass(frozen=True)
class Fault:
    """One thing that a program does wrong: a stable code, and a sentence that says what to do."""

    code: str
    text: str
