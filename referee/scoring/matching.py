# SPDX-License-Identifier: Apache-2.0
"""Matching of detections to truth boxes, with one outcome for all rows at once or row by row.

The devkit matches greedily. The detections of an image take turns by falling confidence. Each
takes the best truth box of its class that is still free and whose threshold it reaches.

This module reaches the same matching by proposals. Each detection proposes to its best box. A box
keeps its most confident proposer and turns the other away, which then proposes to its next best
box. So the same code matches a million rows at once, or one more row after a million.

Both agree for this reason. Every box prefers the more confident detection; every detection prefers
the larger IoU. All boxes share one order of preference, so there is exactly one stable matching,
and the greedy one is stable. Proposals (deferred acceptance, Gale and Shapley 1962) always end in
the stable matching, in whatever order they are made (McVitie and Wilson 1971). The order of rows
matters only where two detections of one image have equal confidence: the earlier row is preferred.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from referee.scoring.pairs import expand
from referee.scoring.ranking import KEY, Keys

Ints = NDArray[np.int64]
_Scalar = TypeVar("_Scalar", bound=np.generic)

# Choices take 8 bytes each. Below so many, those that are done are not worth a look.
_FEW_CHOICES = 2**20


class Matching:
    """The matching of candidates to m truth boxes.

    A candidate is a detection that reaches the threshold of at least one box of its class. Its
    `key` is that of its place in the devkit's order (see `ranking.py`), so the candidate with the
    smaller key is preferred.

    A candidate that holds no box has no choice left. So the choices of the others are all that must
    be kept, and there are never more of these candidates than boxes.
    """

    def __init__(self, boxes: int) -> None:
        self.holder: Ints = np.full(boxes, -1, dtype=np.int64)
        """The candidate that holds each truth box, or -1; shape (m,)."""
        self.key = GrowingArray(KEY)
        self._choice = GrowingArray(np.int64)
        self._next = GrowingArray(np.int64)
        self._end = GrowingArray(np.int64)
        self._most_choices = _FEW_CHOICES

    def add(self, keys: Keys, counts: Ints, boxes: Ints) -> None:
        """Add k candidates.

        `keys` and `counts` have shape (k,). `counts` says how many boxes each candidate reaches,
        at least 1. `boxes` has shape (sum of counts,) and lists each candidate's truth boxes, best
        first.
        """
        first = len(self.key)
        ends = len(self._choice) + np.cumsum(counts)
        self.key.append(keys)
        self._choice.append(boxes)
        self._next.append(ends - counts)
        self._end.append(ends)
        proposers = np.arange(first, len(self.key), dtype=np.int64)
        while len(proposers):
            target = self._choice.values[self._next.values[proposers]]
            proposers = self._settle(proposers, target)
        if len(self._choice) > self._most_choices:
            self._forget()

    def _forget(self) -> None:
        """Forget the choices that nobody will make; those that are left begin at new places."""
        holders = self.holder[self.holder >= 0]
        start = self._next.values[holders]
        size = self._end.values[holders] - start
        _, kept = expand(start, size)
        self._choice.replace(self._choice.values[kept])
        ends = np.cumsum(size)
        self._next.values[holders], self._end.values[holders] = ends - size, ends
        self._most_choices = max(2 * len(self._choice), _FEW_CHOICES)

    def _settle(self, proposers: Ints, target: Ints) -> Ints:
        """Give each box its best proposer so far; return the candidates that must propose again."""
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


def _earliest(keys: Keys, proposers: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Return the boxes that got proposals, and the proposer with the smallest key of each."""
    boxes, place, count = np.unique(target, return_inverse=True, return_counts=True)
    challenger = np.empty(len(boxes), dtype=np.int64)
    alone = count[place] == 1
    challenger[place[alone]] = proposers[alone]
    rivals = np.flatnonzero(~alone)
    rivals = rivals[np.argsort(keys[rivals])]
    contested, first = np.unique(place[rivals], return_index=True)
    challenger[contested] = proposers[rivals[first]]
    return boxes, challenger


class GrowingArray(Generic[_Scalar]):
    """A vector of one dtype that grows at its end; `values` is a view of its content."""

    def __init__(self, dtype: type[_Scalar]) -> None:
        self._store: NDArray[_Scalar] = np.empty(0, dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> NDArray[_Scalar]:
        """Return a view of the values so far; a write to the view changes the vector."""
        return self._store[: self._length]

    def replace(self, values: NDArray[_Scalar]) -> None:
        """Put these values, which nobody else changes, in the place of all."""
        self._store, self._length = values, len(values)

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        length = self._length + len(values)
        if length > len(self._store):
            store = np.empty(max(length, 2 * len(self._store)), dtype=self._store.dtype)
            store[: self._length] = self.values
            self._store = store
        self._store[self._length : length] = values
        self._length = length
