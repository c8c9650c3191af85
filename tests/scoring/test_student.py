# SPDX-License-Identifier: Apache-2.0
"""Student's t: its quantiles and its tail."""

from __future__ import annotations

import math

import pytest

from referee.scoring.student import first_quantile, probability_below, quantile

# From scipy.stats.t.ppf, which agrees with the closed forms that 2 and 4 degrees have.
EXACT = [
    (2, 0.975, 4.302652729749462),
    (2, 0.995, 9.924843200918287),
    (3, 0.975, 3.1824463052837078),
    (3, 0.995, 5.840909309733355),
    (4, 0.975, 2.7764451051977934),
    (4, 0.995, 4.604094871349992),
    (10, 0.975, 2.228138851986274),
    (30, 0.995, 2.7499956535672254),
    (1000, 0.975, 1.9623390808264083),
    (1e6, 0.995, 2.5758342201053344),
    (10_000_001, 0.995, 2.5758297952036995),
]


@pytest.mark.parametrize(("degrees", "probability", "exact"), EXACT)
def test_quantile_has_the_digits_of_the_tables(degrees, probability, exact):
    """The quantile is exact to eleven digits from two degrees of freedom on."""
    assert exact == pytest.approx(quantile(probability, degrees), rel=2e-11)


@pytest.mark.parametrize("probability", [0.5, 0.6, 0.95, 0.995, 1 - 1e-9])
def test_two_and_four_degrees_have_closed_forms(probability):
    """At two and four degrees the quantile solves the closed form of the distribution."""
    tail, two, four = 1 - probability, quantile(probability, 2), quantile(probability, 4)
    assert (0.5 - two / math.sqrt(8 + 4 * two * two)) == pytest.approx(tail, abs=1e-14)
    share = four * four / (4 + four * four)
    assert (2 - math.sqrt(share) * (3 - share)) / 4 == pytest.approx(tail, abs=1e-14)


@pytest.mark.parametrize("degrees", [2, 2.6, 3, 7.1, 99.9, 100, 1234.5])
@pytest.mark.parametrize("value", [0.0, 1e-7, 0.3, 1.7, 4.4, 60.0, 1e5])
def test_the_tail_is_that_of_another_program(degrees, value):
    """mpmath's incomplete beta function gives the same tail, far out too."""
    mpmath = pytest.importorskip("mpmath", reason="the extra coreml brings mpmath")
    with mpmath.workdps(40):
        x = mpmath.mpf(degrees) / (degrees + mpmath.mpf(value) ** 2)
        exact = float(mpmath.betainc(mpmath.mpf(degrees) / 2, 0.5, 0, x, regularized=True) / 2)
    assert exact == pytest.approx(probability_below(-value, degrees), rel=1e-12)


def test_the_ends_of_the_line():
    """What lies beyond all numbers has no probability, and a certain bound is infinite."""
    assert (0.0, 1.0) == (probability_below(-1e200, 3), probability_below(math.inf, 3))
    assert (0.0, math.inf) == (quantile(0.5, 3), quantile(1.0, 3))


def test_nearly_endless_degrees_join_the_others():
    """Where the correction of the normal distribution takes over, no digit that is told jumps."""
    below, above = (quantile(0.995, degrees) for degrees in (9_999_999.0, 10_000_001.0))
    assert below == pytest.approx(above, rel=1e-10)


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


def test_scores_of_the_first_rule_keep_the_quantile_that_they_had():
    """It is Wallace's, a few percent off at few degrees, and the normal one at infinity."""
    assert first_quantile(0.975, 3) == pytest.approx(3.2185009493305428, rel=1e-12)
    assert first_quantile(0.975, math.inf) == quantile(0.975, math.inf)
