# SPDX-License-Identifier: Apache-2.0
"""What became of each detection, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.overlap import columns, iou, thresholds
from referee.scoring.rules import Rules
from referee.scoring.truth_index import BLACKLISTED as BLACKLISTED_GROUP
from referee.scoring.truth_index import TruthIndex

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

POOR_OVERLAP_IOU = 0.1
"""IoU with a box of its own class from which a false positive is a matter of localisation.

Source: Hoiem, Chodpathumwan, Dai, "Diagnosing Error in Object Detectors", ECCV 2012, section 2.
"""

# Pairs of a detection and a truth box that are held in memory at a time.
_DETECTIONS_AT_A_TIME = 100_000


class Fate(IntEnum):
    """What became of a detection; of several reasons, the first in this order."""

    UNKNOWN_IMAGE = 0
    CLASS_OUT_OF_RANGE = 1
    CONFIDENCE_NOT_FINITE = 2
    BLACKLISTED = 3
    TRUE_POSITIVE = 4
    MALFORMED = 5
    """Inverted or with a corner that is not finite: it can find nothing."""
    DUPLICATE = 6
    """Reaches a box of its class, which an earlier detection holds."""
    WRONG_CLASS = 7
    """Reaches a box of another class."""
    POOR_OVERLAP = 8
    """Overlaps a box of its class, by `POOR_OVERLAP_IOU` or more, without reaching it."""
    BACKGROUND = 9


@dataclass(frozen=True, eq=False)
class Fates:
    """The fate of each of n detections, in order of arrival, and the truth boxes missed.

    `fate` (int8, (n,)) has values of `Fate`. `truth_row` (int64, (n,)) is the row in the ground
    truth of the box that it speaks of (found, already held, of another class, or badly hit), or
    -1, and `iou` (float64, (n,)) the overlap with it, or 0. `missed` (int64) lists the rows of
    the truth boxes outside the blacklist that no detection found, ascending.
    """

    fate: NDArray[np.int8]
    truth_row: Ints
    iou: Floats
    missed: Ints

    def count(self, fate: Fate) -> int:
        """Return how many detections had this fate."""
        return int((self.fate == fate).sum())


def explain(
    truth: GroundTruth, detections: Detections, rules: Rules, matched: tuple[Ints, Ints]
) -> Fates:
    """Tell the fate of each detection, given the true positives.

    `matched` has the rows of the true positives and, for each, the row of its truth box, both
    counted from 0.
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
    for start in range(0, len(left), _DETECTIONS_AT_A_TIME):
        some = left[start : start + _DETECTIONS_AT_A_TIME]
        found = _explain_false_positives(
            truth, detections.select(some), image[some], by_image, bounds, rules
        )
        fate[some], truth_row[some], overlap[some] = found
    return Fates(fate, truth_row, overlap, missed=np.setdiff1d(index.source, boxes))


def _first_reasons(index: TruthIndex, image: Ints, detections: Detections) -> NDArray[np.int8]:
    """Return the fates that need no look at the truth boxes, BACKGROUND standing for the rest."""
    klass = index.classes(detections.class_id)
    box = detections.box
    inverted = (box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])
    fate = np.full(len(image), Fate.BACKGROUND, dtype=np.int8)
    for reason, applies in (
        (Fate.MALFORMED, inverted | ~np.isfinite(box).all(axis=1)),
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
    """Tell why well-formed detections are false positives: fate, truth row and IoU of each.

    `by_image` lists rows of truth boxes by image position; `bounds` says where each begins.
    """
    n = len(detections)
    size = bounds[image + 1] - bounds[image]
    detection = np.repeat(np.arange(n), size)
    within = np.arange(len(detection)) - np.repeat(np.cumsum(size) - size, size)
    row = by_image[np.repeat(bounds[image], size) + within]
    overlap = iou(columns(detections.box)[:, detection], columns(truth.box[row]))
    needed = thresholds(truth.box[row], rules)
    reaches = (overlap > needed if rules.strict else overlap >= needed) & (overlap > 0)
    same = detections.class_id[detection] == truth.box_class_id[row]
    fate = np.full(n, Fate.BACKGROUND, dtype=np.int8)
    truth_row = np.full(n, -1, dtype=np.int64)
    best = np.zeros(n)
    # From the weakest reason to the strongest, each overwriting the one before.
    for reason, applies in (
        (Fate.POOR_OVERLAP, same & (overlap >= POOR_OVERLAP_IOU)),
        (Fate.WRONG_CLASS, ~same & reaches),
        (Fate.DUPLICATE, same & reaches),
    ):
        pairs = np.flatnonzero(applies)
        pairs = pairs[np.lexsort((-overlap[pairs], detection[pairs]))]
        those, first = np.unique(detection[pairs], return_index=True)
        fate[those] = reason
        truth_row[those] = row[pairs[first]]
        best[those] = overlap[pairs[first]]
    return fate, truth_row, best
