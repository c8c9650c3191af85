# SPDX-License-Identifier: Apache-2.0
"""What a block of detections adds to a score, found without a look at any other block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.scoring.overlap import columns, iou
from referee.scoring.pairs import expand, runs
from referee.scoring.ranking import Keys, sort_keys
from referee.scoring.result import DIFFICULT, IGNORED_REASONS
from referee.scoring.rules import Rules
from referee.scoring.truth_index import BLACKLISTED, NO_TRUTH, TruthIndex

Ints = NDArray[np.int64]

# A block's candidates wait with so many boxes that they reach, and the rest is found when it is
# asked for: one detection may reach thousands of small boxes.
_MOST_WAITING = 2**20


@dataclass(frozen=True, eq=False)
class Candidates:
    """The k detections of some rows that reach the threshold of at least one box of their class.

    `rows`, `keys` and `counts` have shape (k,): row numbers, sort keys, and how many truth boxes
    each reaches. `boxes` (sum of counts,) lists these boxes for each, best first.
    """

    rows: Ints
    keys: Keys
    counts: Ints
    boxes: Ints


@dataclass(frozen=True, eq=False)
class SortedBlock:
    """A block of rows, sorted out.

    `klass` and `keys` (n,) are the class positions and sort keys of the n rows that count.
    `candidates` yields their candidates once, part by part in the order of the rows. `ignored`
    counts the others by reason. `inverted` and `not_finite` count boxes that match nothing.
    """

    klass: Ints
    keys: Keys
    candidates: Iterator[Candidates]
    ignored: dict[str, int]
    inverted: int
    not_finite: int


def sort_out(index: TruthIndex, rules: Rules, detections: Detections, first: int) -> SortedBlock:
    """Sort out and measure rows; `first` is the number of the first one."""
    image = index.images(detections.image_id)
    klass = index.classes(detections.class_id)
    group = index.group(index.pair(image, klass))
    scored, ignored = _scored(image, klass, detections, group)
    rows = first + np.arange(len(detections), dtype=np.int64)
    if not scored.all():
        chosen = np.flatnonzero(scored)
        image, klass, group, rows = image[chosen], klass[chosen], group[chosen], rows[chosen]
        detections = detections.select(chosen)
    box = detections.box
    keys = sort_keys(detections.confidence, image, rows, index.image_count)
    near = np.flatnonzero(group != NO_TRUTH)
    parts = _candidates(index, rules, box[near], group[near], keys[near], rows[near])
    if index.difficult is None:
        candidates = _begun(parts)
    else:
        # Under these rules a detection reaches one box at most, so all parts together are small.
        found, taken_out = _without_difficult(parts, index.difficult)
        candidates = iter(found)
        ignored[DIFFICULT] = len(taken_out)
        kept = np.flatnonzero(~np.isin(rows, taken_out))
        klass, keys, box = klass[kept], keys[kept], box[kept]
    return SortedBlock(
        klass=klass,
        keys=keys,
        candidates=candidates,
        ignored=ignored,
        inverted=int(((box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])).sum()),
        not_finite=len(box) - _finite_boxes(box),
    )


def _scored(
    image: Ints, klass: Ints, detections: Detections, group: Ints
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Return a mask of the rows that count, and the number of others, by their first reason."""
    reasons = (image < 0, klass < 0, ~np.isfinite(detections.confidence), group == BLACKLISTED)
    scored = np.ones(len(image), dtype=np.bool_)
    ignored = {}
    for name, applies in zip(IGNORED_REASONS, reasons, strict=True):
        ignored[name] = int((scored & applies).sum())
        scored &= ~applies
    return scored, ignored


def _begun(parts: Iterator[Candidates]) -> Iterator[Candidates]:
    """Find parts until they reach many boxes; the rest is found when it is asked for."""
    found, waiting = [], 0
    for part in parts:
        found.append(part)
        waiting += len(part.boxes)
        if waiting > _MOST_WAITING:
            break
    return chain(found, parts)


def _candidates(
    index: TruthIndex,
    rules: Rules,
    box: NDArray[np.float64],
    group: Ints,
    keys: Keys,
    rows: Ints,
) -> Iterator[Candidates]:
    """Find the truth boxes of their image and class that detections reach, some rows at a time."""
    for some in runs(index.group_size[group]):
        counts, boxes = _reached(index, rules, box[some], group[some])
        chosen = np.flatnonzero(counts)
        if len(chosen):
            yield Candidates(rows[some][chosen], keys[some][chosen], counts[chosen], boxes)


def _reached(
    index: TruthIndex, rules: Rules, box: NDArray[np.float64], group: Ints
) -> tuple[Ints, Ints]:
    """Return how many boxes each detection may match, and which, best first.

    With `best_box_only` that is the one box that it overlaps most, if it reaches it: another box
    with a lower threshold is no way out (VOCevaldet.m compares one overlap, the largest).
    """
    detection, target = expand(index.group_start[group], index.group_size[group])
    overlap = iou(columns(box)[:, detection], index.columns[:, target])
    needed = index.threshold[target]
    reaches = overlap > needed if rules.strict else overlap >= needed
    overlaps = overlap > 0
    pairs = np.flatnonzero(overlaps if rules.best_box_only else overlaps & reaches)
    counts = np.bincount(detection[pairs], minlength=len(box))
    # Few detections reach several boxes. Only their boxes need sorting, best first. The sort
    # is stable: on a tie of IoU the box that is first in the file comes first.
    several = np.flatnonzero(counts[detection[pairs]] > 1)
    those = pairs[several]
    pairs[several] = those[np.lexsort((-overlap[those], detection[those]))]
    if rules.best_box_only:
        pairs = pairs[_first_of(counts)]
        pairs = pairs[reaches[pairs]]
        counts = np.bincount(detection[pairs], minlength=len(box))
    return counts, target[pairs]


def _without_difficult(
    parts: Iterable[Candidates], difficult: NDArray[np.bool_]
) -> tuple[list[Candidates], Ints]:
    """Return the candidates of other boxes, and the rows whose one box is difficult.

    Such a row counts neither way, whatever other rows there are (VOCevaldet.m).
    """
    others, taken_out = [], [np.empty(0, dtype=np.int64)]
    for part in parts:
        ignored = difficult[part.boxes]
        kept = ~ignored
        others.append(
            Candidates(part.rows[kept], part.keys[kept], part.counts[kept], part.boxes[kept])
        )
        taken_out.append(part.rows[ignored])
    return others, np.concatenate(taken_out)


def _first_of(counts: Ints) -> Ints:
    """Return the places where runs of so many entries begin, (k,) for k runs that are not empty."""
    return (np.cumsum(counts) - counts)[counts > 0]


def _finite_boxes(box: NDArray[np.float64]) -> int:
    """Count the boxes (n, 4) whose four corners are finite."""
    finite = np.isfinite(box)
    return len(box) if finite.all() else int(finite.all(axis=1).sum())
