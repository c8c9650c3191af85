# SPDX-License-Identifier: Apache-2.0
"""The comparison of two solutions on the same images, and whether a second contest would turn it.

Both saw the same images, so their halves are drawn alike and the differences count, pair by pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from referee.core.arguments import require, require_count, several, told
from referee.errors import ArgumentError
from referee.scoring import student
from referee.scoring.clusters import Clusters
from referee.scoring.result import IlsvrcResult
from referee.scoring.second_contest import Spread, estimate_spread, turn_probability
from referee.scoring.split_half import SplitHalves
from referee.scoring.uncertainty import (
    LEVEL,
    Energy,
    Interval,
    MapUncertainty,
    measure_uncertainty,
    require_level,
    variance,
)


@dataclass(frozen=True)
class Comparison:
    """The difference of two sessions' scores on the same images, first minus second.

    `standard_error` is NaN if the halves cannot tell, and `degrees` are its degrees of freedom. It
    includes what rare failures may take from the one that is ahead.
    """

    difference: float
    standard_error: float
    interval: Interval
    degrees: float

    @property
    def turn_probability(self) -> float:
        """Return `turns_among` these two sessions alone, as if nobody else had taken part."""
        alone = spread_of([self], 2)
        return 0.5 if alone is None else self.turns_among(alone)

    def turns_among(self, spread: Spread) -> float:
        """Return how probable another ranking of the two is in a second contest.

        It has as many other images of the same kind, and the energies are measured again. `spread`
        is that of all teams of the event. An equal result counts half.
        """
        return turn_probability(self.difference, self.standard_error, self.degrees, spread)


def spread_of(pairs: Iterable[Comparison], teams: int) -> Spread | None:
    """Estimate how far the true scores of `teams` teams lie apart, from each pair of them.

    A pair that the halves cannot tell takes no part; None if no pair is left.
    """
    require_count(teams, "teams", 0)
    all_pairs = [require("a pair", one, Comparison) for one in several(pairs, "pairs")]
    return estimate_spread([(one.difference, one.standard_error) for one in all_pairs], teams)


Measured = IlsvrcResult | MapUncertainty
"""A result, or what `measure_uncertainty` has made of it."""


def compare(
    first: Measured,
    second: Measured,
    first_energy: Energy | None = None,
    second_energy: Energy | None = None,
    level: float = LEVEL,
    *,
    draws: int = 500,
    seed: int = 0,
    clusters: Clusters | None = None,
) -> Comparison:
    """Compare two solutions on the same images: their scores, or their mAPs without energies.

    The energies err independently. Images count pairwise, because both solutions saw the same ones.
    If one meter measured both energies, they share part of their error, and the interval is too
    wide. `draws`, `seed` and `clusters` are for results, see `measure_uncertainty`.

    Raises ArgumentError for a result without a mAP, for one energy alone, for clusters beside two
    measurements, which have theirs, and unless both have the same images, ground truth, rules,
    clusters, seed and number of draws.
    """
    if clusters is not None and not any(isinstance(it, IlsvrcResult) for it in (first, second)):
        raise ArgumentError(
            "clusters are for results: give them to measure_uncertainty, for both solutions"
        )
    if (first_energy is None) != (second_energy is None):
        raise ArgumentError("give the energies of both, or compare the mAPs with neither")
    measured = [
        _measured(one, which, draws=draws, seed=seed, clusters=clusters)
        for one, which in ((first, "first"), (second, "second"))
    ]
    energies = [_energy(first_energy), _energy(second_energy)]
    return _compare(measured, energies, require_level(level))


def _measured(
    solution: object, which: str, *, draws: int, seed: int, clusters: Clusters | None
) -> MapUncertainty:
    if isinstance(solution, IlsvrcResult):
        measured = measure_uncertainty(solution, draws, seed, clusters=clusters)
        if measured is None:
            raise ArgumentError(f"the {which} result has no mAP: no class has ground truth")
        return measured
    if not isinstance(solution, MapUncertainty):
        raise ArgumentError(
            f"the {which} solution is {told(solution)}: give the result of evaluate"
        )
    return solution


def _energy(energy: object) -> Energy:
    """Return an energy; without one it is 1 Wh, so that a score is the mAP."""
    if energy is None:
        return Energy(1.0)
    if not isinstance(energy, Energy):
        raise ArgumentError(f"an energy is {told(energy)}: give Energy(watt_hours, uncertainty)")
    return energy


def _compare(
    measured: Sequence[MapUncertainty], energies: Sequence[Energy], level: float
) -> Comparison:
    first, second = measured
    halves = first.halves.times(1 / energies[0].wh).minus(second.halves.times(1 / energies[1].wh))
    return compared(
        (first.estimate, second.estimate),
        energies,
        variance(halves),
        _degrees(halves),
        level,
        (first.beyond_spread(level), second.beyond_spread(level)),
    )


_NOTHING_BEYOND = ((0.0, 0.0), (0.0, 0.0))


def compared(
    estimates: Sequence[float],
    energies: Sequence[Energy],
    variance: float,
    degrees: float,
    level: float = LEVEL,
    beyond: Sequence[tuple[float, float]] = _NOTHING_BEYOND,
) -> Comparison:
    """Return the comparison of two mAPs by energies; `variance` is that which the images give.

    `beyond` has what rare failures add to each mAP, see `MapUncertainty.beyond_spread`. The
    difference is lowest where the first mAP is lowest and the second highest, and the squares of
    both distances add. That is the interval of G. Y. Zou, A. Donner (see `score_intervals`), with
    the draws in the place of a correlation. No draw shows whether the rare failures of two
    solutions come together, so they count as independent.
    """
    first_energy, second_energy = energies
    scores = (estimates[0] / first_energy.wh, estimates[1] / second_energy.wh)
    relative = [energy.uncertainty_wh / energy.wh for energy in energies]
    from_energy = math.hypot(scores[0] * relative[0], scores[1] * relative[1])
    from_images = math.sqrt(variance)
    error = math.hypot(from_images, from_energy)
    lower, higher = _rare_reaches(energies, beyond)
    # Welch and Satterthwaite; the error of the energy is exactly known. GUM, G.4.1.
    if from_images > 0:
        degrees *= (error / from_images) ** 4
    elif max(lower, higher) == 0:
        degrees = math.inf
    difference = scores[0] - scores[1]
    least, most = -1 / second_energy.wh, 1 / first_energy.wh
    ends = (least, most)
    if not math.isnan(error):
        reach = student.quantile((1 + level) / 2, degrees) * error
        below, above = math.hypot(reach, lower), math.hypot(reach, higher)
        ends = (max(difference - below, least), min(difference + above, most))
    towards = lower if difference > 0 else higher if difference < 0 else max(lower, higher)
    error = math.hypot(error, towards / student.quantile((1 + level) / 2, math.inf))
    return Comparison(difference, error, Interval(*ends, level), degrees)


def _rare_reaches(
    energies: Sequence[Energy], beyond: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """Return how far rare failures may lower and raise a difference of scores."""
    (low, high), (other_low, other_high) = beyond
    first, second = (1 / energy.wh for energy in energies)
    return (
        math.hypot(math.sqrt(low) * first, math.sqrt(other_high) * second),
        math.hypot(math.sqrt(high) * first, math.sqrt(other_low) * second),
    )


def _degrees(halves: SplitHalves) -> float:
    """Return the degrees of freedom of a difference's variance, from the kurtosis of its parts.

    A variance that rests on few images is itself uncertain: its relative variance is
    (kurtosis - 1) / n, that of f degrees of freedom 2 / f. Half of that counts here. The half was
    chosen in the simulation of `tests/bench/coverage.py`. Unequal clusters leave no more than
    `Imbalance.degrees`.
    """
    squares = halves.parts**2  # Squared once more it is ten times as fast as a fourth power.
    second, fourth = float(np.mean(squares)), float(np.mean(squares**2))
    return degrees_of(len(halves.parts), second, fourth, halves.imbalance.degrees)


def degrees_of(parts: int, second: float, fourth: float, most: float) -> float:
    """Return the degrees of freedom by the mean second and fourth powers of the parts."""
    if second == 0:
        return min(max(parts - 1.0, 1.0), most)
    excess = fourth / second**2 - 1
    return min(4 * parts / excess if excess > 0 else math.inf, parts - 1.0, most)
