# SPDX-License-Identifier: Apache-2.0
"""The uncertainty of a score, and the probability that a rival passes it, ready for JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from referee.scoring.result import IlsvrcResult
from referee.scoring.score_report import Report
from referee.scoring.uncertainty import (
    Interval,
    MapSamples,
    ScoreSamples,
    bootstrap,
    turn_probability,
    with_energy,
)


@dataclass(frozen=True)
class Draws:
    """The number of draws of the images, their seed, and a function that gets the progress."""

    resamples: int = 1000
    seed: int = 0
    progress: Callable[[int, int], None] | None = None


def uncertainty_report(
    result: IlsvrcResult, draws: Draws, energy_wh: float | None, energy_uncertainty_wh: float
) -> Report:
    """Return 95 % intervals of mAP and, with energy, of the score; ready for JSON.

    `energy_uncertainty_wh` is a standard uncertainty, 1 sigma.
    """
    samples = _draw(result, draws)
    report: Report = {
        "resamples": draws.resamples,
        "seed": draws.seed,
        "level": samples.interval().level,
        "mean_ap": _ends(samples.interval()),
        "mean_ap_standard_error": samples.standard_error(),
        "bias_of_draws": samples.bias(),
    }
    if energy_wh is not None:
        report["energy_uncertainty_wh"] = energy_uncertainty_wh
        score = with_energy(samples, energy_wh, energy_uncertainty_wh)
        report["score"] = _ends(score.interval())
    return {"uncertainty": report}


def rival_report(
    result: IlsvrcResult,
    energy: tuple[float, float] | None,
    rival: IlsvrcResult,
    rival_energy: tuple[float, float] | None,
    draws: Draws,
) -> Report:
    """Compare two sessions on one ground truth.

    The report says which session is ahead, and the probability that the order would change.
    `energy` and `rival_energy` are an energy and its standard uncertainty, in Wh. With None for
    both, the mAPs are compared, and the rival's energy and score are None.
    """
    mine = with_energy(_draw(result, draws), *(energy or (1.0, 0.0)), session=0)
    theirs = with_energy(_draw(rival, draws), *(rival_energy or (1.0, 0.0)), session=1)
    return {
        "rival": {
            "mean_ap": rival.mean_ap,
            "energy_wh": rival_energy[0] if rival_energy else None,
            "score": theirs.estimate if rival_energy else None,
            "ahead": _ahead(mine, theirs),
            "turn_probability": turn_probability(mine, theirs),
        }
    }


def _draw(result: IlsvrcResult, draws: Draws) -> MapSamples:
    samples = bootstrap(result, draws.resamples, draws.seed, draws.progress)
    if samples is None:
        raise ValueError("a result without mAP has no uncertainty")
    return samples


def _ahead(mine: ScoreSamples, theirs: ScoreSamples) -> bool | None:
    return None if mine.estimate == theirs.estimate else mine.estimate > theirs.estimate


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]
