# SPDX-License-Identifier: Apache-2.0
"""Figures of repeated latencies, and whether the machine was quiet enough to believe them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BLOCKS = 5
"""Parts of a measurement, one after the other, whose medians must agree."""

FEWEST_RUNS = 10 * BLOCKS
"""With fewer runs nothing can be said about stability."""

PERCENTILES = (1, 10, 25, 75, 90, 99)


@dataclass(frozen=True)
class Latency:
    """Figures of runs in milliseconds; `percentiles` maps each of `PERCENTILES` to its value."""

    runs: int
    mean: float
    median: float
    least: float
    most: float
    percentiles: dict[int, float]


@dataclass(frozen=True)
class Stability:
    """How far a measurement moved, as shares of its median; `reasons` says why it is refused.

    `drift` is the largest distance between the medians of its blocks. `excess` is the distance of
    the mean from the median: the score takes the mean, as the rules do, and interruptions by other
    programs raise it.
    """

    drift: float
    excess: float
    reasons: tuple[str, ...]

    @property
    def stable(self) -> bool:
        """Tell whether the measurement counts."""
        return not self.reasons


def latency_of(times_ms: Sequence[float]) -> Latency:
    """Return the figures of at least one run; percentiles are interpolated linearly."""
    times = np.asarray(times_ms, dtype=np.float64)
    values = np.percentile(times, PERCENTILES)
    return Latency(
        runs=len(times),
        mean=float(times.mean()),
        median=float(np.median(times)),
        least=float(times.min()),
        most=float(times.max()),
        percentiles={key: float(value) for key, value in zip(PERCENTILES, values, strict=True)},
    )


def stability_of(times_ms: Sequence[float], tolerance: float) -> Stability:
    """Judge runs in the order of their measurement; `tolerance` bounds drift and excess alike.

    Raises ValueError with fewer than `FEWEST_RUNS` runs.
    """
    if len(times_ms) < FEWEST_RUNS:
        raise ValueError(f"{len(times_ms)} runs are too few: measure {FEWEST_RUNS} or more")
    times = np.asarray(times_ms, dtype=np.float64)
    middle = float(np.median(times))
    blocks = [float(np.median(block)) for block in np.array_split(times, BLOCKS)]
    drift = (max(blocks) - min(blocks)) / middle
    excess = abs(float(times.mean()) - middle) / middle
    reasons = []
    if drift > tolerance:
        reasons.append(
            f"The medians of {BLOCKS} parts of the measurement differ by {100 * drift:.1f} %, more "
            f"than {100 * tolerance:.1f} %: the machine changed its speed, or other programs ran."
        )
    if excess > tolerance:
        reasons.append(
            f"The mean is {100 * excess:.1f} % away from the median, more than "
            f"{100 * tolerance:.1f} %: other programs interrupted the runs."
        )
    return Stability(drift, excess, tuple(reasons))
