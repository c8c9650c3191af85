# SPDX-License-Identifier: Apache-2.0
"""What few images may do to a mAP: the ends of an interval where most images are alike.

Halves of the images show how much mAP depends on the choice of images, but only as far as images
differ. Where one image in a hundred fails, one contest of fifty images has no failure at all, and
another has a failure that costs a thousandth of what the next one would. The spread of such a
contest says little about the mean.

There the failures are counted, and each has a weight: the part of the mAP that it takes away. The
limits of a weighted sum of Poisson counts are those of M. P. Fay, E. J. Feuer, "Confidence
intervals for directly standardized rates: a method based on the gamma distribution", Statistics in
Medicine 16 (1997). For a sum y with the variance v, they are quantiles of a gamma distribution with
this mean and variance. The upper one supposes that one failure more came, of the weight w: it is
that of y + w and v + w². Without a failure it is w ln(1 / tail), the rule of three. One failure
more moves the limit by about w, so that no interval depends on whether a failure was seen.

Failures are counted in -ln(mAP), which is the sum of what they cost where they are few. Where mAP
is 1, the limit is then tail^w, the exact limit of a binomial share with 1/w images. Near 0 the hits
are what is rare, and the same holds of -ln(1 - mAP).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The limits hold whole up to so many rare images, or to this share of all; with twice as many they
# count nothing. Both were chosen in the simulation of `tests/bench/rare_failures.py`: they bring
# each cell near 0 and 1 to the level, and leave a mAP of .3 to .7 as it is.
_FEW, _FEW_OF_ALL = 12.0, 0.15
# Influences are sums of shares of the mAP, which is 1 at most: less than this is their rounding.
_ROUNDING = 1e-12

_NORMAL = NormalDist()
# From this shape on Wilson and Hilferty's cube root errs by less than a part in 10,000.
_LARGE = 300.0
# Below this logarithm a double is 0.
_LEAST_LOG = -745.0
# So many halvings leave less than a double's last bit of the range of logarithms.
_HALVINGS = 64


@dataclass(frozen=True)
class RareImages:
    """How few images decide a mAP; clusters stand in for images where there are any.

    `weight` is the share that the boxes of an image carry of the mAP that all boxes carry: its mean
    over all boxes, so that an image with many boxes counts more. Of n images with one box each it
    is 1/n. `deciding` is the number of images that make the spread, if all did alike: (sum of d²)²
    / (sum of d⁴), where d is the influence of an image on the mAP. It is 0 where no image differs.
    """

    weight: float
    deciding: float

    def trust(self, estimate: float) -> float:
        """Return how far the limits of rare failures count at a mAP, from 0 to 1.

        Rare are images that decide the spread, and failures near 1 that cost no more in all than a
        few images would. Hits near 0 each bring much less than an image's whole weight.
        """
        few = min(_FEW, _FEW_OF_ALL / self.weight)
        rare = self.deciding
        if estimate > 0.5:
            rare = min(rare, -math.log(estimate) / self.weight)
        return min(1.0, max(0.0, 2 - rare / few))


def rare_images(shares: Floats, influence: Floats) -> RareImages:
    """Return how few images decide, by each image's share of the mAP and its influence on it."""
    total = float(shares.sum())
    squares = influence**2
    second, fourth = float(squares.sum()), float((squares**2).sum())
    return RareImages(
        weight=min(1.0, float((shares**2).sum()) / total**2) if total > 0 else 1.0,
        deciding=second**2 / fourth if second > _ROUNDING**2 else 0.0,
    )


def ends(estimate: float, variance: float, weight: float, tail: float) -> tuple[float, float]:
    """Return the limits of a mAP that few images decide, each missed with the probability `tail`.

    `variance` is that of the mAP between contests.
    """
    least_lost, most_lost = _limits(estimate, variance, weight, tail)
    least_found, most_found = _limits(1 - estimate, variance, weight, tail)
    low, high = math.exp(-most_lost), -math.expm1(-most_found)
    # What is rare is what is less: failures near 1, hits near 0.
    if estimate > 0.5:
        return low, max(high, math.exp(-least_lost))
    return min(low, -math.expm1(-least_found)), high


def _limits(kept: float, variance: float, weight: float, tail: float) -> tuple[float, float]:
    """Return the limits of -ln(kept), where `kept` is 1 less what the failures cost."""
    if kept <= 0:
        return math.inf, math.inf
    cost, variance = -math.log(kept), variance / kept**2
    more, wider = cost + weight, variance + weight**2
    high = wider / more * quantile(1 - tail, more**2 / wider)
    if cost == 0 or variance == 0:
        return cost, high
    return variance / cost * quantile(tail, cost**2 / variance), high


def quantile(probability: float, shape: float) -> float:
    """Return the value that a gamma variable of scale 1 stays below with this probability."""
    if shape > _LARGE:
        # E. B. Wilson, M. M. Hilferty, "The Distribution of Chi-Square", PNAS 17 (1931).
        root = 1 - 1 / (9 * shape) + _NORMAL.inv_cdf(probability) / (3 * math.sqrt(shape))
        return shape * root**3
    low, high = _LEAST_LOG, math.log(shape + 40 * math.sqrt(shape) + 80)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _probability_below(math.exp(middle), shape) < probability:
            low = middle
        else:
            high = middle
    return math.exp(low)


def _probability_below(value: float, shape: float) -> float:
    """Return the regularised incomplete gamma function by its series, NIST DLMF 8.7.1.

    Its terms are positive, so that nothing cancels.
    """
    if value == 0:
        return 0.0
    total = term = 1.0
    place = shape
    while term > 1e-17 * total:
        place += 1
        term *= value / place
        total += term
    return math.exp(shape * math.log(value) - value - math.lgamma(shape + 1)) * total
