# SPDX-License-Identifier: Apache-2.0
"""Estimate a Pareto frontier a(t) = k ln t + a0 from baselines: accuracy in percent, latency in ms.

The rules of OVIC estimate their frontier again from time to time, and do not say how. This is how
it is done here:

1. A baseline that is far above the trend of all baselines is set aside and named: a mistyped
   number or a model that saw the test images would else dominate every honest baseline. The trend
   is a Theil-Sen line over ln t; far is more than `FAR` robust standard deviations of the
   residuals, and at least `FAR_POINTS` points. Baselines below the trend are no danger.
2. Of the others, those on the Pareto front stay: no other baseline is as fast and as accurate, and
   better in one of the two.
3. The frontier is the Theil-Sen line through the front: k is the median of the slopes of all
   pairs, a0 the median of what is left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from referee.extras.ovic.rules.score import Frontier

FAR = 4.0
"""Robust standard deviations above the trend from which a baseline is set aside."""

FAR_POINTS = 5.0
"""Percentage points above the trend up to which no baseline is set aside."""

LEAST_BASELINES = 3
"""Baselines on the Pareto front that an estimate needs; two would fit any error exactly."""

# The median absolute deviation of a normal distribution, times this, is its standard deviation.
_MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True)
class Baseline:
    """One known model: its mean latency in milliseconds and its accuracy in percent."""

    name: str
    latency_ms: float
    accuracy: float


@dataclass(frozen=True)
class FrontierEstimate:
    """A frontier with the baselines that made it.

    `front` has the Pareto front by rising latency, `dominated` the baselines behind it, and
    `set_aside` those that are too good to be true. `spread` is the median distance of the front's
    baselines from the frontier, in points.
    """

    frontier: Frontier
    front: tuple[Baseline, ...]
    dominated: tuple[Baseline, ...]
    set_aside: tuple[Baseline, ...]
    spread: float


def estimate_frontier(baselines: Sequence[Baseline]) -> FrontierEstimate:
    """Estimate the frontier of baselines; the module's text says how.

    Raises ValueError for a figure outside its range, or with fewer than `LEAST_BASELINES` different
    latencies on the Pareto front.
    """
    for baseline in baselines:
        if not (
            math.isfinite(baseline.latency_ms)
            and baseline.latency_ms > 0
            and 0 <= baseline.accuracy <= 100
        ):
            raise ValueError(
                f"baseline {baseline.name}: {baseline.accuracy:g} % at {baseline.latency_ms:g} ms:"
                " give 0 to 100 percent, and a latency above 0"
            )
    honest, set_aside = _split_suspicious(baselines)
    front = pareto_front(honest)
    if len({baseline.latency_ms for baseline in front}) < LEAST_BASELINES:
        raise ValueError(
            f"{len(front)} of {len(baselines)} baselines are on the Pareto front: a frontier needs"
            f" {LEAST_BASELINES} or more, of different latencies"
        )
    frontier = _theil_sen(front)
    return FrontierEstimate(
        frontier=frontier,
        front=tuple(front),
        dominated=tuple(baseline for baseline in honest if baseline not in front),
        set_aside=tuple(set_aside),
        spread=median(abs(_above(frontier, baseline)) for baseline in front),
    )


def pareto_front(baselines: Sequence[Baseline]) -> list[Baseline]:
    """Return the baselines that no other dominates, by rising latency.

    One baseline dominates another if it is as fast and as accurate, and better in one of the two.
    Twins, equal in both, do not dominate each other.
    """
    front = [
        baseline
        for baseline in baselines
        if not any(_dominates(other, baseline) for other in baselines)
    ]
    return sorted(front, key=lambda baseline: (baseline.latency_ms, baseline.name))


def _dominates(baseline: Baseline, other: Baseline) -> bool:
    as_good = baseline.latency_ms <= other.latency_ms and baseline.accuracy >= other.accuracy
    return as_good and (baseline.latency_ms, baseline.accuracy) != (
        other.latency_ms,
        other.accuracy,
    )


def _split_suspicious(
    baselines: Sequence[Baseline],
) -> tuple[list[Baseline], list[Baseline]]:
    """Return the baselines to use, and those that are far above the trend of all."""
    if len({baseline.latency_ms for baseline in baselines}) < LEAST_BASELINES:
        return list(baselines), []
    trend = _theil_sen(baselines)
    distance = {baseline: _above(trend, baseline) for baseline in baselines}
    sigma = _MAD_TO_SIGMA * median(abs(value) for value in distance.values())
    limit = max(FAR * sigma, FAR_POINTS)
    return (
        [baseline for baseline in baselines if distance[baseline] <= limit],
        [baseline for baseline in baselines if distance[baseline] > limit],
    )


def _theil_sen(baselines: Sequence[Baseline]) -> Frontier:
    """Return the line over ln t whose slope is the median of the slopes of all pairs."""
    slopes = [
        (right.accuracy - left.accuracy) / math.log(right.latency_ms / left.latency_ms)
        for left, right in itertools.combinations(baselines, 2)
        if left.latency_ms != right.latency_ms
    ]
    k = median(slopes)
    return Frontier(
        k, median(baseline.accuracy - k * math.log(baseline.latency_ms) for baseline in baselines)
    )


def _above(frontier: Frontier, baseline: Baseline) -> float:
    """Return the points by which a baseline is above the frontier."""
    return baseline.accuracy - frontier.at(baseline.latency_ms)
