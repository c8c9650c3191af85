# SPDX-License-Identifier: Apache-2.0
"""The uncertainty of a mAP and of a score.

The images of a contest are a sample of all images that the contest could have shown. The intervals
are for the mean mAP, or score, of all contests with as many images of the same kind. The mAP of a
contest estimates this mean without bias. It is not the mAP of endless images: few truth boxes in a
class and the envelope of a precision-recall curve lift mAP, so mAP falls as images are added.

The spread comes from halves of the images: two halves are two independent contests of half the
size. Where images form clusters, such as the frames of one film, halves are of whole clusters.
Where few images decide, as near 0 and near 1, halves do not know what the next failure would cost:
`referee.scoring.rare_images` has the limits.
`docs/scoring.md` has the coverage in simulated contests; `tests/bench/coverage.py` makes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from referee.core.arguments import real_number, require, require_count
from referee.core.shown import Shown
from referee.errors import ArgumentError
from referee.scoring import student
from referee.scoring.clusters import Clusters, Imbalance
from referee.scoring.rare_images import ends as rare_ends
from referee.scoring.result import IlsvrcResult
from referee.scoring.split_half import SplitHalves, draw_halves

LEVEL = 0.95

MOST_DRAWS = 1_000_000
"""So many draws take some hundred MiB, and more tell nothing more."""

RULE = 2
"""The rule of the intervals: 1 knew no rare failures, and Student's quantile less exactly."""


def gives_interval(verdict: str | None) -> bool:
    """Tell whether the score of an energy with this verdict has an interval, on any surface.

    Only a VALID energy has a limit of error that somebody guarantees.
    """
    return verdict == "VALID"


@dataclass(frozen=True)
class Interval:
    """An interval that holds the true value in the share `level` of all contests."""

    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Energy:
    """The energy of a session and its standard uncertainty (1 sigma), both in watt-hours.

    Raises ArgumentError for what is no number, and unless the energy exceeds five times its
    uncertainty: a score from a smaller energy says nothing.
    """

    wh: float
    uncertainty_wh: float = 0.0

    def __post_init__(self) -> None:
        wh = real_number(self.wh, "the energy in Wh")
        sigma = real_number(self.uncertainty_wh, "the uncertainty of the energy in Wh")
        if not 0 <= 5 * sigma < wh < math.inf or math.isinf(1 / wh):
            raise ArgumentError(
                f"an energy of {self.wh} ± {self.uncertainty_wh} Wh divides nothing: give an energy"
                " above 0 that is more than five times its standard uncertainty (five sigma), or"
                " leave the energy out and take the mAP alone"
            )


@dataclass(frozen=True, eq=False, repr=False)
class MapUncertainty(Shown):
    """The mAP of a contest, `estimate`, and the mAPs of halves of its images.

    `with_truth` counts the images that have a truth box, or the clusters that have such an image.
    """

    estimate: float
    halves: SplitHalves
    with_truth: int

    def _facts(self) -> dict[str, object]:
        low, high = (f"{end:.4f}" for end in (self.interval().low, self.interval().high))
        return {
            "mAP": self.estimate,
            f"{100 * LEVEL:.0f} % interval": f"{low} to {high}",
            "draws": len(self.halves.halves),
        }

    @property
    def rule(self) -> int:
        """Return the rule of its intervals, see `RULE`."""
        return 1 if self.halves.rare is None else RULE

    def by_rule(self, rule: int) -> MapUncertainty:
        """Return the same with the intervals of a rule that stored intervals name, 1 or `RULE`."""
        return self if rule != 1 else replace(self, halves=replace(self.halves, rare=None))

    def standard_error(self) -> float:
        """Return the standard deviation of mAP between contests; NaN if the halves cannot tell.

        Where few images decide, it includes an image that fails although none did, so that a
        perfect answer has not the error 0.
        """
        one_more = self._trust() * self._weight() * max(self.estimate, 1 - self.estimate)
        return math.hypot(self._spread(), one_more)

    def _trust(self) -> float:
        """Return how far the limits of rare failures count; 0 where nobody counted the images."""
        return 0.0 if self.halves.rare is None else self.halves.rare.trust(self.estimate)

    def _spread(self) -> float:
        """Return the standard deviation that the halves show; NaN if they cannot tell."""
        return math.sqrt(variance(self.halves))

    def bias_of_draws(self) -> float:
        """Return by how much the mean mAP of half as many images exceeds the estimate."""
        return float(_mean(self.halves.halves)) - self.estimate

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the interval of the mean mAP of contests with as many images, within 0..1.

        It is Student's interval of log(mAP / (1 - mAP)). Its degrees of freedom are those of the
        draws, and fewer where there are fewer images or clusters, or unequal clusters. That few
        images may make the mAP adds nothing here: the variance then errs together with mAP, and the
        logarithm follows both.

        Where few images decide the mAP, as near 0 and near 1, halves hardly differ, and the
        interval reaches as far as rare failures may (`referee.scoring.rare_images`). Raises
        ArgumentError unless `level` is between 0 and 1.
        """
        level = require_level(level)
        low, high = self._by_spread(level)
        trust, spread = self._trust(), self._spread()
        if trust > 0 and not math.isnan(spread):
            least, most = rare_ends(self.estimate, spread**2, self._weight(), _tail(level))
            low -= trust * max(low - least, 0.0)
            high += trust * max(most - high, 0.0)
        return Interval(low, high, level)

    def beyond_spread(self, level: float = LEVEL) -> tuple[float, float]:
        """Return how far rare failures may lower and raise the mAP beyond its spread, as squares.

        Squares of distances from the estimate add, see `compared`.
        """
        if self._trust() == 0:
            return 0.0, 0.0
        spread, whole = self._by_spread(level), self.interval(level)
        if self.estimate in (0, 1):
            spread = (self.estimate, self.estimate)
        lower = (self.estimate - whole.low) ** 2 - (self.estimate - spread[0]) ** 2
        higher = (whole.high - self.estimate) ** 2 - (spread[1] - self.estimate) ** 2
        return max(lower, 0.0), max(higher, 0.0)

    def _by_spread(self, level: float) -> tuple[float, float]:
        """Return the ends of the interval that the halves alone give.

        If mAP is 0 or 1, no half can differ. The far end is then the share of images, or clusters,
        that may be different though none was seen.
        """
        tail = _tail(level)
        if self.estimate in (0, 1):
            seen = tail ** self._weight()
            return (0.0, 1 - seen) if self.estimate == 0 else (seen, 1.0)
        error = self._spread()
        if math.isnan(error):
            return 0.0, 1.0
        most = min(self.with_truth - 1, self.halves.imbalance.degrees)
        degrees = max(min(len(self.halves.halves), most), 1)
        quantile = student.first_quantile if self.rule == 1 else student.quantile
        reach = quantile(1 - tail, degrees) * error
        reach /= self.estimate * (1 - self.estimate)
        centre = math.log(self.estimate / (1 - self.estimate))
        return _logistic(centre - reach), _logistic(centre + reach)

    def _weight(self) -> float:
        """Return the share of the mAP that an image or a cluster carries."""
        plain = 1 / min(self.with_truth, self.halves.imbalance.degrees + 1)
        return plain if self.halves.rare is None else max(plain, self.halves.rare.weight)


def measure_uncertainty(
    result: IlsvrcResult,
    draws: int = 500,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    *,
    clusters: Clusters | None = None,
) -> MapUncertainty | None:
    """Draw halves of the images `draws` times; return None without a mAP.

    `clusters` names the cluster of each image, by a number or a name: a mapping from image ids, or
    a sequence in ascending order of the image ids. A cluster goes to one half whole. Raises
    ArgumentError for an image without a cluster, and unless `draws` is 1 or more, and `seed` 0 or
    more.
    """
    require("result", result, IlsvrcResult)
    require_count(draws, "draws", 1, MOST_DRAWS)
    require_count(seed, "seed", 0)
    if result.mean_ap is None:
        return None
    with_truth = np.unique(np.concatenate([part.truth for part in result.images_by_class()]))
    halves = draw_halves(result, draws, seed, progress, clusters)
    if halves.cluster is not None:
        with_truth = np.unique(halves.cluster[with_truth])
    return MapUncertainty(result.mean_ap, halves, len(with_truth))


def standard_uncertainty(bound: float) -> float:
    """Return the standard uncertainty of a quantity whose error is at most `bound`.

    It is `bound / sqrt(3)`, for an accuracy that an instrument's manual guarantees. Source: JCGM
    100:2008 (GUM), 4.3.7.
    """
    return bound / math.sqrt(3)


@dataclass(frozen=True)
class ScoreIntervals:
    """The interval of a score, and what images alone and energy alone would make of it."""

    whole: Interval
    images: Interval
    energy: Interval


def score_intervals(
    measured: MapUncertainty, energy: Energy, level: float = LEVEL
) -> ScoreIntervals:
    """Return the intervals of mAP / energy.

    The error of the energy is normal and independent of the images. Relative distances from the
    estimate to each end add as squares of logarithms (G. Y. Zou, A. Donner, "Construction of
    confidence limits about effect measures", Statistics in Medicine 27, 2008).
    """
    require("measured", measured, MapUncertainty)
    require("energy", energy, Energy)
    level = require_level(level)
    mean_ap = measured.interval(level)
    score = measured.estimate / energy.wh
    reach = student.quantile((1 + level) / 2, math.inf) * energy.uncertainty_wh
    images = Interval(mean_ap.low / energy.wh, mean_ap.high / energy.wh, level)
    most, least = energy.wh + reach, energy.wh - reach
    alone = Interval(measured.estimate / most, measured.estimate / least, level)
    if score == 0:
        return ScoreIntervals(Interval(0.0, mean_ap.high / least, level), images, alone)
    low = math.hypot(_log(images.low / score), math.log(alone.low / score))
    high = math.hypot(math.log(images.high / score), math.log(alone.high / score))
    whole = Interval(score * math.exp(-low), score * math.exp(high), level)
    return ScoreIntervals(whole, images, alone)


def variance(halves: SplitHalves) -> float:
    """Return the variance of the mAP of all images, NaN without two halves that have a mAP.

    Two parts of m images measure the variance of a mAP of m images without bias. A half of it is
    that of 2m images, if variance falls as 1/m. Where it falls more slowly from quarters to halves,
    it will do so again from halves to the whole: this step is repeated. Where it falls faster, the
    step is not trusted, so that the interval is rather too wide. Unequal clusters vary more than
    their halves show, see `Imbalance`.
    """
    with np.errstate(invalid="ignore"):
        from_halves = _mean(np.var(halves.halves, axis=1, ddof=1))
        from_quarters = _mean(np.var(halves.quarters, axis=1, ddof=1))
    return variance_of(from_halves, from_quarters, halves.imbalance)


def variance_of(from_halves: float, from_quarters: float, imbalance: Imbalance) -> float:
    """Return the variance of the whole by the mean variances among halves and among quarters."""
    from_halves = from_halves / 2 * imbalance.halves
    from_quarters = from_quarters / 4 * imbalance.quarters
    if from_quarters > 0:
        return from_halves * max(1.0, from_halves / from_quarters)
    return from_halves


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    """Return the mean of the values that are numbers, NaN if none is."""
    numbers = values[np.isfinite(values)]
    return float(numbers.mean()) if len(numbers) else math.nan


def _tail(level: float) -> float:
    """Return the probability of a miss at each end."""
    return (1 - require_level(level)) / 2


def require_level(level: float) -> float:
    """Return a level as a float; raise ArgumentError unless it lies between 0 and 1."""
    share = real_number(level, "the level")
    if not 0 < share < 1:
        raise ArgumentError(f"the level is {level}: give a share between 0 and 1, such as 0.95")
    return share


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
