# SPDX-License-Identifier: Apache-2.0
"""The measurements of one entry on the builds of the server, and the one that counts.

Source: rules of the On-device Visual Intelligence Challenge, April 2020. "The best score (across
all server builds) for each submission will be used", and after the close "the better measurement
between the two", that of the submission and that of the evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.extras.ovic.rules.score import OvicRules, OvicScore, best_score, ovic_score


@dataclass(frozen=True)
class BuildMeasurement:
    """A measurement of an entry: its accuracy in percent and its latency, on one build.

    `build` says in words what measured. `data` differs if the images or the ground truth do.
    `round` is the round of all entries that it was part of, or None. `struck` is why an operator
    struck it, empty unless one did.
    """

    build: str
    utc: str
    accuracy: float
    latency_ms: float
    data: str
    round: int | None = None
    struck: str = ""


@dataclass(frozen=True)
class Build:
    """A measurement with its score; `comparable` is False if it cannot count.

    It cannot if later ones have other data, or if it was struck.
    """

    measured: BuildMeasurement
    score: OvicScore
    comparable: bool
    counts: bool


def builds_of(rules: OvicRules, measured: Sequence[BuildMeasurement]) -> list[Build]:
    """Return the builds of an entry in their order; exactly one of them counts.

    The best valid score counts, of equals the first, and without a valid one the fastest. Those
    that were struck never count. Two accuracies on different data cannot be compared, so only those
    on the data of the last measurement can count. Raises ValueError without a measurement that
    stands.
    """
    scores = [
        ovic_score(rules, measurement.accuracy, measurement.latency_ms) for measurement in measured
    ]
    data = [measurement.data for measurement in measured if not measurement.struck]
    if not data:
        raise ValueError("no measurement stands")
    same = [measurement.data == data[-1] and not measurement.struck for measurement in measured]
    best = best_score([score for score, fit in zip(scores, same, strict=True) if fit])
    return [
        Build(measurement, score, fit, score is best)
        for measurement, score, fit in zip(measured, scores, same, strict=True)
    ]


def counting(builds: Sequence[Build]) -> Build:
    """Return the build that counts."""
    return next(build for build in builds if build.counts)
