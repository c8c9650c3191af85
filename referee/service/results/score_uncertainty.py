# SPDX-License-Identifier: Apache-2.0
"""The uncertainty of a score, and the comparison with a rival, ready for JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from referee.scoring.clusters import Clusters
from referee.scoring.comparison import compare
from referee.scoring.lpirc import score
from referee.scoring.result import IlsvrcResult
from referee.scoring.score_report import Report
from referee.scoring.uncertainty import (
    Energy,
    Interval,
    MapUncertainty,
    measure_uncertainty,
    score_intervals,
)

_MEANING = "mean of all contests with as many images of the same kind"
_MEANING_WITH_CLUSTERS = "mean of all contests with as many clusters of images of the same kind"


@dataclass(frozen=True)
class Draws:
    """The number of draws of the images, their seed, and a function that gets the progress.

    `clusters` names the cluster of each image, see `measure_uncertainty`.
    """

    resamples: int = 500
    seed: int = 0
    progress: Callable[[int, int], None] | None = None
    clusters: Clusters | None = None

    def of(self, result: IlsvrcResult) -> MapUncertainty:
        """Return the uncertainty of a result; raise ValueError without a mAP."""
        measured = measure_uncertainty(
            result, self.resamples, self.seed, self.progress, clusters=self.clusters
        )
        if measured is None:
            raise ValueError("a result without mAP has no uncertainty")
        return measured


def uncertainty_report(mine: MapUncertainty, energy: Energy | None, draws: Draws) -> Report:
    """Return 95 % intervals of mAP and, with energy, of the score; ready for JSON."""
    interval = mine.interval()
    report: Report = {
        "resamples": draws.resamples,
        "seed": draws.seed,
        "level": interval.level,
        "interval_of": _MEANING,
        "interval_rule": mine.rule,
        "mean_ap": _ends(interval),
        "mean_ap_standard_error": _number(mine.standard_error()),
        "bias_of_draws": _number(mine.bias_of_draws()),
    }
    if mine.halves.cluster is not None:
        report["clusters"] = len(mine.halves.parts)
        report["interval_of"] = _MEANING_WITH_CLUSTERS
    if energy is not None:
        scores = score_intervals(mine, energy)
        report["energy_uncertainty_wh"] = energy.uncertainty_wh
        report["score"] = _ends(scores.whole)
        report["score_from_images"] = _ends(scores.images)
        report["score_from_energy"] = _ends(scores.energy)
    return {"uncertainty": report}


def rival_report(
    mine: MapUncertainty,
    theirs: MapUncertainty,
    energies: tuple[Energy, Energy] | None,
) -> Report:
    """Compare two sessions on one ground truth: by score, or by mAP without energies.

    The report has the difference, first minus second, with its interval, and the probability that a
    second contest would turn the ranking.
    """
    ours, rivals = energies or (Energy(1.0), Energy(1.0))
    comparison = compare(mine, theirs, ours, rivals)
    return {
        "rival": {
            "mean_ap": theirs.estimate,
            "energy_wh": rivals.wh if energies else None,
            "score": score(theirs.estimate, rivals.wh) if energies else None,
            "compared": "score" if energies else "mean_ap",
            "ahead": comparison.difference > 0 if comparison.difference else None,
            "difference": comparison.difference,
            "difference_interval": _ends(comparison.interval),
            "difference_standard_error": _number(comparison.standard_error),
            "turn_probability": comparison.turn_probability,
            # No other team is known here, so the spread of the true scores is that of these two.
            "turn_from_sessions": 2,
        }
    }


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def _number(value: float) -> float | None:
    """Return a number for JSON, which has none for "cannot be told"."""
    return value if math.isfinite(value) else None
