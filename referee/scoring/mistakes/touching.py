# SPDX-License-Identifier: Apache-2.0
"""Which rows reach a truth box: a hundred times as fast as an evaluation, and nearly as telling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.ground_truth import GroundTruth
from referee.scoring.overlap import columns, iou, thresholds
from referee.scoring.rules import DEVKIT

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a row and a truth box: the row, the box as columns, the least IoU for a match."""

    rows: int
    row: Ints
    box: Floats
    least: Floats

    def matching(self, box: Floats) -> Rows:
        """Tell for each row whether its box, of `box` (rows, 4), overlaps a truth box enough.

        Several rows may reach one truth box: no row takes it from the others.
        """
        reached = iou(columns(box[self.row]), self.box) >= self.least
        found: Rows = np.bincount(self.row[reached], minlength=self.rows) > 0
        return found


class TruthOfImages:
    """The truth boxes of some images, found by image and class."""

    def __init__(self, truth: GroundTruth, image_ids: Ints) -> None:
        self._images = np.intersect1d(image_ids, truth.image_ids)
        self._classes = truth.class_ids
        kept = np.flatnonzero(np.isin(truth.box_image_id, self._images))
        keys, _ = self._keys(truth.box_image_id[kept], truth.box_class_id[kept])
        order = np.argsort(keys, kind="stable")
        self._sorted_keys = keys[order]
        box = truth.box[kept[order]]
        self._box = columns(box)
        self._least = thresholds(box, DEVKIT)

    def pairs(self, image_id: Ints, class_id: Ints) -> Pairs:
        """Return each row with each truth box of its image and class."""
        keys, known = self._keys(image_id, class_id)
        first = np.searchsorted(self._sorted_keys, keys)
        count = np.where(known, np.searchsorted(self._sorted_keys, keys, side="right") - first, 0)
        row = np.repeat(np.arange(len(keys)), count)
        truth = np.arange(len(row)) + np.repeat(first - (np.cumsum(count) - count), count)
        return Pairs(len(keys), row, self._box[:, truth], self._least[truth])

    def _keys(self, image_id: Ints, class_id: Ints) -> tuple[Ints, Rows]:
        """Return one number for each pair of image and class, and whether both are known."""
        image, image_known = _places(image_id, self._images)
        klass, class_known = _places(class_id, self._classes)
        return image * len(self._classes) + klass, image_known & class_known


def _places(values: Ints, listed: Ints) -> tuple[Ints, Rows]:
    """Return the place of each value in an ascending list, and whether it is there."""
    if not len(listed):
        return np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=bool)
    place = np.searchsorted(listed, values).clip(max=len(listed) - 1)
    return place, listed[place] == values
