# SPDX-License-Identifier: Apache-2.0
"""Two sessions side by side: which parts of energy and accuracy changed, and may the order turn."""

from __future__ import annotations

from dataclasses import dataclass

from referee.errors import ArgumentError
from referee.extras.coach.rules.parts import Phase, WhereItWent
from referee.extras.coach.rules.played import Played
from referee.scoring import Comparison, Energy, Rules, compare, evaluate
from referee.scoring.uncertainty import standard_uncertainty


@dataclass(frozen=True)
class Change:
    """A part of the energy in the first and in the second session."""

    phase: Phase
    first_wh: float
    second_wh: float
    first_s: float
    second_s: float


@dataclass(frozen=True)
class SideBySide:
    """Two sessions; `comparison` is None where their scores cannot be compared.

    It is of the scores on the same images, the second minus the first. `ground_truth_differs` tells
    that the images or the truth were not the same.
    """

    changes: tuple[Change, ...]
    first_mean_ap: float | None
    second_mean_ap: float | None
    comparison: Comparison | None
    ground_truth_differs: bool = False


def side_by_side(
    first: tuple[Played, WhereItWent],
    second: tuple[Played, WhereItWent],
    rules: Rules | str = "devkit",
) -> SideBySide:
    """Return what differs between two sessions.

    The probability that another contest would turn their order is that of two sessions alone.
    """
    (one, went), (other, later) = first, second
    results = [evaluate(each.truth, each.detections, rules) for each in (one, other)]
    changes = tuple(
        Change(
            phase,
            went.part(phase).energy_wh,
            later.part(phase).energy_wh,
            went.part(phase).seconds,
            later.part(phase).seconds,
        )
        for phase in Phase
    )
    comparison, differs = None, False
    if all(result.mean_ap is not None for result in results):
        try:
            comparison = compare(results[1], results[0], _energy(other), _energy(one))
        except ArgumentError:
            differs = True
    return SideBySide(changes, results[0].mean_ap, results[1].mean_ap, comparison, differs)


def _energy(played: Played) -> Energy:
    bound_wh = played.uncertainty_wh or 0.0
    return Energy(played.energy_wh, standard_uncertainty(bound_wh))
