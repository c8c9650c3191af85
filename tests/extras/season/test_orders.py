# SPDX-License-Identifier: Apache-2.0
"""The orders of all pairs of teams, counted."""

from __future__ import annotations

import random
from itertools import combinations

from referee.extras.season.entrants import Entrant, has_turned, order_of
from referee.extras.season.orders import orders_of, turned_after


def entrant(number: int, old: int | None, new: int | None) -> Entrant:
    """Return a team with two ranks."""
    values = [None if rank is None else 1 / rank for rank in (old, new)]
    return Entrant(
        f"team {number}", number, "", "VALID", 0.5, values[0], None, values[1], None, old, new
    )


def test_counts_are_those_of_the_pairs() -> None:
    """Ties and missing ranks count as they do pair by pair."""
    chance = random.Random(41)
    ranks = [None, 1, 1, *range(2, 10)]
    entrants = [entrant(n, chance.choice(ranks), chance.choice(ranks)) for n in range(120)]
    pairs = list(combinations(entrants, 2))
    both = [(a, b) for a, b in pairs if None not in (a.old, a.new, b.old, b.new)]
    orders = [(order_of(a.old_rank, b.old_rank), order_of(a.new_rank, b.new_rank)) for a, b in both]
    found = orders_of(entrants)
    assert len(both) == found.pairs
    assert sum(has_turned(a, b) for a, b in both) == found.turned
    assert sum(old * new > 0 for old, new in orders) == found.same
    assert sum(old != 0 for old, _ in orders) == found.old_apart
    assert sum(new != 0 for _, new in orders) == found.new_apart
    turned = [
        (a, b) for (a, b) in combinations(range(120), 2) if has_turned(entrants[a], entrants[b])
    ]
    assert turned == [(a, b) for a, behind in enumerate(turned_after(entrants)) for b in behind]


def test_nobody() -> None:
    """An empty ranking has no pairs."""
    assert (0, []) == (orders_of([]).pairs, list(turned_after([])))
