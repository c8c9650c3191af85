# SPDX-License-Identifier: Apache-2.0
"""The immutable result of an ILSVRC detection evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from referee.core.arguments import told
from referee.core.ground_truth import GroundTruth
from referee.core.sealed import seal
from referee.core.shown import Shown
from referee.scoring.detection_outcomes import Fates
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
"""The reasons to ignore a row, which then counts neither way; the first that applies is told."""

DIFFICULT = "difficult"
"""The reason beside these under rules that ignore difficult boxes, where the truth has some."""


@dataclass(frozen=True, eq=False)
class ClassImages:
    """The images of one class's detections and truth boxes, as positions.

    `detection` (n,) has the image of each detection, in the devkit's order. `hit` (t,) has the
    indices into `detection` of the true positives, ascending. `truth` (N,) has the image of each
    truth box. Image positions count from 0 in ascending order of the image ids.
    """

    detection: Ints
    hit: Ints
    truth: Ints


@dataclass(frozen=True, repr=False)
class IlsvrcResult(Shown):
    """The mAP as a fraction in 0..1, and every number that explains it.

    `mean_ap` is None if no class has ground truth. `ap` maps every listed class id to its AP, or
    to None for a class without ground truth. `grouped_mean_ap` and `grouped_ap` are the same, but
    detections of equal confidence enter together. A plain mean runs over
    `classes_with_ground_truth` classes. `images` counts the listed images, `truth_boxes` the boxes
    outside the blacklist that the rules do not ignore.

    `detections` counts all rows, `ignored` the ignored rows by reason, `scored` the others. Among
    the scored rows `true_positives` matched, `duplicates` reached only boxes that other detections
    hold, `inverted` have xmax < xmin or ymax < ymin, and `coordinate_not_finite` have a corner that
    is not finite.
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

    def __post_init__(self) -> None:
        seal(self)

    def _facts(self) -> Mapping[str, object]:
        return {
            "mAP": self.mean_ap,
            "rules": self.rules.name,
            "classes": f"{self.classes_with_ground_truth} of {len(self.ap)} with ground truth",
            "images": self.images,
            "truth boxes": self.truth_boxes,
            "detections": self.detections,
            "true positives": self.true_positives,
            "ignored": sum(self.ignored.values()),
        }

    def _columns(self) -> tuple[str, ...]:
        return ("class", "name", "truth boxes", "detections", "true positives", "AP")

    def _rows(self, most: int) -> tuple[Sequence[tuple[object, ...]], int]:
        names, shown = self.truth.class_names, list(self.ap.items())[:most]
        rows: list[tuple[object, ...]] = []
        for class_id, ap in shown:
            score = self._classes[class_id]
            counts = (score.truths, len(score.order), len(score.hits))
            rows.append((class_id, names.get(class_id, ""), *counts, ap))
        return rows, len(self.ap)

    @property
    def truth(self) -> GroundTruth:
        """Return the ground truth that was scored against."""
        return self._index.truth

    @property
    def image_ids(self) -> Ints:
        """Return the ids of the listed images, ascending: the order of image positions."""
        return self._index.image_ids

    def precision_recall(self, class_id: int) -> Curve:
        """Return one listed class's precision-recall curve; raise KeyError for any other id."""
        return self.class_score(class_id).curve()

    def curves(self) -> dict[int, Curve]:
        """Return the precision-recall curve of each class with ground truth, by class id."""
        return {
            class_id: self.precision_recall(class_id)
            for class_id, ap in self.ap.items()
            if ap is not None
        }

    def class_score(self, class_id: int) -> ClassScore:
        """Return what one listed class was scored from; raise KeyError for any other id."""
        if not isinstance(class_id, (int, np.integer)) or class_id not in self._classes:
            raise KeyError(f"class {told(class_id)} is not listed: the keys of `ap` are")
        return self._classes[class_id]

    def images_by_class(self) -> Iterator[ClassImages]:
        """Yield the images of the detections and truth boxes of each class with ground truth."""
        to_find = self._index.to_find()
        starts = np.searchsorted(to_find, self._index.class_start)
        for place, score in enumerate(self._classes.values()):
            if score.truths:
                of_class = to_find[slice(*starts[place : place + 2])]
                yield ClassImages(
                    detection=images_of(score.order, self.images),
                    hit=np.searchsorted(score.order, score.hits),
                    truth=self._index.box_image[of_class],
                )

    def explain(self) -> Fates:
        """Return the fate of each detection and the missed truth boxes.

        This matches the detections again and takes a few times as long as the evaluation.
        """
        return self._explain()
