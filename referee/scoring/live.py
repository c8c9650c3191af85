# SPDX-License-Identifier: Apache-2.0
"""The ILSVRC detection score of the answers so far, kept up to date answer by answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from referee.core.arguments import require
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.core.sealed import sealed_copy
from referee.scoring.blocks import SortedBlock, sort_out
from referee.scoring.detection_outcomes import Fates, explain
from referee.scoring.matching import GrowingArray, Matching
from referee.scoring.ranking import NO_KEYS, ClassScore, Keys, merge, sort
from referee.scoring.result import DIFFICULT, IGNORED_REASONS, IlsvrcResult
from referee.scoring.rules import DEVKIT, Rules, rules_of
from referee.scoring.truth_index import TruthIndex

Ints = NDArray[np.int64]
Narrow = NDArray[np.int64] | NDArray[np.uint16]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Rows worked on at a time: their arrays stay in a processor's cache.
_ROWS_AT_A_TIME = 2**17


class Mapped(Protocol):
    """What `map` does: results in the order of the items. Threads may work ahead of the caller."""

    def __call__(
        self, work: Callable[[_Item], _Result], items: Iterable[_Item], /
    ) -> Iterator[_Result]:
        """Yield `work` of each item."""


class LiveScore:
    """The ILSVRC score of detections as they arrive.

    The score depends on the order of the rows, but not on how they were split into answers.
    `result()` equals `ilsvrc.evaluate` of all rows so far, bit for bit, because that function is
    one `add` and one `result` of this class. The time for an answer grows with its rows, and with
    the detections so far of its classes.

    `mapped` does work on blocks of rows. The `map` of an executor lets threads share it: numpy lets
    one run while it works on the arrays of another.
    """

    def __init__(
        self, truth: GroundTruth, rules: Rules | str = DEVKIT, mapped: Mapped = map
    ) -> None:
        truth = sealed_copy(require("truth", truth, GroundTruth))
        self._truth = truth
        self._rules = rules_of(rules)
        self._mapped = mapped
        self._index = TruthIndex(truth, self._rules)
        self._matching = Matching(len(self._index.box))
        self._candidate_row = GrowingArray(np.int64)
        self._answers: list[Detections] = []
        self._rows = 0
        reasons = (
            IGNORED_REASONS if self._index.difficult is None else (*IGNORED_REASONS, DIFFICULT)
        )
        self._ignored = dict.fromkeys(reasons, 0)
        self._inverted = 0
        self._not_finite = 0
        truths = self._index.class_truths.tolist()
        self._classes = [ClassScore(NO_KEYS, NO_KEYS, count) for count in truths]
        self._ap: list[float | None] = [score.ap() for score in self._classes]
        self._grouped_ap = list(self._ap)
        self._pending: list[tuple[Narrow, Keys]] = []

    def add(self, detections: Detections) -> None:
        """Add the rows of one answer, in their order."""
        # A result explains its rows later, and they shall be those that it scored.
        detections = sealed_copy(require("detections", detections, Detections))
        self._answers.append(detections)

        def sorted_out(start: int) -> SortedBlock:
            rows = detections.select(slice(start, start + _ROWS_AT_A_TIME))
            return sort_out(self._index, self._rules, rows, first + start)

        first = self._rows
        starts = range(0, len(detections), _ROWS_AT_A_TIME)
        for block in self._mapped(sorted_out, starts):
            self._take(block)
        self._rows += len(detections)

    def _take(self, block: SortedBlock) -> None:
        """Match a block of rows; keep their keys until the next `result`."""
        for name, count in block.ignored.items():
            self._ignored[name] += count
        self._inverted += block.inverted
        self._not_finite += block.not_finite
        self._pending.append((_narrow(block.klass, self._index.class_count), block.keys))
        for candidates in block.candidates:
            self._matching.add(candidates.keys, candidates.counts, candidates.boxes)
            self._candidate_row.append(candidates.rows)

    def _refresh(self) -> None:
        """Update the classes that got detections since the last result."""
        if not self._pending:
            return
        klass = np.concatenate([klass for klass, _ in self._pending])
        keys = np.concatenate([keys for _, keys in self._pending])
        keys = keys[np.argsort(klass, kind="stable")]
        counts = np.bincount(klass, minlength=self._index.class_count)
        ends = np.cumsum(counts)
        for place in np.flatnonzero(counts).tolist():
            before = self._classes[place]
            more = sort(keys[ends[place] - counts[place] : ends[place]])
            score = ClassScore(merge(before.order, more), self._hits(place), before.truths)
            self._classes[place] = score
            self._ap[place], self._grouped_ap[place] = score.ap(), score.grouped_ap()
        self._pending.clear()

    def _hits(self, place: int) -> Keys:
        """Return the keys of a class's true positives, ascending."""
        start, end = self._index.class_start[place : place + 2]
        holder = self._matching.holder[start:end]
        return sort(self._matching.key.values[holder[holder >= 0]])

    def matched(self) -> tuple[Ints, Ints]:
        """Return the rows of the t true positives, ascending, and the ground-truth row of each.

        Rows count from 0 in order of arrival. Both vectors have shape (t,).
        """
        boxes = np.flatnonzero(self._matching.holder >= 0)
        rows = self._candidate_row.values[self._matching.holder[boxes]]
        order = np.argsort(rows)
        return rows[order], self._index.source[boxes[order]]

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
            truth_boxes=int(self._index.class_truths.sum()),
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


def _narrow(klass: Ints, class_count: int) -> Narrow:
    """Shrink class positions to 16 bits if they fit, because numpy radix-sorts 16-bit integers."""
    return klass.astype(np.uint16) if class_count <= 2**16 else klass
