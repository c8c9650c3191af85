# SPDX-License-Identifier: Apache-2.0
"""The moment at which a logout had given the best score, and how sure that is.

The score that a session had had if it had ended at a moment is the mAP of the answers until then by
the energy until then. Both are known: answers have times, and the integrator counts on.

Which moment is the best for more images of the same kind is another question, since a few lucky
images can lift one moment above the others. So the images count as a sample. The client meets other
images in the same places of its time: what varies is which image comes in a place, so the spread is
taken among the images that were answered at about the same time. It comes from the influence of
each image on each score.

A moment may be the best unless another one is significantly better. All others are compared at
once, with the error of each comparison of such a set at most 5 %: J. C. Hsu, "Simultaneous
confidence intervals for all distances from the best", Annals of Statistics 9 (1981). The moments
that are left are those of `low_s` to `high_s`, and hold the true best with 95 %. The energy of all
moments is of one meter, whose error turns no order; what its updates leave open counts beside that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from referee.extras.coach.rules.played import Answered, Played
from referee.scoring import LiveScore, Rules, student
from referee.scoring.split_half import Drawing
from referee.scoring.uncertainty import LEVEL

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOMENTS_MOST = 60
"""A score is computed at so many moments at most; each costs as much as a score of the session."""

IMAGES_LEAST = 20
"""From so many answered images on a moment is looked at: before, a few lucky boxes decide."""

_DRAWS = 4000
# The spread is taken among so many images at least.
_STRATUM_LEAST = 8
# Two scores that differ by less have no spread: nothing but their rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Moment:
    """What the session had come to at a moment, if it had ended there.

    `images` counts the images answered. The energy may be off by `within_wh`, because the meter
    counts at its updates alone.
    """

    at_s: float
    images: int
    mean_ap: float
    energy_wh: float
    within_wh: float

    @property
    def score(self) -> float:
        """Return mAP per watt-hour."""
        return self.mean_ap / self.energy_wh


@dataclass(frozen=True)
class BestMoment:
    """The best moment to log out.

    `moments` are in order of time; the last one is the end. `best` has the highest score. The true
    best lies between `low_s` and `high_s` with 95 %. `gain` is the score at the best moment over
    that at the end, minus 1, and lies between `gain_low` and `gain_high` with 95 %.
    """

    moments: tuple[Moment, ...]
    best: Moment
    low_s: float
    high_s: float
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
    moments, influences, place = _scored(played, rules, progress)
    if not moments or moments[-1].score <= 0.0:
        return None
    scores = np.array([one.score for one in moments])
    spread = _spread(influences / [[one.energy_wh] for one in moments], place)
    within = scores * np.array([one.within_wh / one.energy_wh for one in moments])
    reach = _Reach(spread, within)
    may_be_best = [
        bool((scores - scores[one] <= reach.beyond(one)).all()) for one in range(len(moments))
    ]
    # Of scores that are equal the latest one rests on most images.
    best = int(np.flatnonzero(scores >= scores.max() * (1 - _ROUNDING))[-1])
    end = len(moments) - 1
    kept = [one.at_s for one, may_be in zip(moments, may_be_best, strict=True) if may_be]
    gained, beyond = scores[best] - scores[end], float(reach.beyond(end)[best])
    # Nothing is gained at the end itself, for sure.
    return BestMoment(
        moments=tuple(moments),
        best=moments[best],
        low_s=min(kept),
        high_s=max(kept),
        gain=float(gained / scores[end]),
        gain_low=float((gained - beyond) / scores[end]),
        gain_high=float((gained + beyond) / scores[end]),
    )


def _scored(
    played: Played, rules: Rules | str, progress: Callable[[int, int], None] | None
) -> tuple[list[Moment], Floats, Ints]:
    """Return the moments, the influence of each image (moments, images), and each image's place.

    An image's place is the number of the moment at which it had been answered, or that of all.
    """
    live = LiveScore(played.truth, rules)
    times = _times(played)
    ids = played.truth.image_ids
    place = np.full(len(ids), len(times), dtype=np.int64)
    moments: list[Moment] = []
    influences: list[Floats] = []
    sent = 0
    for number, at_s in enumerate(times):
        while sent < len(played.answers) and played.answers[sent].at_s <= at_s:
            answer = played.answers[sent]
            live.add(answer.detections)
            known = np.isin(ids, answer.images) & (place == len(times))
            place[known] = number
            sent += 1
        result = live.result()
        if result.mean_ap is None:
            return [], np.zeros((0, len(ids))), place
        moments.append(_moment(played, at_s, int((place <= number).sum()), result.mean_ap))
        influences.append(Drawing(result).influence)
        if progress:
            progress(number + 1, len(times))
    return moments, np.stack(influences), place


def _times(played: Played) -> list[float]:
    """Return the moments: those of the answers, or of as many of them as are allowed, and the end.

    A moment with no energy divides nothing.
    """
    came = sorted(
        {
            answer.at_s
            for answer, images in zip(played.answers, _images_until(played.answers), strict=True)
            if images >= IMAGES_LEAST and 0.0 < answer.at_s < played.ended_s
        }
    )
    if len(came) >= MOMENTS_MOST:
        chosen = np.linspace(0, len(came) - 1, MOMENTS_MOST - 1).round().astype(int)
        came = [came[one] for one in np.unique(chosen)]
    counted = [at_s for at_s in came if played.energy_between((0.0, at_s)) > 0.0]
    return [*counted, played.ended_s]


def _images_until(answers: Sequence[Answered]) -> Iterator[int]:
    """Yield the number of different images answered until each answer."""
    known: set[int] = set()
    for answer in answers:
        known.update(answer.images.tolist())
        yield len(known)


def _moment(played: Played, at_s: float, images: int, mean_ap: float) -> Moment:
    if at_s >= played.ended_s:
        return Moment(at_s, images, mean_ap, played.energy_wh, 0.0)
    until = played.course.until(at_s)
    late_wh = until.off_s * max(abs(until.low_w), abs(until.high_w)) / 3600
    return Moment(at_s, images, mean_ap, until.energy_wh, until.within_wh + late_wh)


@dataclass(frozen=True, eq=False)
class _Spread:
    """What images in the same places of time do to the scores of all moments.

    `parts` has the covariance (moments, moments) from each stratum of images, `freedom` the number
    of images of each, less one.
    """

    parts: Floats
    freedom: Ints

    @property
    def whole(self) -> Floats:
        """Return the covariance of the scores, (moments, moments)."""
        total: Floats = self.parts.sum(axis=0)
        return total

    def of_differences(self, one: int) -> tuple[Floats, Floats]:
        """Return the variance of each score minus that of `one`, and its degrees of freedom.

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
    """Return the spread of the scores; `influences` (moments, images) are those on the scores."""
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
    """How far scores may exceed that of a moment by chance, all at once."""

    def __init__(self, spread: _Spread, within: Floats) -> None:
        self._spread = spread
        self._within = within
        values, vectors = np.linalg.eigh(spread.whole)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        normal = np.random.default_rng(0).standard_normal((_DRAWS, len(values)))
        self._drawn: Floats = normal @ root.T
        self._least = _ROUNDING * float(np.sqrt(values.max(initial=0.0)))

    def beyond(self, one: int) -> Floats:
        """Return by how much the score of each moment may exceed that of `one`, (moments,)."""
        variance, degrees = self._spread.of_differences(one)
        error = np.sqrt(variance)
        differs = error > self._least
        reach: Floats = self._within + self._within[one]
        if differs.any():
            apart = self._drawn[:, differs] - self._drawn[:, [one]]
            most = float(np.quantile((apart / error[differs]).max(axis=1), LEVEL))
            # The same chance of a miss with as many degrees as the difference has.
            share = NormalDist().cdf(most)
            students = [student.quantile(share, free) for free in degrees[differs].tolist()]
            reach[differs] += np.array(students) * error[differs]
        return reach
