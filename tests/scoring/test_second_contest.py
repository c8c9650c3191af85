# SPDX-License-Identifier: Apache-2.0
"""The spread of an event's true scores, and what it says about a second contest."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.scoring.second_contest import Spread, estimate_spread, turn_probability

NORMAL = NormalDist()


def pairs_of(scores, error):
    """Return the differences of all pairs of scores, each with this standard error."""
    return [(a - b, error) for a, b in itertools.combinations(scores, 2)]


def test_the_spread_of_three_teams_by_hand():
    """Of three teams at 0, 2 and 4 with errors of 1 the true differences vary by 3.0435.

    The mean of d² is (4 + 4 + 16) / 3 = 8, so b = 2 * 8 / 2 = 8 and a = 2. The mean share of errors
    is (2 - e^-8 (8² + 2 * 8 + 2)) / (8 (1 - e^-8 (1 + 8))) = 1.9725 / 7.9758 = 0.24731, and
    1 * (1 - .24731) / .24731 = 3.0435, whose root is 1.7446.
    """
    share = (2 - math.exp(-8) * 82) / (8 * (1 - math.exp(-8) * 9))
    found = estimate_spread(pairs_of([0, 2, 4], 1.0), 3)
    assert 0.24731 == pytest.approx(share, abs=1e-5)
    assert (1.7446, 3) == (pytest.approx(found.sigma, abs=1e-4), found.teams)


def test_two_equal_teams_still_may_differ():
    """Where no difference was seen between two teams, errors make 3/5 of the variance, not all.

    With b = 0 the density is u^.5, whose mean is a / (a + 1) = 1.5 / 2.5. So the true differences
    vary by 2/3 of the squared error. Of forty equal teams they vary by 1/20.5 of it.
    """
    assert (2 / 3) ** 0.5 == pytest.approx(estimate_spread([(0.0, 1.0)], 2).sigma)
    forty = estimate_spread(pairs_of(40 * [0.3], 0.1), 40)
    assert 0.1 / 20.5**0.5 == pytest.approx(forty.sigma)


def test_the_spread_of_many_teams_is_that_of_moments():
    """With many teams the estimate is the mean of d² - s², Hedges' estimator in pairs."""
    scores = [NORMAL.inv_cdf((k + 0.5) / 200) for k in range(200)]
    known = pairs_of(scores, 0.5)
    moments = sum(d**2 - s**2 for d, s in known) / len(known)
    assert moments == pytest.approx(estimate_spread(known, 200).sigma ** 2, rel=0.02)


def test_a_turn_by_hand():
    """A difference of 2 errors, half of it luck, turns in 20.7 % of second contests.

    With sigma = s, B is 1/2. The second difference is around 1 with the variance 1.5, so it is
    below 0 with the probability of -1 / sqrt(1.5) = -0.8165.
    """
    told = turn_probability(2.0, 1.0, math.inf, Spread(1.0, 5))
    assert 0.2071 == pytest.approx(told, abs=1e-4)


def test_other_teams_decide_how_much_is_luck():
    """The same pair turns more often in an event of equals than in one of teams far apart."""
    pair = (1.5, 1.0)
    equals = estimate_spread([pair, *pairs_of(8 * [0.0], 1.0)], 8)
    apart = estimate_spread([pair, *pairs_of(range(0, 80, 10), 1.0)], 8)
    among_equals, among_others = (
        turn_probability(*pair, math.inf, spread) for spread in (equals, apart)
    )
    assert among_equals > 0.39
    # Far apart, no difference is shrunk: the flat prior's figure.
    assert NORMAL.cdf(-1.5 / 2**0.5) == pytest.approx(among_others, abs=0.01)


def test_a_tie_is_a_toss_and_an_exact_difference_stays():
    """Equal values turn in half of all cases; a difference without any error never turns."""
    spread = Spread(1.0, 4)
    assert 0.5 == turn_probability(0.0, 0.1, math.inf, spread)
    assert 0.5 == turn_probability(0.0, 0.0, math.inf, spread)
    assert 0.5 == turn_probability(0.2, math.nan, math.inf, spread)
    assert 0.0 == turn_probability(0.2, 0.0, math.inf, spread)
    assert 0.5 == turn_probability(0.2, 0.1, math.inf, Spread(0.0, 4))


def test_what_cannot_be_told_takes_no_part():
    """A pair without an error is left out; without any other pair there is no spread."""
    known = pairs_of([0, 2, 4], 1.0)
    assert estimate_spread(known, 4) == estimate_spread([*known, (1.0, math.nan)], 4)
    assert estimate_spread([(1.0, math.nan)], 2) is None
    assert estimate_spread([], 0) is None
    assert estimate_spread([], 1) is None


def test_no_errors_at_all():
    """Exact scores are not shrunk; equal exact ones do not differ."""
    assert math.inf == estimate_spread(pairs_of([0, 2, 4], 0.0), 3).sigma
    assert 0.0 == estimate_spread(pairs_of([3, 3, 3], 0.0), 3).sigma


numbers = st.floats(-1e6, 1e6)
errors = st.floats(1e-6, 1e6)


@given(st.lists(numbers, min_size=2, max_size=12), errors, st.sampled_from([1e-200, 1e-3, 1e200]))
def test_the_unit_does_not_matter(scores, error, unit):
    """The same event in another unit has the same probabilities of a turn."""
    plain = estimate_spread(pairs_of(scores, error), len(scores))
    scaled = estimate_spread(
        [(d * unit, s * unit) for d, s in pairs_of(scores, error)], len(scores)
    )
    for difference, _ in pairs_of(scores, error):
        told = turn_probability(difference, error, 30.0, plain)
        assert 0 <= told <= 0.5
        again = turn_probability(difference * unit, error * unit, 30.0, scaled)
        assert again == pytest.approx(told, rel=1e-6, abs=1e-12)


@given(numbers, errors, errors, st.floats(1.01, 100))
def test_more_luck_makes_a_turn_more_likely(difference, error, sigma, more):
    """A turn is the likelier the less true scores differ, and the less the two differ."""
    told = turn_probability(difference, error, math.inf, Spread(sigma, 5))
    assert told <= turn_probability(difference, error, math.inf, Spread(sigma / more, 5)) + 1e-12
    assert told >= turn_probability(difference * more, error, math.inf, Spread(sigma, 5)) - 1e-12
    assert told == turn_probability(-difference, error, math.inf, Spread(sigma, 5))


@given(st.integers(2, 300), st.floats(0, 1e12))
def test_the_share_of_errors_is_a_share(teams, ratio):
    """Any number of teams and any ratio of variances gives a finite spread above 0."""
    found = estimate_spread([(math.sqrt(ratio), 1.0)], teams)
    assert 0 < found.sigma < math.inf
    assert found.sigma**2 <= max(ratio, 1.0) * (1 + 1e-9)
