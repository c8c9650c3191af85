# SPDX-License-Identifier: Apache-2.0
"""Ground truth and results in COCO's own terms: boxes as x, y, width, height, and crowd regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CocoTruth:
    """COCO ground truth: the listed images and categories, and m annotations of them.

    `image_id` and `category_id` (int64, (m,)) name each annotation's image and category. `box`
    (float64, (m, 4)) has columns x, y, width, height. `area` (float64, (m,)) is COCO's field
    `area`, which separates small boxes from large ones. `crowd` (bool, (m,)) marks crowd regions:
    they may be matched many times and count neither way.
    """

    image_ids: Ints
    category_ids: Ints
    image_id: Ints
    category_id: Ints
    box: Floats
    area: Floats
    crowd: NDArray[np.bool_]

    @classmethod
    def from_ground_truth(cls, truth: GroundTruth) -> CocoTruth:
        """Convert ground truth with inclusive corners; a box's area is width times height."""
        box = _from_corners(truth.box)
        return cls(
            image_ids=truth.image_ids,
            category_ids=truth.class_ids,
            image_id=truth.box_image_id,
            category_id=truth.box_class_id,
            box=box,
            area=box[:, 2] * box[:, 3],
            crowd=np.zeros(len(box), dtype=np.bool_),
        )


@dataclass(frozen=True, eq=False)
class CocoResults:
    """COCO results: n detections in file order; `box` (n, 4) has x, y, width, height."""

    image_id: Ints
    category_id: Ints
    score: Floats
    box: Floats

    def __len__(self) -> int:
        return len(self.image_id)

    @classmethod
    def from_detections(cls, detections: Detections) -> CocoResults:
        """Convert detections with inclusive corners: width = xmax - xmin + 1."""
        return cls(
            detections.image_id,
            detections.class_id,
            detections.confidence,
            _from_corners(detections.box),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[CocoResults]) -> CocoResults:
        """Join the rows of one part or more, in the order given."""
        return cls(
            np.concatenate([part.image_id for part in parts]),
            np.concatenate([part.category_id for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.box for part in parts]),
        )

    def to_detections(self) -> Detections:
        """Return the results with inclusive corners: xmax = x + width - 1."""
        corners = self.box.copy()
        # A contestant may send infinite corners. Infinity minus infinity is NaN: no error here.
        with np.errstate(invalid="ignore", over="ignore"):
            corners[:, 2:] += corners[:, :2] - 1
        return Detections(self.image_id, self.category_id, self.score, corners)

    def select(self, chosen: NDArray[np.bool_] | Ints) -> CocoResults:
        """Return the rows that a mask or an index array selects, in its order."""
        return replace(
            self,
            image_id=self.image_id[chosen],
            category_id=self.category_id[chosen],
            score=self.score[chosen],
            box=self.box[chosen],
        )


def _from_corners(corners: Floats) -> Floats:
    box = corners.copy()
    box[:, 2:] -= corners[:, :2] - 1
    return box
