# SPDX-License-Identifier: Apache-2.0
"""Student's t from the normal distribution."""

from __future__ import annotations

import math

import pytest

from referee.scoring.student import probability_below, quantile


@pytest.mark.parametrize(
    ("degrees", "exact", "within"),
    [(2, 4.3027, 0.04), (4, 2.7764, 0.006), (10, 2.2281, 0.001), (30, 2.0423, 0.0002)],
)
def test_quantile_agrees_with_the_tables(degrees, exact, within):
    """The 97.5 % quantiles agree with the printed tables as closely as the module says."""
    assert exact == pytest.approx(quantile(0.975, degrees), rel=within)


def test_endless_degrees_are_the_normal_distribution():
    """With endless degrees of freedom, and nearly so with very many, t is normal."""
    assert 1.95996 == pytest.approx(quantile(0.975, math.inf), abs=1e-5)
    assert 0.97500 == pytest.approx(probability_below(1.95996, math.inf), abs=1e-5)
    assert quantile(0.975, math.inf) == pytest.approx(quantile(0.975, 1e9))


@pytest.mark.parametrize("degrees", [2, 3.7, 50, math.inf])
def test_probability_is_the_inverse_of_the_quantile(degrees):
    """Quantile and probability undo each other, and both sides mirror each other."""
    value = quantile(0.9, degrees)
    assert 0.9 == pytest.approx(probability_below(value, degrees))
    assert 0.1 == pytest.approx(probability_below(-value, degrees))


def test_fewer_than_two_degrees_count_as_two():
    """Too few degrees of freedom give a wide quantile and not an absurd one."""
    assert quantile(0.975, 0.1) == quantile(0.975, 2)
    assert probability_below(1.0, 0.1) == probability_below(1.0, 2)
