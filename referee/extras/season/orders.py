# SPDX-License-Identifier: Apache-2.0
"""The orders of all pairs of teams under old and new rules, counted a row of teams at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.extras.season.entrants import Entrant

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Orders:
    """The pairs of teams that have both values, and how many of them have what order.

    `old_apart` and `new_apart` are no ties, `same` have one order in both rankings, and `turned`
    opposite ones.
    """

    pairs: int = 0
    old_apart: int = 0
    new_apart: int = 0
    same: int = 0
    turned: int = 0


def orders_of(entrants: Sequence[Entrant]) -> Orders:
    """Count the orders of the pairs."""
    both = [one for one in entrants if one.old_rank is not None and one.new_rank is not None]
    old_apart = new_apart = same = turned = 0
    for old, new in _signs(both):
        old_apart += int(np.count_nonzero(old))
        new_apart += int(np.count_nonzero(new))
        same += int(np.count_nonzero(old * new > 0))
        turned += int(np.count_nonzero(old * new < 0))
    return Orders(len(both) * (len(both) - 1) // 2, old_apart, new_apart, same, turned)


def turned_after(entrants: Sequence[Entrant]) -> Iterator[list[int]]:
    """Yield for each team the places behind it of those with which its order has turned."""
    for place, (old, new) in enumerate(_signs(entrants), 1):
        yield [int(place + j) for j in np.flatnonzero(old * new < 0)]


def _signs(entrants: Sequence[Entrant]) -> Iterator[tuple[Floats, Floats]]:
    """Yield the signs of each team's old and new orders to those behind it, by their ranks.

    There is no order, 0, where a rank is missing.
    """
    old, new = (
        _values([getattr(one, f"{side}_rank") for one in entrants]) for side in ("old", "new")
    )
    for place in range(len(entrants)):
        yield _order(old[place], old[place + 1 :]), _order(new[place], new[place + 1 :])


def _order(value: np.float64, others: Floats) -> Floats:
    """Return 1, 0 or -1 by comparison: nothing is better or worse than a missing rank."""
    return (value < others).astype(float) - (value > others)


def _values(values: Sequence[int | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
