# SPDX-License-Identifier: Apache-2.0
"""Quantiles of the gamma distribution, and of the chi-squared one, which is twice a gamma.

Few failures follow it: the exact limits of a Poisson count are its quantiles.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_NORMAL = NormalDist()
# From this shape on Wilson and Hilferty's cube root errs by less than a part in 10,000.
_LARGE = 300.0
# Below this logarithm a double is 0.
_LEAST_LOG = -745.0
# So many halvings leave less than a double's last bit of the range of logarithms.
_HALVINGS = 64


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
