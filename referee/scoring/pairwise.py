# SPDX-License-Identifier: Apache-2.0
"""Many solutions on the same images compared with each other, as `compare` does it with two.

All pairs of n teams are half of n² comparisons, each with its own interval, so their number cannot
fall. Here the draws of many pairs are subtracted in one step: a pair then costs a tenth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from referee.scoring.clusters import BALANCED
from referee.scoring.comparison import Comparison, compare, compared, degrees_of
from referee.scoring.uncertainty import Energy, MapUncertainty, variance_of

Floats = NDArray[np.float64]

Side = tuple[MapUncertainty, Energy]
"""A solution with its energy; `Energy(1.0)` compares mAPs."""


class Together:
    """Solutions on the same images, each of which is compared with all behind it.

    Raises ArgumentError in `with_those_behind` unless all have the same images, clusters, seed and
    number of draws.
    """

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides = sides
        self._plain = all(map(_is_plain, sides)) and len(set(map(_shape, sides))) < 2
        if self._plain and sides:
            self._halves = _scores([it.halves.halves for it, _ in sides], sides)
            self._quarters = _scores([it.halves.quarters for it, _ in sides], sides)
            self._parts = _scores([it.halves.parts for it, _ in sides], sides)
            self._beyond = [it.beyond_spread() for it, _ in sides]

    def with_those_behind(self, place: int) -> list[Comparison]:
        """Return the comparisons of one with each behind it, with the same bits as `compare`."""
        (result, energy), others = self._sides[place], self._sides[place + 1 :]
        if not others:
            return []
        if not self._plain:
            return [compare(result, other, energy, its_energy) for other, its_energy in others]
        halves, quarters, parts = (
            scores[place] - scores[place + 1 :]
            for scores in (self._halves, self._quarters, self._parts)
        )
        from_halves = np.var(halves, axis=2, ddof=1).mean(axis=1).tolist()
        from_quarters = np.var(quarters, axis=2, ddof=1).mean(axis=1).tolist()
        squares = parts**2
        second, fourth = squares.mean(axis=1).tolist(), (squares**2).mean(axis=1).tolist()
        return [
            compared(
                (result.estimate, other.estimate),
                (energy, its_energy),
                variance_of(from_halves[n], from_quarters[n], BALANCED),
                degrees_of(parts.shape[1], second[n], fourth[n], BALANCED.degrees),
                beyond=(self._beyond[place], self._beyond[place + 1 + n]),
            )
            for n, (other, its_energy) in enumerate(others)
        ]


def _scores(values: Sequence[Floats], sides: Sequence[Side]) -> Floats:
    """Return the mAPs divided by the energies, solution by solution."""
    scores: Floats = np.stack(
        [1 / energy.wh * one for one, (_, energy) in zip(values, sides, strict=True)]
    )
    return scores


def _is_plain(side: Side) -> bool:
    """Tell whether the images are independent, and each part of them has a mAP."""
    halves = side[0].halves
    return (
        halves.cluster is None
        and halves.imbalance == BALANCED
        and bool(np.isfinite(halves.halves).all() and np.isfinite(halves.quarters).all())
    )


def _shape(side: Side) -> tuple[object, ...]:
    halves = side[0].halves
    shapes = (halves.halves.shape, halves.quarters.shape, halves.parts.shape)
    return halves.seed, shapes, halves.basis
