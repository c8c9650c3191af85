# SPDX-License-Identifier: Apache-2.0
"""The outcome of each detection, its fate: true positive, or the reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.core.sealed import seal
from referee.core.shown import Shown
from referee.scoring.overlap import columns, iou, thresholds
from referee.scoring.pairs import expand, runs
from referee.scoring.rules import Rules
from referee.scoring.truth_index import BLACKLISTED as BLACKLISTED_GROUP
from referee.scoring.truth_index import TruthIndex

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

POOR_OVERLAP_IOU = 0.1
"""A false positive with at least this IoU with a box of its class is a localisation error.

Source: Hoiem, Chodpathumwan, Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.
"""


class Fate(IntEnum):
    """The fate of one detection; where several apply, the first in this order counts."""

    UNKNOWN_IMAGE = 0
    CLASS_OUT_OF_RANGE = 1
    CONFIDENCE_NOT_FINITE = 2
    BLACKLISTED = 3
    TRUE_POSITIVE = 4
    MALFORMED = 5
    """The box is inverted by a pixel or more, or has a corner that is not finite.

    So it overlaps nothing. A box that is inverted by less still has an extent after the + 1.
    """
    DUPLICATE = 6
    """It reaches a box of its class, but an earlier detection holds that box."""
    WRONG_CLASS = 7
    """It reaches a box of another class."""
    POOR_OVERLAP = 8
    """It overlaps a box of its class by `POOR_OVERLAP_IOU` or more but misses the threshold."""
    BACKGROUND = 9
    DIFFICULT = 10
    """Its box is flagged as difficult, under rules that ignore such boxes: it is not scored."""


@dataclass(frozen=True, eq=False, repr=False)
class Fates(Shown):
    """The fates of n detections, in order of arrival, and the missed truth boxes.

    `fate` (int8, (n,)) has values of `Fate`. `truth_row` (int64, (n,)) is the ground-truth row of
    the box that explains the fate: found, held already, of another class, or badly hit. It is -1
    if there is no such box. `iou` (float64, (n,)) is the overlap with that box, or 0. `missed`
    (int64) lists, ascending, the rows of truth boxes that no detection found; boxes that are on
    the blacklist or ignored as difficult are not listed.
    """

    fate: NDArray[np.int8]
    truth_row: Ints
    iou: Floats
    missed: Ints

    def __post_init__(self) -> None:
        seal(self)

    def _facts(self) -> Mapping[str, object]:
        counts = {fate.name.lower().replace("_", " "): self.count(fate) for fate in Fate}
        return {name: count for name, count in counts.items() if count} | {
            "missed truth boxes": len(self.missed)
        }

    def count(self, fate: Fate) -> int:
        """Return how many detections had this fate."""
        return int((self.fate == fate).sum())


def explain(
    truth: GroundTruth, detections: Detections, rules: Rules, matched: tuple[Ints, Ints]
) -> Fates:
    """Return the fate of each detection, given the true positives.

    `matched` is a pair: the rows of the true positives, and the row of the truth box of each. Rows
    count from 0.
    """
    n = len(detections)
    index = TruthIndex(truth, rules)
    image = index.images(detections.image_id)
    fate = _first_reasons(index, image, detections)
    truth_row = np.full(n, -1, dtype=np.int64)
    overlap = np.zeros(n)
    rows, boxes = matched
    fate[rows] = Fate.TRUE_POSITIVE
    truth_row[rows] = boxes
    overlap[rows] = iou(columns(detections.box[rows]), columns(truth.box[boxes]))
    by_image = index.source[np.argsort(truth.box_image_id[index.source], kind="stable")]
    places = index.images(truth.box_image_id[by_image])
    bounds = np.searchsorted(places, np.arange(index.image_count + 1))
    left = np.flatnonzero(fate == Fate.BACKGROUND)
    for run in runs(bounds[image[left] + 1] - bounds[image[left]]):
        some = left[run]
        explained = _explain_false_positives(
            truth, detections.select(some), image[some], by_image, bounds, rules
        )
        fate[some], truth_row[some], overlap[some] = explained
    if rules.ignore_difficult and truth.difficult is not None:
        # Under these rules no true positive has such a box, so the row looks like a duplicate.
        fate[(fate == Fate.DUPLICATE) & truth.difficult[truth_row]] = Fate.DIFFICULT
    missed = np.setdiff1d(index.source[index.to_find()], boxes)
    return Fates(fate, truth_row, overlap, missed=missed)


def _first_reasons(index: TruthIndex, image: Ints, detections: Detections) -> NDArray[np.int8]:
    """Return the fates that do not depend on truth boxes, and BACKGROUND for all others."""
    klass = index.classes(detections.class_id)
    box = detections.box
    with np.errstate(invalid="ignore", over="ignore"):  # Such a corner is not finite.
        extent = box[:, 2:] - box[:, :2] + 1
    empty = (extent <= 0).any(axis=1)
    fate = np.full(len(image), Fate.BACKGROUND, dtype=np.int8)
    for reason, applies in (
        (Fate.MALFORMED, empty | ~np.isfinite(box).all(axis=1)),
        (Fate.BLACKLISTED, index.group(index.pair(image, klass)) == BLACKLISTED_GROUP),
        (Fate.CONFIDENCE_NOT_FINITE, ~np.isfinite(detections.confidence)),
        (Fate.CLASS_OUT_OF_RANGE, klass < 0),
        (Fate.UNKNOWN_IMAGE, image < 0),
    ):
        fate[applies] = reason
    return fate


def _explain_false_positives(
    truth: GroundTruth,
    detections: Detections,
    image: Ints,
    by_image: Ints,
    bounds: Ints,
    rules: Rules,
) -> tuple[NDArray[np.int8], Ints, Floats]:
    """Return fate, truth row and IoU of each well-formed false positive.

    `by_image` lists the rows of truth boxes image by image; `bounds` has the place where each
    image's rows begin.
    """
    n = len(detections)
    detection, place = expand(bounds[image], bounds[image + 1] - bounds[image])
    row = by_image[place]
    overlap = iou(columns(detections.box)[:, detection], columns(truth.box[row]))
    needed = thresholds(truth.box[row], rules)
    reaches = (overlap > needed if rules.strict else overlap >= needed) & (overlap > 0)
    same = detections.class_id[detection] == truth.box_class_id[row]
    found = same & reaches
    if rules.best_box_only:
        found &= _best_of_each(detection, np.where(same, overlap, 0.0))
    fate = np.full(n, Fate.BACKGROUND, dtype=np.int8)
    truth_row = np.full(n, -1, dtype=np.int64)
    best = np.zeros(n)
    # Go from the weakest reason to the strongest: a later reason overwrites an earlier one.
    for reason, applies in (
        (Fate.POOR_OVERLAP, same & (overlap >= POOR_OVERLAP_IOU)),
        (Fate.WRONG_CLASS, ~same & reaches),
        (Fate.DUPLICATE, found),
    ):
        pairs = _best_pairs(detection, np.where(applies, overlap, 0.0))
        those = detection[pairs]
        fate[those] = reason
        truth_row[those] = row[pairs]
        best[those] = overlap[pairs]
    return fate, truth_row, best


def _best_pairs(detection: Ints, overlap: Floats) -> Ints:
    """Return for each detection that overlaps a box its pair of the largest overlap, the first."""
    pairs = np.flatnonzero(overlap > 0)
    pairs = pairs[np.lexsort((-overlap[pairs], detection[pairs]))]
    _, first = np.unique(detection[pairs], return_index=True)
    best: Ints = pairs[first]
    return best


def _best_of_each(detection: Ints, overlap: Floats) -> NDArray[np.bool_]:
    """Tell for each pair whether it is its detection's `_best_pairs`."""
    best = np.zeros(len(detection), dtype=np.bool_)
    best[_best_pairs(detection, overlap)] = True
    return best
