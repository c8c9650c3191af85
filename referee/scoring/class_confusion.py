# SPDX-License-Identifier: Apache-2.0
"""Which classes detections take for which: a confusion matrix that agrees with the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from referee.core.arguments import real_number, require, require_count, told
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.core.sealed import seal
from referee.core.shown import Shown
from referee.errors import ArgumentError
from referee.scoring.detection_outcomes import Fate, Fates
from referee.scoring.ilsvrc import evaluate
from referee.scoring.rules import DEVKIT, Rules, rules_of

Ints = NDArray[np.int64]

# The one class of boxes that are matched whatever their classes are.
_ANY = 1
_NOT_SCORED = (
    Fate.UNKNOWN_IMAGE,
    Fate.CLASS_OUT_OF_RANGE,
    Fate.CONFIDENCE_NOT_FINITE,
    Fate.BLACKLISTED,
    Fate.DIFFICULT,
)


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Shown):
    """A confusion matrix of k classes.

    `matrix` (int64, (k + 1, k + 1)) has a row for the class of a truth box and a column for that of
    a detection, both in the order of `class_ids`. The last row counts detections that found
    nothing, the last column truth boxes that nothing found. `class_names` maps ids to names.
    """

    class_ids: Ints
    matrix: Ints
    class_names: dict[int, str]

    def __post_init__(self) -> None:
        seal(self)

    def _facts(self) -> Mapping[str, object]:
        among = self.matrix[:-1, :-1]
        found = int(np.trace(among))
        return {
            "classes": len(self.class_ids),
            "found": found,
            "taken for another class": int(among.sum()) - found,
            "missed": int(self.matrix[:, -1].sum()),
            "found nothing": int(self.matrix[-1].sum()),
        }

    def _columns(self) -> tuple[str, ...]:
        return ("class", "taken for", "how often")

    def _rows(self, most: int) -> tuple[Sequence[tuple[object, ...]], int]:
        among = self.matrix[:-1, :-1]
        names = self.class_names
        rows = self.most(most)
        count = int(np.count_nonzero(among)) - int(np.count_nonzero(np.diagonal(among)))
        return [(names.get(one, one), names.get(other, other), n) for one, other, n in rows], count

    def between(self, truth_class: int, detected_class: int) -> int:
        """Return how many boxes of the first class were taken for the second.

        Raises ArgumentError for a class that is not listed.
        """
        return int(self.matrix[self._place(truth_class), self._place(detected_class)])

    def _place(self, class_id: object) -> int:
        if isinstance(class_id, (int, np.integer)) and not isinstance(class_id, bool):
            places = np.flatnonzero(self.class_ids == class_id)
            if len(places):
                return int(places[0])
        raise ArgumentError(
            f"class {told(class_id)} is not listed: give the ids of two of the"
            f" {len(self.class_ids)} classes of the ground truth, see class_ids"
        )

    def most(self, count: int = 10) -> list[tuple[int, int, int]]:
        """Return the most frequent mistakes: truth class, detected class, how often.

        Raises ArgumentError unless `count` is a whole number, 0 or more.
        """
        require_count(count, "count", 0)
        among = self.matrix[:-1, :-1].copy()
        np.fill_diagonal(among, 0)
        order = np.argsort(-among, axis=None, kind="stable")[:count]
        rows, columns = np.unravel_index(order, among.shape)
        return [
            (int(self.class_ids[row]), int(self.class_ids[column]), int(among[row, column]))
            for row, column in zip(rows, columns, strict=True)
            if among[row, column]
        ]


def confusion(
    truth: GroundTruth,
    detections: Detections,
    rules: Rules | str = DEVKIT,
    min_confidence: float | None = None,
) -> Confusion:
    """Count which classes detections take for which: all, or those of at least `min_confidence`.

    Detections first match within their classes, as in the score: the diagonal has its true
    positives. Then the others match the boxes that are left, whatever the class, by the same
    threshold and order. So a box that was found is no confusion, however many other classes claimed
    it with less right. Rows that the score ignores count nowhere. Raises ArgumentError for rules
    that are none, and for a confidence that is no number.
    """
    rules = rules_of(rules)
    require("truth", truth, GroundTruth)
    kept = require("detections", detections, Detections)
    if min_confidence is not None:
        least = real_number(min_confidence, "min_confidence")
        kept = detections.select(~(detections.confidence < least))
    fates = evaluate(truth, kept, rules).explain()
    hit = np.flatnonzero(fates.fate == Fate.TRUE_POSITIVE)
    pairs = [(fates.truth_row[hit], hit), _across_classes(truth, kept, rules, fates)]
    box = np.concatenate([boxes for boxes, _ in pairs])
    row = np.concatenate([rows for _, rows in pairs])
    missed = np.setdiff1d(fates.missed, box)
    alone = np.setdiff1d(np.flatnonzero(~np.isin(fates.fate, _NOT_SCORED)), row)
    nothing = len(truth.class_ids)
    places = np.searchsorted(truth.class_ids, truth.box_class_id)
    columns = np.searchsorted(truth.class_ids, kept.class_id)
    matrix = np.zeros((nothing + 1, nothing + 1), dtype=np.int64)
    np.add.at(matrix, (places[box], columns[row]), 1)
    np.add.at(matrix, (places[missed], nothing), 1)
    np.add.at(matrix, (nothing, columns[alone]), 1)
    return Confusion(truth.class_ids, matrix, truth.class_names)


def _across_classes(
    truth: GroundTruth, detections: Detections, rules: Rules, fates: Fates
) -> tuple[Ints, Ints]:
    """Match what is left without a look at classes; return truth rows and detection rows."""
    rows = np.flatnonzero(~np.isin(fates.fate, (*_NOT_SCORED, Fate.TRUE_POSITIVE)))
    left, boxes = detections.select(rows), fates.missed
    again = evaluate(
        replace(
            truth,
            class_ids=np.array([_ANY]),
            box_image_id=truth.box_image_id[boxes],
            box_class_id=np.full(len(boxes), _ANY),
            box=truth.box[boxes],
            blacklist=np.empty((0, 2), dtype=np.int64),
            difficult=None,
        ),
        replace(left, class_id=np.full(len(left), _ANY)),
        rules,
    ).explain()
    hits = np.flatnonzero(again.fate == Fate.TRUE_POSITIVE)
    box, row = boxes[again.truth_row[hits]], rows[hits]
    # Under VOC's rules a detection finds its best box alone. That may be free only now, in its own
    # class: such a pair is no confusion, and no true positive.
    differ = truth.box_class_id[box] != detections.class_id[row]
    return box[differ], row[differ]
