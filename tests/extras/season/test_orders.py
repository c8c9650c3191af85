# SPDX-License-Identifier: Apache-2.0
"""The orders of all pairs of teams, counted."""

from __future__ import annotations

import math
import random
from itertools import combinations

from referee.extras.season.entrants import Entrant, has_turned, order_of
from referee.extras.season.orders import orders_of, turned_after


def entrant(number: int, old: float | None, new: float | None) -> Entrant:
    """Return a team with two values."""
    return Entrant(f"team {number}", number, "", "VALID", 0.5, old, None, new, None)


def test_counts_are_those_of_the_pairs() -> None:
    """Ties, missing values and infinite ones count as they do pair by pair."""
    chance = random.Random(41)
    values = [None, math.inf, 0.0, -0.0, *(chance.random() for _ in range(8))]
    entrants = [entrant(n, chance.choice(values), chance.choice(values)) for n in range(120)]
    pairs = list(combinations(entrants, 2))
    both = [(a, b) for a, b in pairs if None not in (a.old, a.new, b.old, b.new)]
    found = orders_of(entrants)
    assert len(both) == found.pairs
    assert sum(has_turned(a, b) for a, b in both) == found.turned
    assert sum(order_of(a.old, b.old) * order_of(a.new, b.new) > 0 for a, b in both) == found.same
    assert sum(order_of(a.old, b.old) != 0 for a, b in both) == found.old_apart
    assert sum(order_of(a.new, b.new) != 0 for a, b in both) == found.new_apart
    turned = [
        (a, b) for (a, b) in combinations(range(120), 2) if has_turned(entrants[a], entrants[b])
    ]
    assert turned == [(a, b) for a, behind in enumerate(turned_after(entrants)) for b in behind]


def test_nobody() -> None:
    """An empty ranking has no pairs."""
    assert (0, []) == (orders_of([]).pairs, list(turned_after([])))
