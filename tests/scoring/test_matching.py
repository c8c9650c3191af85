# SPDX-License-Identifier: Apache-2.0
"""Matching by proposals agrees with the devkit's turns, in whatever parts the rows come."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from referee.scoring.matching import Matching
from referee.scoring.ranking import KEY

BOXES = 4
# What each candidate reaches, best first, by falling preference of the candidates.
Wishes = list[list[int]]
WISHES = st.lists(st.permutations(range(BOXES)).flatmap(
    lambda boxes: st.integers(1, BOXES).map(lambda count: boxes[:count])
), max_size=8)  # fmt: skip


def in_turns(wishes: Wishes) -> list[int]:
    """Let each candidate take its best box that is still free; return each box's holder or -1."""
    holder = [-1] * BOXES
    for candidate, boxes in enumerate(wishes):
        free = [box for box in boxes if holder[box] < 0]
        if free:
            holder[free[0]] = candidate
    return holder


def by_proposals(wishes: Wishes, order: list[int], parts: int) -> list[int]:
    """Add the candidates in an order and in parts; return each box's holder by its preference."""
    matching = Matching(BOXES)
    for part in np.array_split(np.array(order, dtype=np.int64), parts):
        keys = part.astype(KEY)
        counts = np.array([len(wishes[one]) for one in part], dtype=np.int64)
        boxes = np.array([box for one in part for box in wishes[one]], dtype=np.int64)
        matching.add(keys, counts, boxes)
    return [-1 if at < 0 else order[at] for at in matching.holder]


@given(wishes=WISHES, data=st.data(), parts=st.integers(1, 8))
def test_the_matching_is_the_devkits(wishes: Wishes, data: st.DataObject, parts: int) -> None:
    """Neither the order of the rows nor their parts decide who holds a box."""
    order = data.draw(st.permutations(range(len(wishes))))
    assert in_turns(wishes) == by_proposals(wishes, list(order), parts)


@given(wishes=WISHES)
@example([[0], [0, 1]])
@example([[0], [1, 0], [0, 1, 2]])
def test_who_is_displaced_goes_on_to_its_next_box(wishes: Wishes) -> None:
    """Also the very first candidate, when a better one comes after it."""
    order = list(range(len(wishes)))[::-1]
    assert in_turns(wishes) == by_proposals(wishes, order, max(1, len(wishes)))
