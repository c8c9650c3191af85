# SPDX-License-Identifier: Apache-2.0
"""Student's t distribution, to eleven digits or more.

Its tail is an incomplete beta function (NIST DLMF 8.17), which a continued fraction gives (DLMF
8.17.22). No library that the referee needs has it; SciPy would be the largest of all.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_LEAST_DEGREES = 2.0
_NORMAL = NormalDist()

# From so many degrees on t is normal but for a correction whose next term is below 1e-13.
_NEARLY_NORMAL = 1e7
# A few dozen steps are usual; near 1e7 degrees there are some thousands.
_MOST_STEPS = 20_000
_TINY = 1e-300


def quantile(probability: float, degrees: float) -> float:
    """Return the value that t stays below with this probability, 0.5..1; `degrees` may be inf."""
    if math.isinf(degrees):
        return _NORMAL.inv_cdf(probability)
    degrees = max(degrees, _LEAST_DEGREES)
    tail = 1 - probability
    if not 0 < tail < 0.5:
        return 0.0 if tail == 0.5 else math.inf
    low, high = 0.0, 1.0
    while _tail(high, degrees) > tail:
        low, high = high, 2 * high
    # Newton's steps on the tail, which is convex there; one that leaves the bracket halves it.
    value = (low + high) / 2
    for _ in range(_MOST_STEPS):
        excess = _tail(value, degrees) - tail
        low, high = (value, high) if excess > 0 else (low, value)
        following = value + excess / _density(value, degrees)
        if not low <= following <= high:
            following = (low + high) / 2
        if abs(following - value) <= 4e-16 * value or not low < following < high:
            break
        value = following
    return following


def first_quantile(probability: float, degrees: float) -> float:
    """Return `quantile` as the first rule of intervals knew it, for scores that were stored by it.

    It is up to 4 % off at two degrees (D. L. Wallace, "Bounds on Normal Approximations to Student's
    and the Chi-Square Distributions", Annals of Mathematical Statistics 30, 1959).
    """
    z = _NORMAL.inv_cdf(probability)
    if math.isinf(degrees):
        return z
    degrees = max(degrees, _LEAST_DEGREES)
    factor = (8 * degrees + 1) / (8 * degrees + 3)
    return math.sqrt(degrees * math.expm1((z / factor) ** 2 / degrees))


def probability_below(value: float, degrees: float) -> float:
    """Return the probability that t is below `value`; `degrees` may be inf."""
    if math.isinf(degrees):
        return _NORMAL.cdf(value)
    tail = _tail(abs(value), max(degrees, _LEAST_DEGREES))
    return tail if value < 0 else 1 - tail


def _tail(value: float, degrees: float) -> float:
    """Return the probability that t exceeds `value`, which is 0 or more."""
    if math.isinf(value * value):
        return 0.0
    if degrees >= _NEARLY_NORMAL:
        # Abramowitz and Stegun 26.7.8.
        normal = value * (1 - 1 / (4 * degrees)) / math.sqrt(1 + value * value / (2 * degrees))
        return math.erfc(normal / math.sqrt(2)) / 2
    square = value * value
    a, x, rest = degrees / 2, degrees / (degrees + square), square / (degrees + square)
    # x^a (1-x)^(1/2) / B(a, 1/2), with x^a by the logarithm of 1 + t²/v, exact for a small t.
    power = math.exp(-a * math.log1p(square / degrees))
    scale = power * math.sqrt(rest) * _gamma_ratio(a) / math.sqrt(math.pi)
    # The fraction converges fast on one side, and the other follows by symmetry (DLMF 8.17.4).
    if x < (a + 1) / (a + 2.5):
        return scale * _fraction(a, 0.5, x) / a / 2
    return (1 - scale * _fraction(0.5, a, rest) / 0.5) / 2


def _density(value: float, degrees: float) -> float:
    a = degrees / 2
    shape = math.exp(-(a + 0.5) * math.log1p(value * value / degrees))
    return shape * _gamma_ratio(a) / math.sqrt(math.pi * degrees)


def _gamma_ratio(a: float) -> float:
    """Return the gamma function at a + 1/2 by that at a."""
    if a < 100:
        return math.exp(math.lgamma(a + 0.5) - math.lgamma(a))
    # The difference of two large logarithms has few digits. DLMF 5.11.13.
    terms = (1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    return math.sqrt(a) * sum(term / a**power for power, term in enumerate(terms))


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    before, ratio = 1.0, 1 - (a + b) * x / (a + 1)
    ratio = 1 / (ratio or _TINY)
    total = ratio
    for m in range(1, _MOST_STEPS):
        change = 1.0
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            ratio = 1 / ((1 + factor * ratio) or _TINY)
            before = (1 + factor / before) or _TINY
            change *= ratio * before
        total *= change
        if abs(change - 1) < 1e-16:
            break
    return total
