# SPDX-License-Identifier: Apache-2.0
"""The moment at which a logout had given the best score, and how sure that is.

Which moment is the best for more images of the same kind is another question than which was, since
a few lucky images can lift one moment above the others. So the images count as a sample. The client
meets other images in the same places of its time: what varies is which image comes in a place, so
the spread is taken among the images that were answered at about the same time. It comes from the
influence of each image on each score.

Scores are compared by their quotient, whose logarithm is near to normal. Where two moments have the
same answers, as after the last one, no image moves it: a gain from an earlier logout is then exact.

A moment may be the best unless another one is significantly better. All others are compared at
once, with the error of each comparison of such a set at most 5 %: J. C. Hsu, "Simultaneous
confidence intervals for all distances from the best", Annals of Statistics 9 (1981). The moments
that are left are those of `low_s` to `high_s`, and hold the true best with 95 %. The energy of all
moments is of one meter, whose error turns no order; what its updates leave open counts beside that.
Moments with fewer than 20 images between them are not told apart: a few images tell no spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from referee.extras.coach.rules.moments import IMAGES_LEAST, Moment, scored_moments
from referee.extras.coach.rules.played import Played
from referee.scoring import Rules, student
from referee.scoring.uncertainty import LEVEL

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DRAWS = 2000
# The reach in errors is rounded up to these, so that few quantiles serve many comparisons.
_REACH_STEP = 0.02
# The spread is taken among so many images at least.
_STRATUM_LEAST = 8
# Two scores that differ by less have no spread: nothing but their rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class BestMoment:
    """The best moment to log out.

    `moments` are in order of time; the last one is the end. `best` has the highest score of those
    that are better than the end beyond the uncertainty, or without such ones of all. The true best
    lies between the moments `low` and `high` with 95 %. `gain` is the score at the best moment
    over that at the end, minus 1, and lies between `gain_low` and `gain_high` with 95 %; these are
    -1 and infinite where too few images lie between the two.
    """

    moments: tuple[Moment, ...]
    best: Moment
    low: Moment
    high: Moment
    gain: float
    gain_low: float
    gain_high: float

    @property
    def is_better(self) -> bool:
        """Tell whether the best moment is better than the end beyond the uncertainty."""
        return self.gain_low > 0.0


def best_moment(
    played: Played,
    rules: Rules | str = "devkit",
    progress: Callable[[int, int], None] | None = None,
) -> BestMoment | None:
    """Return the best moment to log out; None for a session without a score above 0 at its end.

    `progress` gets the number of moments done and that of all.
    """
    scored = scored_moments(played, rules, progress)
    if scored is None:
        return None
    moments = scored.moments
    logs = np.log([one.score for one in moments])
    spread = _spread(scored.influences / [[one.mean_ap] for one in moments], scored.place)
    within = np.array([one.within_wh / one.energy_wh for one in moments])
    reach = _Reach(spread, within, scored.named)
    kept = [one for one in range(len(moments)) if (logs - logs[one] <= reach.beyond(one)).all()]
    end = len(moments) - 1
    gains, beyonds = logs - logs[end], reach.beyond(end)
    better = np.flatnonzero(gains > beyonds)
    looked_at = better if len(better) else np.arange(len(moments))
    # Of scores that are equal the latest one rests on most images.
    best = int(looked_at[gains[looked_at] >= gains[looked_at].max() - _ROUNDING][-1])
    gained, beyond = float(gains[best]), float(beyonds[best])
    return BestMoment(
        moments=moments,
        best=moments[best],
        low=moments[kept[0]],
        high=moments[kept[-1]],
        gain=math.expm1(gained),
        gain_low=math.expm1(gained - beyond),
        gain_high=math.expm1(gained + beyond),
    )


@dataclass(frozen=True, eq=False)
class _Spread:
    """What images in the same places of time do to the logarithms of all scores.

    `parts` has the covariance (moments, moments) from each stratum of images, `freedom` the number
    of images of each, less one.
    """

    parts: Floats
    freedom: Ints

    @property
    def whole(self) -> Floats:
        """Return the covariance, (moments, moments)."""
        total: Floats = self.parts.sum(axis=0)
        return total

    def of_differences(self, one: int) -> tuple[Floats, Floats]:
        """Return the variance of each minus that of `one`, and its degrees of freedom.

        The degrees are those of Welch and Satterthwaite: few images may decide a difference.
        """
        own = np.diagonal(self.parts, axis1=1, axis2=2)
        apart = np.maximum(own + own[:, [one]] - 2 * self.parts[:, one], 0.0)
        whole = apart.sum(axis=0)
        squares = (apart**2 / self.freedom[:, None]).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = np.where(squares > 0, whole**2 / squares, np.inf)
        return whole, degrees


def _spread(influences: Floats, place: Ints) -> _Spread:
    """Return the spread; `influences` (moments, images) are those on the logarithms."""
    parts, freedom = [], []
    for images in _strata(place):
        part = influences[:, images]
        apart = part - part.mean(axis=1, keepdims=True)
        free = max(1, len(images) - 1)
        parts.append(apart @ apart.T * (len(images) / free))
        freedom.append(free)
    return _Spread(np.stack(parts), np.array(freedom))


def _strata(place: Ints) -> list[Ints]:
    """Return the images that were answered at about the same time, by their positions."""
    ordered = np.argsort(place, kind="stable")
    begins = np.flatnonzero(np.diff(place[ordered], prepend=-1))
    strata: list[Ints] = []
    for part in np.split(ordered, begins[1:]):
        if strata and len(strata[-1]) < _STRATUM_LEAST:
            strata[-1] = np.concatenate([strata[-1], part])
        else:
            strata.append(part)
    if len(strata) > 1 and len(strata[-1]) < _STRATUM_LEAST:
        strata[-2:] = [np.concatenate(strata[-2:])]
    return strata


class _Reach:
    """How far logarithms of scores may exceed that of a moment by chance, all at once."""

    def __init__(self, spread: _Spread, within: Floats, named: Ints) -> None:
        self._spread = spread
        self._named = named
        self._within = within
        values, vectors = np.linalg.eigh(spread.whole)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        normal = np.random.default_rng(0).standard_normal((_DRAWS, len(values)))
        self._drawn: Floats = normal @ root.T
        self._least = _ROUNDING * float(np.sqrt(values.max(initial=0.0)))

    def beyond(self, one: int) -> Floats:
        """Return by how much that of each moment may exceed that of `one`, (moments,)."""
        variance, degrees = self._spread.of_differences(one)
        error = np.sqrt(variance)
        differs = error > self._least
        reach: Floats = self._within + self._within[one]
        apart_by = np.abs(self._named - self._named[one])
        near = (apart_by > 0) & (apart_by < IMAGES_LEAST)
        differs &= ~near
        if differs.any():
            apart = self._drawn[:, differs] - self._drawn[:, [one]]
            most = float(np.quantile((apart / error[differs]).max(axis=1), LEVEL))
            # The same chance of a miss with as many degrees as the difference has.
            most = math.ceil(most / _REACH_STEP) * _REACH_STEP
            steps, which = np.unique(_steps_down(degrees[differs]), return_inverse=True)
            students = np.array([_student(most, free) for free in steps.tolist()])
            reach[differs] += students[which] * error[differs]
        reach[near] = np.inf
        return reach


@cache
def _student(reach: float, degrees: float) -> float:
    """Return the reach of t that has the chance of a normal one."""
    return student.quantile(NormalDist().cdf(reach), degrees)


def _steps_down(degrees: Floats) -> Floats:
    """Return degrees of freedom rounded down, by 11 % at most: few quantiles serve many of them."""
    steps: Floats = 10 ** (np.floor(20 * np.log10(degrees)) / 20)
    return steps
