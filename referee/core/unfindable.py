# SPDX-License-Identifier: Apache-2.0
"""Truth boxes that nobody can find: without width or height, or wholly outside of their image.

They stay in the ground truth, as in other evaluators, so each is missed in every session. Such
boxes come of a slip of an annotator's hand, of rounding, and of images that were scaled or turned
after the boxes were drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.counts import counted
from referee.core.ground_truth import GroundTruth

Sizes = Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Unfindable:
    """How many boxes have no extent, how many of the others lie outside, and the first's image."""

    no_extent: int
    outside: int
    first_image: int | None

    def __bool__(self) -> bool:
        return self.first_image is not None

    def words(self) -> str:
        """Return them as a part of a sentence."""
        parts = []
        if self.no_extent:
            parts.append(f"{self.no_extent} without width or height")
        if self.outside:
            parts.append(f"{self.outside} wholly outside of the image")
        count = self.no_extent + self.outside
        boxes = counted(count, "truth box", "truth boxes")
        return (
            f"{boxes} can be found by nobody, and {'counts' if count == 1 else 'count'} as missed:"
            f" {', '.join(parts)}; the first is in image {self.first_image}"
        )


def unfindable(truth: GroundTruth, sizes: Sizes, *, from_zero: bool) -> Unfindable:
    """Count the boxes that nobody can find; an image whose size is unknown has none outside.

    `from_zero` tells whether the source counts pixels from 0, as COCO does. Others may count from
    1, and there a box that begins at the image's width is in its last column.
    """
    box = truth.box
    empty = (box[:, 2:] - box[:, :2] + 1 <= 0).any(axis=1)
    size = _sizes_of(truth.box_image_id, sizes)
    beyond = box[:, :2] >= size + (0 if from_zero else 1)
    outside = ~empty & (beyond | (box[:, 2:] + 1 <= 0)).any(axis=1)
    lost = np.flatnonzero(empty | outside)
    return Unfindable(
        no_extent=int(empty.sum()),
        outside=int(outside.sum()),
        first_image=int(truth.box_image_id[lost[0]]) if len(lost) else None,
    )


def _sizes_of(image_id: NDArray[np.int64], sizes: Sizes) -> NDArray[np.float64]:
    """Return width and height of each box's image, (m, 2); infinite where they are unknown."""
    ids, place = np.unique(image_id, return_inverse=True)
    # Some tools write a size of 0 for an image that they did not open.
    known = [sizes.get(int(one), (0, 0)) for one in ids]
    each = np.array([size if min(size) > 0 else (np.inf, np.inf) for size in known], dtype=float)
    return each.reshape(-1, 2)[place]
