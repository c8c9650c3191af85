# SPDX-License-Identifier: Apache-2.0
"""The content of a ground-truth file of any format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from referee.core.ground_truth import GroundTruth
from referee.core.unfindable import Sizes, Unfindable, unfindable
from referee.formats.yolo_counts import LabelCounts

NO_BLACKLIST: NDArray[np.int64] = np.empty((0, 2), dtype=np.int64)
"""The blacklist of a source without one."""


@dataclass(frozen=True)
class KnownImage:
    """An image of which somebody knows already what a folder of labels does not say."""

    name: str
    image_id: int
    width: int
    height: int


def known_sizes(rows: Iterable[tuple[int, object, object]]) -> dict[int, tuple[int, int]]:
    """Return width and height by image id; a program that does not know them writes 0 or nothing.

    A row is image id, width and height.
    """
    return {
        own: (width, height)
        for own, width, height in rows
        if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0
    }


@dataclass(frozen=True, eq=False)
class GroundTruthFile:
    """Ground truth under the source's own image ids, with the source's further data.

    `file_names` and `sizes` (width, height in pixels) map image ids to the source's data; they are
    empty if the source has none. `labels` counts what came in a folder of YOLO labels. `places`
    says where a source of several files speaks of an image, such as `a.xml`; it is empty for one
    file.
    """

    truth: GroundTruth
    file_names: dict[int, str] = field(default_factory=dict)
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)
    labels: LabelCounts | None = None
    places: dict[int, str] = field(default_factory=dict)

    def unfindable(self, sizes: Sizes | None = None) -> Unfindable:
        """Count the boxes that nobody can find, by these sizes or those that the source has."""
        known = self.sizes if sizes is None else sizes
        from_zero = self.truth.coco is not None or self.labels is not None
        return unfindable(self.truth, known, from_zero=from_zero)
