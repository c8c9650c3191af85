# SPDX-License-Identifier: Apache-2.0
"""The uncertainty of a mAP and of a score: the bootstrap over images.

The images of a contest are a sample of all images that the contest could have used. The bootstrap
draws as many images from them with replacement, many times. The spread of the mAPs shows how much
mAP depends on the choice of images (B. Efron, R. Tibshirani, "An Introduction to the Bootstrap",
1993, chapters 6 and 13). It draws images and not boxes, since the boxes of one image are not
independent. Matching happens within an image, so it is not repeated: the detections and truth
boxes of an image drawn k times count k times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.scoring.result import IlsvrcResult

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Draws computed together: the arrays of a block stay in the processor's cache.
_BLOCK = 8


@dataclass(frozen=True)
class Interval:
    """A central interval that contains the share `level` of the samples."""

    low: float
    high: float
    level: float


@dataclass(frozen=True, eq=False)
class MapSamples:
    """The mAP of the images, `estimate`, and of each of r draws of the images, `values` (r,).

    The same seed gives the same draws, so two solutions on one ground truth can be compared draw
    by draw. The value of a draw without any truth box is NaN.
    """

    estimate: float
    values: Floats
    images: int
    seed: int

    def bias(self) -> float:
        """Return by how much the mean of the draws exceeds the estimate.

        It is usually positive. A draw has fewer different images, and the envelope of a
        precision-recall curve follows chance peaks, so fewer images give a higher mAP.
        """
        return float(np.nanmean(self.values)) - self.estimate

    def centred(self) -> Floats:
        """Return the draws minus their bias, shape (r,): they spread around the estimate."""
        return self.values - self.bias()

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval of the mAP expected on as many other images of the same kind.

        This is the percentile interval of the centred draws.
        """
        return _interval(self.centred(), level)

    def standard_error(self) -> float:
        """Return the standard deviation of the draws."""
        return float(np.nanstd(self.values, ddof=1))


@dataclass(frozen=True, eq=False)
class ScoreSamples:
    """The score, mAP per watt-hour: the `estimate`, and `values` (r,) of r draws.

    A draw divides a centred draw of the mAP by a draw of the energy.
    """

    estimate: float
    values: Floats
    images: int
    seed: int
    session: int

    def interval(self, level: float = 0.95) -> Interval:
        """Return the percentile interval of the score."""
        return _interval(self.values, level)


def bootstrap(
    result: IlsvrcResult,
    resamples: int = 1000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> MapSamples | None:
    """Draw the images `resamples` times and return the mAP of each draw; None without a mAP.

    A class without a truth box in a draw is left out of that draw's mean, or counts 0 if the rules
    say so. `progress` gets the number of draws done and the number of all draws.
    """
    if result.mean_ap is None:
        return None
    chance = np.random.default_rng(seed)
    table = _Table(result)
    values = np.empty(resamples)
    for start in range(0, resamples, _BLOCK):
        end = min(start + _BLOCK, resamples)
        weights = np.stack([_draw(chance, result.images) for _ in range(start, end)])
        values[start:end] = table.mean_ap(weights)
        if progress:
            progress(end, resamples)
    return MapSamples(result.mean_ap, values, result.images, seed)


def standard_uncertainty(bound: float) -> float:
    """Return the standard uncertainty of a quantity whose error is at most `bound`.

    It is `bound / sqrt(3)`, for an accuracy that an instrument's manual guarantees. Source: JCGM
    100:2008 (GUM), 4.3.7.
    """
    return bound / math.sqrt(3)


def with_energy(
    samples: MapSamples, energy_wh: float, energy_uncertainty_wh: float, session: int = 0
) -> ScoreSamples:
    """Divide each draw's mAP by a draw of the energy.

    The draws of the energy follow a normal distribution with the given standard uncertainty (1
    sigma, Wh). They are independent of the images and of every other `session`. Source: JCGM
    101:2008 (GUM supplement 1), 6.4.7. Raises ValueError unless the energy exceeds five times its
    uncertainty: a score from a smaller energy says nothing.
    """
    if not 0 <= 5 * energy_uncertainty_wh < energy_wh < math.inf:
        raise ValueError(f"an energy of {energy_wh} ± {energy_uncertainty_wh} Wh divides nothing")
    # The energy needs a random stream of its own, or it would correlate with the images drawn.
    chance = np.random.default_rng([samples.seed, 1, session])
    energy = energy_wh + energy_uncertainty_wh * chance.standard_normal(len(samples.values))
    return ScoreSamples(
        samples.estimate / energy_wh,
        samples.centred() / energy,
        samples.images,
        samples.seed,
        session,
    )


def turn_probability(first: ScoreSamples, second: ScoreSamples) -> float:
    """Return the probability, 0..1, that the ranking of two sessions would turn.

    It is the share of draws in which the session that is behind comes out ahead; a tie counts
    half. Both sessions must have the same images, seed and number of draws, so that each draw uses
    the same images for both. Their `session` numbers must differ, so that their energies err
    independently. Raises ValueError otherwise. If one meter measured both, they share part of the
    error, and the true probability is lower.
    """
    same = (first.seed, first.images, len(first.values)) == (
        second.seed,
        second.images,
        len(second.values),
    )
    if not same or first.session == second.session:
        raise ValueError("compare two sessions with the same images, seed and number of draws")
    ahead = first.values - second.values
    if first.estimate < second.estimate:
        ahead = -ahead
    ahead = ahead[~np.isnan(ahead)]
    return float(np.mean(ahead < 0) + np.mean(ahead == 0) / 2)


def _draw(chance: np.random.Generator, images: int) -> NDArray[np.int32]:
    """Draw as many images as there are; return how often each was drawn, shape (images,)."""
    drawn = chance.integers(0, images, images)
    return np.bincount(drawn, minlength=images).astype(np.int32)


class _Table:
    """The image of every detection, true positive and truth box, class after class."""

    def __init__(self, result: IlsvrcResult) -> None:
        classes = list(result.images_by_class())
        # Detections after the last true positive of a class do not change its AP.
        seen = [part.detection[: part.hit[-1] + 1] for part in classes if len(part.hit)]
        hits = [part for part in classes if len(part.hit)]
        offsets = np.cumsum([0, *map(len, seen)])
        self._detection = _join(seen)
        self._hit = _join([part.detection[part.hit] for part in hits])
        # Each run of detections ends with a true positive. `mean_ap` sums run by run.
        self._run_start = _join(
            [
                offset + np.concatenate([[0], part.hit[:-1] + 1])
                for offset, part in zip(offsets, hits, strict=False)
            ]
        )
        self._truth = _join([part.truth for part in classes])
        self._truth_start = np.cumsum([0, *(len(part.truth) for part in classes[:-1])])
        self._hit_bounds = np.cumsum([0, *(len(part.hit) for part in classes)])
        self._denominator = len(result.ap) if result.rules.missing_as_zero else None

    def mean_ap(self, weights: NDArray[np.int32]) -> Floats:
        """Return the mAP of b draws; `weights` (b, images) has how often each image is drawn."""
        truths = np.add.reduceat(np.take(weights, self._truth, axis=1), self._truth_start, axis=1)
        found = np.take(weights, self._hit, axis=1)
        seen = np.zeros_like(found)
        if len(self._hit):
            drawn = np.take(weights, self._detection, axis=1)
            seen = np.add.reduceat(drawn, self._run_start, axis=1)
        areas = np.zeros(truths.shape)
        for place in range(truths.shape[1]):
            of_class = slice(*self._hit_bounds[place : place + 2])
            areas[:, place] = _weighted_area(found[:, of_class], seen[:, of_class])
        present = truths > 0
        ap = np.divide(areas, truths, out=np.zeros_like(areas), where=present)
        count = present.sum(axis=1) if self._denominator is None else self._denominator
        with np.errstate(invalid="ignore"):
            mean: Floats = ap.sum(axis=1) / count
        return mean


def _weighted_area(found: NDArray[np.int32], seen: NDArray[np.int32]) -> Floats:
    """Return N times AP of each of b draws.

    `found` and `seen` (b, t) have the true positives and the detections added by each true
    positive. A true positive of an image drawn k times is k steps of recall. Precision rises from
    the first of these steps to the last, so the envelope has the last one's height at all of them.
    """
    found_so_far = np.cumsum(found, axis=1, dtype=np.float64)
    seen_so_far = np.cumsum(seen, axis=1, dtype=np.float64)
    precision = np.divide(
        found_so_far, seen_so_far, out=np.zeros_like(found_so_far), where=seen_so_far > 0
    )
    envelope = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    area: Floats = (found * envelope).sum(axis=1)
    return area


def _join(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _interval(values: Floats, level: float) -> Interval:
    tail = (1 - level) / 2
    low, high = np.nanquantile(values, [tail, 1 - tail]).tolist()
    return Interval(low, high, level)
