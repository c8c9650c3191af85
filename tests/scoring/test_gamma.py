# SPDX-License-Identifier: Apache-2.0
"""Quantiles of the gamma distribution."""

from __future__ import annotations

import math

import pytest

from referee.scoring import gamma


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [
        (0, 0.0, 3.689),
        (1, 0.0253, 5.572),
        (2, 0.242, 7.225),
        (10, 4.795, 18.390),
        (100, 81.36, 121.6),
    ],
)
def test_exact_limits_of_a_poisson_count(count, low, high):
    """Limits of 95 % as tables print them: F. Garwood, Biometrika 28 (1936)."""
    assert high == pytest.approx(gamma.quantile(0.975, count + 1), rel=5e-4)
    if count:
        assert low == pytest.approx(gamma.quantile(0.025, count), rel=5e-3)


@pytest.mark.parametrize("probability", [1e-6, 0.025, 0.5, 0.975, 1 - 1e-9])
def test_shape_one_is_exponential(probability):
    """Of shape 1 the quantile is -ln(1 - p)."""
    assert -math.log1p(-probability) == pytest.approx(gamma.quantile(probability, 1.0), rel=1e-6)


@pytest.mark.parametrize("probability", [0.005, 0.025, 0.975, 0.995])
def test_both_ways_meet(probability):
    """The series and the cube root give the same where one takes over from the other."""
    below, above = gamma.quantile(probability, 300.0), gamma.quantile(probability, 300.0001)
    assert below == pytest.approx(above, rel=2e-5)


def test_a_tiny_shape_has_a_quantile_of_nothing():
    """What lies below the least double is 0, and no loop is without an end."""
    assert gamma.quantile(0.025, 1e-4) < 1e-300
    assert 0 < gamma.quantile(0.975, 1e-4) < 1
