# SPDX-License-Identifier: Apache-2.0
"""The immutable result of an ILSVRC detection evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from referee.scoring.fates import Fates
from referee.scoring.ranking import ClassScore, Curve, images_of
from referee.scoring.rules import Rules
from referee.scoring.truth_index import TruthIndex

Ints = NDArray[np.int64]

IGNORED_REASONS = (
    "unknown_image",
    "class_out_of_range",
    "confidence_not_finite",
    "blacklisted",
)
"""Why a row counts neither way; a row with several reasons counts under the first of them."""


@dataclass(frozen=True, eq=False)
class ClassImages:
    """The positions of the images that one class's detections and truth boxes are of.

    `detection` (n,) follows the devkit's order, `hit` (t,) says which of these are true
    positives, ascending, and `truth` (N,) has the truth boxes. Positions count from 0 in
    ascending order of the image ids.
    """

    detection: Ints
    hit: Ints
    truth: Ints


@dataclass(frozen=True)
class IlsvrcResult:
    """The mAP as a fraction in 0..1, and every number that explains it.

    `mean_ap` is None where no class has ground truth, `ap` maps every class id of the list to its
    AP or, where the class has no ground truth, to None. `grouped_mean_ap` and `grouped_ap` are
    the same with detections of equal confidence entered together. `classes_with_ground_truth`
    says over how many classes a plain mean runs. `images` counts the listed images and
    `truth_boxes` the boxes outside the blacklist. Of the `detections` rows, `ignored` counts
    those that are not scored by reason and `scored` the others; of these, `true_positives`
    matched, `duplicates` reached only boxes that earlier ones hold, `inverted` have xmax < xmin
    or ymax < ymin, and `coordinate_not_finite` have such a corner.
    """

    rules: Rules
    mean_ap: float | None
    grouped_mean_ap: float | None
    ap: dict[int, float | None]
    grouped_ap: dict[int, float | None]
    classes_with_ground_truth: int
    images: int
    truth_boxes: int
    detections: int
    scored: int
    ignored: dict[str, int]
    true_positives: int
    duplicates: int
    inverted: int
    coordinate_not_finite: int
    _classes: dict[int, ClassScore] = field(repr=False, compare=False)
    _index: TruthIndex = field(repr=False, compare=False)
    _explain: Callable[[], Fates] = field(repr=False, compare=False)

    def precision_recall(self, class_id: int) -> Curve:
        """Return the precision-recall curve of one class of the list; KeyError for any other."""
        return self._classes[class_id].curve()

    def images_by_class(self) -> Iterator[ClassImages]:
        """Yield, for each class with ground truth, the images of what its AP is made of."""
        for place, score in enumerate(self._classes.values()):
            if score.truths:
                of_class = slice(*self._index.class_start[place : place + 2])
                yield ClassImages(
                    detection=images_of(score.order, self.images),
                    hit=np.searchsorted(score.order, score.hits),
                    truth=self._index.box_image[of_class],
                )

    def explain(self) -> Fates:
        """Return what became of each detection, and which truth boxes were missed.

        It matches the detections once more, and takes a few times as long as the evaluation.
        """
        return self._explain()
