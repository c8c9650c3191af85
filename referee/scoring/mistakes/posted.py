# SPDX-License-Identifier: Apache-2.0
"""Detections as a contestant sent them, before the referee translates image numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections


@dataclass(frozen=True, eq=False)
class Posted:
    """A session's detections as the contestant sent them, with the numbering of the images.

    `detections.image_id` holds the numbers as sent. `as_coco` (bool, one per row) marks the rows
    that came as COCO boxes [x, y, width, height]. `order[n - 1]` is the image id behind number n in
    this session. `source_ids[k - 1]` is the id of image k in the ground truth's file.
    """

    detections: Detections
    as_coco: NDArray[np.bool_]
    order: NDArray[np.int64]
    source_ids: NDArray[np.int64]

    def select(self, rows: NDArray[np.int64]) -> Posted:
        """Return only these rows, in this order."""
        return Posted(self.detections.select(rows), self.as_coco[rows], self.order, self.source_ids)


@dataclass(frozen=True)
class ProgramFault:
    """A fault of a program: a stable code, and sentences that say what is wrong and what to do."""

    code: str
    text: str
