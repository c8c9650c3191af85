# SPDX-License-Identifier: Apache-2.0
"""Every reading of a session's detections: its mAP, and the rows that match under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.ilsvrc import evaluate
from referee.scoring.mistakes.boxes import box_readings
from referee.scoring.mistakes.ids import class_readings, image_readings
from referee.scoring.mistakes.posted import Posted, ProgramFault
from referee.scoring.overlap import columns, iou, thresholds
from referee.scoring.pairs import expand, runs
from referee.scoring.result import IlsvrcResult
from referee.scoring.rules import DEVKIT

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]

# An evaluation of 50,000 rows takes 50 ms. The less confident rows cannot prove a mistake.
_ROWS_JUDGED = 50_000
# So many of the most confident rows, and so many of all, show what a reading changes.
_ROWS_LOOKED_AT = 500

Choice = tuple[int, int, int]
"""One reading each of images, classes and boxes, as indices; 0 is the protocol's reading."""

AS_SENT: Choice = (0, 0, 0)
"""The choice of the protocol's readings."""


class PossibleReadings:
    """Every reading of detections; the 50,000 most confident rows are judged.

    `ranked` are the rows in another order, so that `matches` tells of the same rows as others do.
    """

    def __init__(
        self,
        truth: GroundTruth,
        posted: Posted,
        sizes: Mapping[int, tuple[int, int]],
        *,
        ranked: Ints | None = None,
    ) -> None:
        if ranked is None:
            ranked = np.argsort(-posted.detections.confidence, kind="stable")
        judged = posted.select(ranked[:_ROWS_JUDGED])
        self._truth = truth
        self._confidence = judged.detections.confidence
        self._images = list(image_readings(judged))
        self._classes = list(class_readings(judged.detections.class_id, truth))
        self._boxes = list(box_readings(judged))
        self._sizes = [_sizes_of(reading.image_id, sizes) for reading in self._images]
        self._few = a_few(self._confidence)
        images = [reading.image_id[self._few] for reading in self._images]
        self._truth_of_few = TruthOfImages(truth, np.unique(np.concatenate(images)))
        self._pairs: dict[tuple[int, int], BoxPairs] = {}

    @property
    def lengths(self) -> Choice:
        """Return the number of readings of the images, of the classes and of the boxes."""
        return len(self._images), len(self._classes), len(self._boxes)

    def faults(self, choice: Choice) -> tuple[ProgramFault, ...]:
        """Return the faults that a choice of readings assumes."""
        image, klass, box = choice
        return (*self._images[image].faults, *self._classes[klass].faults, *self._boxes[box].faults)

    def result(self, choice: Choice) -> IlsvrcResult:
        """Score the rows under a choice of readings."""
        return evaluate(self._truth, self._read(choice))

    def turned(self, choice: Choice) -> IlsvrcResult:
        """Score the rows with 1 minus their confidence."""
        return evaluate(self._truth, replace(self._read(choice), confidence=1.0 - self._confidence))

    def matches(self, choice: Choice) -> Rows:
        """Tell which of a few rows match a truth box under a choice of readings."""
        image, klass, box = choice
        corners = self._boxes[box].corners(self._sizes[image])
        return self._pairs_of(image, klass).matching(corners[self._few])

    def _pairs_of(self, image: int, klass: int) -> BoxPairs:
        """Return the pairs under a reading of images and classes, which most choices share."""
        if (image, klass) not in self._pairs:
            self._pairs[image, klass] = self._truth_of_few.pairs(
                self._images[image].image_id[self._few], self._classes[klass].class_id[self._few]
            )
        return self._pairs[image, klass]

    @property
    def few_confidences(self) -> Floats:
        """Return the confidences of the rows that `matches` tells of."""
        return self._confidence[self._few]

    def _read(self, choice: Choice) -> Detections:
        image, klass, box = choice
        return Detections(
            self._images[image].image_id,
            self._classes[klass].class_id,
            self._confidence,
            self._boxes[box].corners(self._sizes[image]),
        )


def a_few(confidence: Floats) -> Ints:
    """Return some rows, ascending: the most confident ones, and a share of all."""
    count = len(confidence)
    if count <= 2 * _ROWS_LOOKED_AT:
        return np.arange(count)
    surest = np.argpartition(-confidence, _ROWS_LOOKED_AT)[:_ROWS_LOOKED_AT]
    return np.union1d(surest, np.linspace(0, count - 1, _ROWS_LOOKED_AT).astype(np.int64))


def one_changed(known: Choice, lengths: Choice) -> Iterator[Choice]:
    """Yield the choices that change one more family from the protocol's reading."""
    for family, length in enumerate(lengths):
        if known[family] == 0:
            for reading in range(1, length):
                yield (*known[:family], reading, *known[family + 1 :])  # type: ignore[misc]


def two_changed(lengths: Choice) -> Iterator[Choice]:
    """Yield the choices that change exactly two families from the protocol's reading."""
    for choice in product(*map(range, lengths)):
        if choice.count(0) == 1:
            yield choice  # type: ignore[misc]


def _sizes_of(image_id: Ints, sizes: Mapping[int, tuple[int, int]]) -> Floats:
    """Return width and height of each row's image, or 1 and 1 for an unknown image."""
    rows = [sizes.get(image, (1, 1)) for image in image_id.tolist()]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class BoxPairs:
    """The truth boxes with which each of n rows is compared: `count` (n,) from `first` (n,) on.

    `box` are truth boxes as columns, and `least` has the least IoU for a match of each.
    """

    first: Ints
    count: Ints
    box: Floats
    least: Floats

    def matching(self, box: Floats) -> Rows:
        """Tell for each row whether its box, of `box` (n, 4), overlaps a truth box enough.

        Several rows may reach one truth box: no row takes it from the others.
        """
        matches = np.zeros(len(self.count), dtype=np.bool_)
        for some in runs(self.count):
            row, truth = expand(self.first[some], self.count[some])
            overlap = iou(columns(box[some])[:, row], self.box[:, truth])
            matches[some.start + row[overlap >= self.least[truth]]] = True
        return matches


class TruthOfImages:
    """The truth boxes of some images, found by image and class.

    Which rows reach one of them is known a hundred times as fast as by an evaluation.
    """

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

    def pairs(self, image_id: Ints, class_id: Ints) -> BoxPairs:
        """Return each row with each truth box of its image and class."""
        keys, known = self._keys(image_id, class_id)
        first = np.searchsorted(self._sorted_keys, keys)
        count = np.where(known, np.searchsorted(self._sorted_keys, keys, side="right") - first, 0)
        return BoxPairs(first, count, self._box, self._least)

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
