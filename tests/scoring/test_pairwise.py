# SPDX-License-Identifier: Apache-2.0
"""One solution compared with many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from referee.errors import ArgumentError
from referee.scoring import Comparison, Energy, MapUncertainty, compare
from referee.scoring.clusters import Imbalance
from referee.scoring.pairwise import Side, Together
from referee.scoring.split_half import SplitHalves


def side(seed: int, draws: int = 100, parts: int = 1000, **more: object) -> Side:
    """Return a solution whose draws are those of a seed, with an energy."""
    chance = np.random.default_rng(seed)
    halves = 0.4 + 0.02 * chance.standard_normal((draws, 2))
    quarters = 0.4 + 0.03 * chance.standard_normal((draws, 4))
    split = SplitHalves(halves, quarters, chance.standard_normal(parts), 5, **more)  # type: ignore[arg-type]
    wh = 0.3 + chance.random()
    return MapUncertainty(0.4 + chance.random() / 10, split, parts), Energy(wh, wh / 100)


def singly(one: Side, others: list[Side]) -> list[Comparison]:
    """Compare one solution with the others, one after the other."""
    return [compare(one[0], other[0], one[1], other[1]) for other in others]


@pytest.mark.parametrize(("draws", "parts"), [(100, 1000), (20, 50), (1, 1), (7, 333), (64, 129)])
def test_the_bits_are_those_of_single_comparisons(draws: int, parts: int) -> None:
    """A report is the same whether its pairs were compared one by one or together."""
    sides = [side(seed, draws, parts) for seed in range(30)]
    together = Together(sides)
    for place, one in enumerate(sides):
        assert singly(one, sides[place + 1 :]) == together.with_those_behind(place)


def test_equal_solutions_and_none() -> None:
    """A team beside itself has no difference, and nobody to compare with gives nothing."""
    first = side(1)
    (same,) = Together([first, first]).with_those_behind(0)
    assert (0.0, singly(first, [first])) == (same.difference, [same])
    assert [] == Together([first]).with_those_behind(0)


def test_what_cannot_be_subtracted_together_is_compared_one_by_one() -> None:
    """Parts without a mAP, and unequal clusters, have rules of their own."""
    first, other, odd = side(1), side(2), side(3)
    odd[0].halves.quarters[3, 1] = math.nan
    unequal = side(4, imbalance=Imbalance(1.2, 1.3, 9.0))
    for others in ([other, odd], [other, unequal]):
        assert singly(first, others) == Together([first, *others]).with_those_behind(0)


def test_other_draws_are_refused() -> None:
    """Solutions that saw other images, or other draws of them, are no pair."""
    with pytest.raises(ArgumentError, match="the same images, seed and number of draws"):
        Together([side(1), side(2), side(3, draws=50)]).with_those_behind(0)
