# SPDX-License-Identifier: Apache-2.0
"""Student's t distribution, from the normal distribution.

The transform is that of D. L. Wallace, "Bounds on Normal Approximations to Student's and the
Chi-Square Distributions", Annals of Mathematical Statistics 30 (1959). Its 97.5 % quantile is
within 0.6 % of the exact one from four degrees of freedom on. It is within 4 % at two, the fewest
that these functions use.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_LEAST_DEGREES = 2.0
_NORMAL = NormalDist()


def quantile(probability: float, degrees: float) -> float:
    """Return the value that t stays below with this probability, 0.5..1; `degrees` may be inf."""
    z = _NORMAL.inv_cdf(probability)
    if math.isinf(degrees):
        return z
    degrees = max(degrees, _LEAST_DEGREES)
    return math.sqrt(degrees * math.expm1((z / _factor(degrees)) ** 2 / degrees))


def probability_below(value: float, degrees: float) -> float:
    """Return the probability that t is below `value`; `degrees` may be inf."""
    if math.isinf(degrees):
        return _NORMAL.cdf(value)
    degrees = max(degrees, _LEAST_DEGREES)
    size = _factor(degrees) * math.sqrt(degrees * math.log1p(value * value / degrees))
    return _NORMAL.cdf(math.copysign(size, value))


def _factor(degrees: float) -> float:
    return (8 * degrees + 1) / (8 * degrees + 3)
