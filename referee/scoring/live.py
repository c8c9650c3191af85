# SPDX-License-Identifier: Apache-2.0
"""The ILSVRC detection score of the answers so far, kept up to date answer by answer."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.fates import Fates, explain
from referee.scoring.growing import GrowingArray
from referee.scoring.matching import Matching
from referee.scoring.overlap import columns, iou
from referee.scoring.ranking import ClassScore, merge, sort, sort_keys
from referee.scoring.result import IGNORED_REASONS, IlsvrcResult
from referee.scoring.rules import DEVKIT, Rules
from referee.scoring.truth_index import BLACKLISTED, NO_TRUTH, TruthIndex

Ints = NDArray[np.int64]
Keys = NDArray[np.complex128]

# Rows worked on at a time: their arrays stay in a processor's cache.
_ROWS_AT_A_TIME = 2**18

_NO_KEYS: Keys = np.empty(0, dtype=np.complex128)


class LiveScore:
    """The ILSVRC score of detections as they arrive.

    The score depends on the order of the rows, but not on how they were split into answers.
    `result()` equals `ilsvrc.evaluate` of all rows so far, bit for bit, because that function is
    one `add` and one `result` of this class. The time for an answer grows with its rows, and with
    the detections so far of its classes.
    """

    def __init__(self, truth: GroundTruth, rules: Rules = DEVKIT) -> None:
        self._truth = truth
        self._rules = rules
        self._index = TruthIndex(truth, rules)
        self._matching = Matching(len(self._index.box))
        self._candidate_row = GrowingArray(np.int64)
        self._answers: list[Detections] = []
        self._rows = 0
        self._ignored = dict.fromkeys(IGNORED_REASONS, 0)
        self._inverted = 0
        self._not_finite = 0
        starts = self._index.class_start
        self._classes = [ClassScore(_NO_KEYS, _NO_KEYS, int(truths)) for truths in np.diff(starts)]
        self._ap: list[float | None] = [score.ap() for score in self._classes]
        self._grouped_ap = list(self._ap)
        self._pending: list[tuple[Ints, Keys]] = []
        self._touched: list[Ints] = []

    def add(self, detections: Detections) -> None:
        """Add the rows of one answer, in their order."""
        self._answers.append(detections)
        for start in range(0, len(detections), _ROWS_AT_A_TIME):
            self._take(detections.select(slice(start, start + _ROWS_AT_A_TIME)))

    def _take(self, detections: Detections) -> None:
        """Sort out and match rows; keep their keys until the next `result`."""
        index = self._index
        image = index.images(detections.image_id)
        klass = index.classes(detections.class_id)
        group = index.group(index.pair(image, klass))
        scored = self._sort_out(image, klass, detections, group)
        rows = self._rows + np.arange(len(detections), dtype=np.int64)
        self._rows += len(detections)
        if not scored.all():
            chosen = np.flatnonzero(scored)
            image, klass, group, rows = image[chosen], klass[chosen], group[chosen], rows[chosen]
            detections = detections.select(chosen)
        box = detections.box
        self._inverted += int(((box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])).sum())
        self._not_finite += len(box) - _finite_boxes(box)
        keys = sort_keys(detections.confidence, image, rows, index.image_count)
        self._pending.append((klass, keys))
        near = np.flatnonzero(group != NO_TRUTH)
        if len(near):
            self._match(box[near], group[near], keys[near], rows[near])

    def _sort_out(
        self, image: Ints, klass: Ints, detections: Detections, group: Ints
    ) -> NDArray[np.bool_]:
        """Count the ignored rows, each under its first reason; return a mask of the others."""
        reasons = (
            image < 0,
            klass < 0,
            ~np.isfinite(detections.confidence),
            group == BLACKLISTED,
        )
        scored = np.ones(len(image), dtype=np.bool_)
        for name, applies in zip(IGNORED_REASONS, reasons, strict=True):
            self._ignored[name] += int((scored & applies).sum())
            scored &= ~applies
        return scored

    def _match(self, box: NDArray[np.float64], group: Ints, keys: Keys, rows: Ints) -> None:
        """Offer detections to the truth boxes of their image and class."""
        index = self._index
        size = index.group_size[group]
        detection = np.repeat(np.arange(len(box)), size)
        within = np.arange(len(detection)) - np.repeat(np.cumsum(size) - size, size)
        target = np.repeat(index.group_start[group], size) + within
        overlap = iou(columns(box)[:, detection], index.columns[:, target])
        needed = index.threshold[target]
        reaches = overlap > needed if self._rules.strict else overlap >= needed
        pairs = np.flatnonzero(reaches & (overlap > 0))
        detection, target = detection[pairs], target[pairs]
        counts = np.bincount(detection, minlength=len(box))
        # Few detections reach several boxes. Only their boxes need sorting, best first. The sort
        # is stable: on a tie of IoU the box that is first in the file comes first.
        several = np.flatnonzero(counts[detection] > 1)
        order = np.lexsort((-overlap[pairs[several]], detection[several]))
        target[several] = target[several[order]]
        candidates = np.flatnonzero(counts)
        changed = self._matching.add(keys[candidates], counts[candidates], target)
        self._candidate_row.append(rows[candidates])
        self._touched.append(index.box_class[changed])

    def _refresh(self) -> None:
        """Update the classes that changed since the last result."""
        if not self._pending:
            return
        klass = np.concatenate([klass for klass, _ in self._pending])
        keys = np.concatenate([keys for _, keys in self._pending])
        named = np.concatenate([klass, *self._touched])
        touched = np.flatnonzero(np.bincount(named, minlength=self._index.class_count))
        order = np.argsort(_narrow(klass, self._index.class_count), kind="stable")
        keys = keys[order]
        bounds = np.searchsorted(klass[order], np.stack([touched, touched + 1]))
        for place, start, end in zip(touched.tolist(), *bounds.tolist(), strict=True):
            merged = merge(self._classes[place].order, sort(keys[start:end]))
            score = ClassScore(merged, self._hits(place), self._classes[place].truths)
            self._classes[place] = score
            self._ap[place] = score.ap()
            self._grouped_ap[place] = score.grouped_ap()
        self._pending.clear()
        self._touched.clear()

    def _hits(self, place: int) -> Keys:
        """Return the keys of a class's true positives, ascending."""
        start, end = self._index.class_start[place : place + 2]
        holder = self._matching.holder[start:end]
        return sort(self._matching.key.values[holder[holder >= 0]])

    def matched(self) -> tuple[Ints, Ints]:
        """Return the rows of the t true positives, ascending, and the ground-truth row of each.

        Rows count from 0 in order of arrival. Both vectors have shape (t,).
        """
        held = np.flatnonzero(self._matching.holder >= 0)
        rows = self._candidate_row.values[self._matching.holder[held]]
        order = np.argsort(rows)
        return rows[order], self._index.source[held[order]]

    def result(self) -> IlsvrcResult:
        """Return the score of the rows so far."""
        self._refresh()
        class_ids = self._truth.class_ids.tolist()
        matched = int((self._matching.holder >= 0).sum())
        return IlsvrcResult(
            rules=self._rules,
            mean_ap=_mean(self._ap, self._rules),
            grouped_mean_ap=_mean(self._grouped_ap, self._rules),
            ap=dict(zip(class_ids, self._ap, strict=True)),
            grouped_ap=dict(zip(class_ids, self._grouped_ap, strict=True)),
            classes_with_ground_truth=sum(score.truths > 0 for score in self._classes),
            images=self._index.image_count,
            truth_boxes=len(self._index.box),
            detections=self._rows,
            scored=self._rows - sum(self._ignored.values()),
            ignored=dict(self._ignored),
            true_positives=matched,
            duplicates=len(self._candidate_row) - matched,
            inverted=self._inverted,
            coordinate_not_finite=self._not_finite,
            _classes=dict(zip(class_ids, self._classes, strict=True)),
            _index=self._index,
            _explain=partial(_explain, self._truth, self._rules, tuple(self._answers)),
        )


def _explain(truth: GroundTruth, rules: Rules, answers: tuple[Detections, ...]) -> Fates:
    """Return the fate of each row of the answers, in their order."""
    detections = Detections.concatenate(answers)
    score = LiveScore(truth, rules)
    score.add(detections)
    return explain(truth, detections, rules, score.matched())


def _mean(ap: list[float | None], rules: Rules) -> float | None:
    """Average over the classes with ground truth, or over all classes if the rules say so."""
    values = [value for value in ap if value is not None]
    if not values:
        return None
    return float(np.sum(values)) / (len(ap) if rules.missing_as_zero else len(values))


def _finite_boxes(box: NDArray[np.float64]) -> int:
    """Count the boxes (n, 4) whose four corners are finite."""
    finite = np.isfinite(box)
    return len(box) if finite.all() else int(finite.all(axis=1).sum())


def _narrow(klass: Ints, class_count: int) -> NDArray[np.int64] | NDArray[np.uint16]:
    """Shrink class positions to 16 bits if they fit, because numpy radix-sorts 16-bit integers."""
    return klass.astype(np.uint16) if class_count <= 2**16 else klass
