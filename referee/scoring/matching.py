# SPDX-License-Identifier: Apache-2.0
"""Matching of detections to truth boxes, incrementally and independent of the order of arrival.

The devkit matches greedily: per image, detections in order of falling confidence each take the
best truth box of their class that is still free and whose threshold they reach. That is a serial
dictatorship: every truth box prefers the earlier detection, every detection its larger IoU. With
one common order of preference on one side the stable matching is unique, and it is the greedy
one; and deferred acceptance (Gale and Shapley 1962) arrives at it in whatever order the proposals
are made (McVitie and Wilson 1971). So each detection proposes to its best box, a box keeps the
earliest proposer and turns away the other, who proposes to its next best: the same code matches a
million rows at once, or one more row after a million.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from referee.scoring.growing import GrowingArray

Ints = NDArray[np.int64]


class Matching:
    """The candidate that holds each of m truth boxes.

    A candidate is a detection that reaches the threshold of at least one box of its class. Its
    `key` is complex: minus its confidence, then its place among equal confidences; numpy orders
    complex numbers by real part, then by imaginary part, so the smaller key comes earlier.
    """

    def __init__(self, boxes: int) -> None:
        self.holder: Ints = np.full(boxes, -1, dtype=np.int64)
        """Candidate that holds each truth box, or -1; shape (m,)."""
        self.key = GrowingArray(np.complex128)
        self._choice = GrowingArray(np.int64)
        self._next = GrowingArray(np.int64)
        self._end = GrowingArray(np.int64)

    def add(self, keys: NDArray[np.complex128], counts: Ints, boxes: Ints) -> Ints:
        """Add k candidates and return the truth boxes, with repetitions, whose holder may be new.

        `keys` and `counts` have shape (k,); `boxes` has shape (sum of counts,) and lists each
        candidate's truth boxes, best first. Every count is at least 1.
        """
        first = len(self.key)
        ends = len(self._choice) + np.cumsum(counts)
        self.key.append(keys)
        self._choice.append(boxes)
        self._next.append(ends - counts)
        self._end.append(ends)
        proposers = np.arange(first, len(self.key), dtype=np.int64)
        touched = []
        while len(proposers):
            target = self._choice.values[self._next.values[proposers]]
            touched.append(target)
            proposers = self._settle(proposers, target)
        return np.concatenate(touched) if touched else np.empty(0, dtype=np.int64)

    def _settle(self, proposers: Ints, target: Ints) -> Ints:
        """Let each proposed box keep its earliest proposer; return those that must ask again."""
        key = self.key.values
        boxes, challenger = _earliest(key[proposers], proposers, target)
        holder = self.holder[boxes]
        wins = (holder < 0) | (key[challenger] < key[holder])
        self.holder[boxes[wins]] = challenger[wins]
        displaced = holder[wins & (holder >= 0)]
        turned_away = np.concatenate([proposers[self.holder[target] != proposers], displaced])
        self._next.values[turned_away] += 1
        more: Ints = turned_away[self._next.values[turned_away] < self._end.values[turned_away]]
        return more


def _earliest(keys: NDArray[np.complex128], proposers: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Return the boxes proposed to, and for each the proposer of the smallest key."""
    boxes, place, count = np.unique(target, return_inverse=True, return_counts=True)
    challenger = np.empty(len(boxes), dtype=np.int64)
    alone = count[place] == 1
    challenger[place[alone]] = proposers[alone]
    rivals = np.flatnonzero(~alone)
    rivals = rivals[np.argsort(keys[rivals])]
    contested, first = np.unique(place[rivals], return_index=True)
    challenger[contested] = proposers[rivals[first]]
    return boxes, challenger
