# SPDX-License-Identifier: Apache-2.0
"""Intervals of mAP and score, and the comparison of two sessions."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.errors import InputError
from referee.scoring.comparison import compare, spread_of
from referee.scoring.ilsvrc import evaluate
from referee.scoring.split_half import SplitHalves
from referee.scoring.uncertainty import (
    Energy,
    MapUncertainty,
    measure_uncertainty,
    score_intervals,
    standard_uncertainty,
)
from tests.scoring.test_split_half import contest
from tests.support.scoring_cases import make_detections, make_truth


def measured(seed=3, images=60, keep=1, draws=200):
    """Return the uncertainty of a contest whose answer has every row but each `keep`-th."""
    ids, classes, truth, rows = contest(seed, images)
    rows = [row for number, row in enumerate(rows) if keep == 1 or number % keep]
    return measure_uncertainty(
        evaluate(make_truth(ids, classes, truth), make_detections(rows)), draws
    )


def made(spread, quarters=None, estimate=0.5, images=10_000, draws=50):
    """Return an uncertainty whose halves differ by `spread` and whose quarters by `quarters`."""
    quarters = math.sqrt(2) * spread if quarters is None else quarters
    signs = np.tile([1.0, -1.0], (draws, 1))
    halves = SplitHalves(
        estimate + spread * signs / 2,
        estimate + quarters * np.tile(signs, (1, 2)) / 2 * math.sqrt(3 / 2),
        np.resize([1.0, -1.0], images),
        seed=0,
    )
    return MapUncertainty(estimate, halves, images)


def ends(interval):
    """Return both ends of an interval."""
    return interval.low, interval.high


def test_standard_error_is_half_the_difference_of_two_halves():
    """Halves that differ by d in the mean square give a standard error of d / 2."""
    assert 0.01 == pytest.approx(made(0.02).standard_error())


def test_a_variance_that_falls_too_slowly_is_taken_further():
    """What halves exceed the quarters' prediction by, the whole exceeds the halves' by."""
    assert 0.01 * 1.25 == pytest.approx(made(0.02, 0.02 * math.sqrt(2) / 1.25).standard_error())
    assert 0.01 == pytest.approx(made(0.02, 0.02 * math.sqrt(2) * 1.25).standard_error())


@pytest.mark.parametrize("estimate", [0.5, 0.02, 0.001, 0.98])
def test_interval_stays_within_what_is_possible(estimate):
    """An interval holds its estimate, lies within 0 and 1, and leans away from the near bound."""
    low, high = ends(made(estimate * (1 - estimate), estimate=estimate).interval())
    assert 0 < low < estimate < high < 1
    leans = (high - estimate) - (estimate - low)
    assert leans == pytest.approx(0, abs=1e-9) if estimate == 0.5 else leans * (0.5 - estimate) > 0


def test_interval_is_students_by_the_draws():
    """The interval reaches as far, in log-odds, as Student's with a degree for each draw."""
    low, high = ends(made(0.02).interval())
    assert 0.5 - 2.0086 * 0.01 == pytest.approx(low, abs=2e-5)
    assert 0.5 + 2.0086 * 0.01 == pytest.approx(high, abs=2e-5)
    low, high = ends(made(0.02, draws=5000).interval())
    assert 0.5 - 1.9604 * 0.01 == pytest.approx(low, abs=2e-5)
    assert low < made(0.02, draws=5000).interval(0.5).low


def test_few_images_widen_the_interval():
    """Eleven images with truth tell less about the variance than fifty draws."""
    few, many = made(0.02, images=11), made(0.02, images=51)
    assert few.standard_error() == many.standard_error()
    assert few.interval().low < many.interval().low < many.interval().high < few.interval().high
    assert many.interval() == made(0.02, images=10_000).interval()


def test_interval_narrows_with_images():
    """Ten times the images make the interval about three times narrower."""
    widths = []
    for images in (40, 400):
        found = measured(images=images)
        low, high = ends(found.interval())
        assert low < found.estimate < high
        widths.append(high - low)
    assert 2 < widths[0] / widths[1] < 5


def test_nothing_found_leaves_a_share_that_may_be_found():
    """After 60 images without a hit, 6 % of images may hold one; after none lost, 6 % a loss."""
    boxes = [(image, 1, (0, 0, 9, 9)) for image in range(1, 61)]
    truth = make_truth(range(1, 61), [1], boxes)
    nothing = measure_uncertainty(evaluate(truth, Detections.empty())).interval()
    assert (0.0, 0.0596) == (nothing.low, round(nothing.high, 4))
    rows = [(image, klass, 0.5, box) for image, klass, box in boxes]
    everything = measure_uncertainty(evaluate(truth, make_detections(rows))).interval()
    assert (0.9404, 1.0) == (round(everything.low, 4), everything.high)


def test_one_image_says_nothing():
    """One image has no halves to compare: every mAP is possible, and no number is invented."""
    boxes = [(1, 1, (0, 0, 9, 9)), (1, 1, (50, 50, 99, 99))]
    result = evaluate(make_truth([1], [1], boxes), make_detections([(1, 1, 0.5, (0, 0, 9, 9))]))
    single = measure_uncertainty(result, 20)
    assert (0.0, 1.0) == ends(single.interval())
    assert math.isnan(single.standard_error())
    told = compare(single, single, Energy(2.0), Energy(1.0))
    assert (-1.0, 0.5) == ends(told.interval)
    assert 0.5 == told.turn_probability


def test_without_truth_there_is_no_uncertainty():
    """A contest without a truth box has no mAP and no interval."""
    assert measure_uncertainty(evaluate(make_truth([1], [1], []), Detections.empty())) is None


@pytest.mark.slow
def test_interval_covers_what_other_images_give():
    """About 95 of 100 intervals hold the mean mAP of contests of the same kind and size."""
    found = [measured(100 + seed) for seed in range(60)]
    expected = np.mean([it.estimate for it in found])
    covered = sum(it.interval().low <= expected <= it.interval().high for it in found)
    assert 0.87 * len(found) <= covered


def test_energy_widens_the_interval_of_the_score():
    """The distances of images and energy to each end add as squares, as relative errors do."""
    told = score_intervals(made(0.03), Energy(2.0, 0.04))
    assert ends(told.images) == tuple(end / 2 for end in ends(made(0.03).interval()))
    assert 0.5 / (2 + 1.96 * 0.04) == pytest.approx(told.energy.low, abs=2e-5)
    assert 0.5 / (2 - 1.96 * 0.04) == pytest.approx(told.energy.high, abs=2e-5)
    for part in (told.images, told.energy):
        assert told.whole.low < part.low < 0.25 < part.high < told.whole.high
    sum_of_squares = math.log(told.images.low / 0.25) ** 2 + math.log(told.energy.low / 0.25) ** 2
    assert sum_of_squares == pytest.approx(math.log(told.whole.low / 0.25) ** 2)


def test_exact_energy_adds_nothing():
    """Without uncertainty of the energy the score's interval is that of mAP over the energy."""
    told = score_intervals(made(0.03), Energy(2.0))
    assert ends(told.whole) == pytest.approx(ends(told.images))
    assert (0.25, 0.25) == ends(told.energy)


def test_score_of_zero_has_an_upper_end_only():
    """A score of 0 may be higher by what images may hold and energy may be less."""
    told = score_intervals(made(0.0, estimate=0.0, images=60), Energy(1.0, 0.1))
    assert 0.0 == told.whole.low
    assert told.images.high < told.whole.high < 0.1


@pytest.mark.parametrize(
    ("energy", "uncertainty"), [(0, 0), (-1, 0), (math.nan, 0), (math.inf, 0), (1, 0.2), (1, -1)]
)
def test_energy_that_divides_nothing_is_refused(energy, uncertainty):
    """An energy that may be zero is refused."""
    with pytest.raises(InputError, match="divides nothing"):
        Energy(energy, uncertainty)


@pytest.mark.parametrize("level", [95, 0, 1, -0.5, math.nan])
def test_a_level_is_a_share(level):
    """A level of 95 is refused with what to give, by each function that takes one."""
    for call in (
        lambda: made(0.02).interval(level),
        lambda: score_intervals(made(0.02), Energy(1.0), level),
        lambda: compare(made(0.02), made(0.02), Energy(1.0), Energy(1.0), level),
    ):
        with pytest.raises(InputError, match=r"give a share between 0 and 1, such as 0\.95"):
            call()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"draws": 0}, "draws is 0: give a whole number, 1 or more"),
        ({"draws": 2.5}, "draws is 2.5"),
        ({"draws": True}, "draws is True"),
        ({"seed": -1}, "seed is -1: give a whole number, 0 or more"),
    ],
)
def test_draws_are_counted(change, words):
    """No draw gives no interval, and the sentence says so."""
    ids, classes, truth, rows = contest(3, 5)
    result = evaluate(make_truth(ids, classes, truth), make_detections(rows))
    with pytest.raises(InputError, match=words):
        measure_uncertainty(result, **change)


def test_standard_uncertainty_of_a_guaranteed_bound():
    """A bound of 0.3 % has a standard uncertainty of 0.17 %."""
    assert 0.1732 == round(standard_uncertainty(0.3), 4)


def test_paired_images_see_a_difference_more_clearly():
    """On the same images the difference of two solutions is surer than each mAP."""
    first, second = measured(7), measured(7, keep=6)
    told = compare(first, second, Energy(1.0), Energy(1.0))
    assert first.estimate - second.estimate == told.difference
    assert told.standard_error < min(first.standard_error(), second.standard_error())
    assert told.interval.low < told.difference < told.interval.high
    back = compare(second, first, Energy(1.0), Energy(1.0))
    assert ends(told.interval) == pytest.approx((-back.interval.high, -back.interval.low))
    assert told.turn_probability == pytest.approx(back.turn_probability)


def test_energies_err_independently_in_a_comparison():
    """The errors of two energies add to that of the difference, and make a turn more likely."""
    first, second = made(0.0), made(0.0, estimate=0.48)
    told = compare(first, second, Energy(1.0, 0.03), Energy(1.0, 0.04))
    assert math.hypot(0.5 * 0.03, 0.48 * 0.04) == pytest.approx(told.standard_error)
    exact = compare(first, second, Energy(1.0), Energy(1.0))
    assert 0.0 == exact.turn_probability < told.turn_probability < 0.5
    assert (exact.difference, exact.difference) == ends(exact.interval)


def test_degrees_of_freedom_by_hand():
    """One image in a hundred that makes the difference leaves 4.12 degrees, energy adds to them.

    The parts 99 and 99 times -1 have the second moment 99 and the fourth 960,597, so the kurtosis
    is 9703/99, and f = 4 * 100 / (9604/99) = 4.1233. Images err by .003 and energy by .004, .005
    together. Welch and Satterthwaite: 4.1233 * (.005/.003)^4 = 31.8 degrees, whose t is 2.0374.
    """
    signs = np.tile([1.0, -1.0], (50, 1))
    parts = np.array([99.0] + 99 * [-1.0])
    halves = SplitHalves(
        0.5 + 0.003 * signs, 0.5 + 0.003 * np.tile(signs, (1, 2)) * 1.5**0.5, parts, 0
    )
    # The quarters differ by sqrt(2) of the halves, as where variance falls with images.
    halves = SplitHalves(halves.halves, 0.5 + (halves.quarters - 0.5) * 2**0.5, parts, 0)
    nothing = SplitHalves(np.full((50, 2), 0.4), np.full((50, 4), 0.4), np.zeros(100), 0)
    first, second = MapUncertainty(0.5, halves, 100), MapUncertainty(0.4, nothing, 100)
    told = compare(first, second, Energy(1.0), Energy(1.0))
    assert 0.003 == pytest.approx(told.standard_error)
    # t of 4.1233 degrees, between 2.7764 of 4 and 2.5706 of 5.
    assert 2.745 * 0.003 == pytest.approx(told.interval.high - 0.1, rel=6e-3)
    told = compare(first, second, Energy(1.0, 0.008), Energy(1.0))
    assert 0.005 == pytest.approx(told.standard_error)
    assert 2.0374 * 0.005 == pytest.approx(told.interval.high - 0.1, rel=5e-4)


def test_images_that_count_alike_have_a_degree_each():
    """Where all parts are equal in size, the kurtosis is 1, and n images leave n - 1 degrees."""
    told = compare(made(0.02, images=12), made(0.0, images=12), Energy(1.0), Energy(1.0))
    # t of 11 degrees.
    assert 2.2010 * 0.01 == pytest.approx(told.interval.high, rel=2e-3)


def test_turn_is_a_toss_where_nothing_differs():
    """A solution beside itself turns in half of all second contests."""
    told = compare(made(0.02), made(0.02), Energy(1.0), Energy(1.0))
    assert (0.0, 0.5) == (told.difference, told.turn_probability)


def test_a_second_contest_turns_more_often_than_a_p_value_says():
    """At 1.645 standard errors a one-sided p-value is 5 %; two teams alone turn in 25 %.

    Of two teams a = 1.5 and b = 1.645² / 2 = 1.353. The mean of the density u^.5 exp(-b u) is the
    share of errors 0.5037, so B is 0.4963, and -1.645 B / sqrt(1 + B) = -0.6674 has the probability
    0.2523.
    """
    first, second = made(0.0, estimate=0.5), made(0.0, estimate=0.5 - 0.01645)
    told = compare(first, second, Energy(1.0, 0.02), Energy(1.0))
    assert 0.2523 == pytest.approx(told.turn_probability, abs=0.002)


def test_the_other_teams_tell_how_often_a_pair_turns():
    """Among teams that lie close together the same difference turns more often than alone."""
    energy = Energy(1.0, 0.02)
    teams = [made(0.0, estimate=0.5 - 0.002 * k) for k in range(8)]
    far = [made(0.0, estimate=0.1 * (1 + k)) for k in range(8)]
    told = compare(teams[0], teams[-1], energy, energy)
    among = [
        told.turns_among(
            spread_of([compare(a, b, energy, energy) for a, b in combinations(event, 2)], 8)
        )
        for event in (teams, far)
    ]
    assert among[0] > told.turn_probability > 0.3
    assert among[1] < among[0] and among[1] < 0.35


def test_difference_stays_within_what_is_possible():
    """A difference of mAPs lies between -1 and 1, one of scores between -1 Wh⁻¹ and 1 Wh⁻¹ each."""
    told = compare(made(2.0), made(0.0), Energy(2.0), Energy(4.0))
    assert (-0.25, 0.5) == ends(told.interval)


def test_comparison_needs_the_same_draws():
    """A comparison refuses draws of other images."""
    with pytest.raises(ValueError, match="the same images, seed and number of draws"):
        compare(measured(), measured(draws=100), Energy(1.0), Energy(1.0))


def result_of(keep=1):
    """Return the result of a contest whose answer has every row but each `keep`-th."""
    ids, classes, truth, rows = contest(3, 60)
    rows = [row for number, row in enumerate(rows) if keep == 1 or number % keep]
    return evaluate(make_truth(ids, classes, truth), make_detections(rows))


def test_two_results_are_compared_in_one_call():
    """Two results are compared as their measurements are: by mAP, or by score with energies."""
    a, b, energies = result_of(), result_of(2), (Energy(1.0, 0.02), Energy(2.0, 0.01))
    told = compare(a, b, draws=200)
    assert told == compare(measured(), measured(keep=2))
    assert told.difference == a.mean_ap - b.mean_ap
    assert 0 < told.turn_probability < 0.5
    scores = compare(a, b, *energies, draws=200)
    assert scores.difference == a.mean_ap - b.mean_ap / 2
    assert scores == compare(measured(), measured(keep=2), energies[0], energies[1])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: compare(made(0.02), made(0.02), Energy(1.0)), "the energies of both"),
        (
            lambda: compare(made(0.02), Energy(1.0), made(0.02), Energy(1.0)),
            "the second solution is Energy",
        ),
        (lambda: compare(0.5, made(0.02)), "the first solution is 0.5: give the result"),
        (lambda: compare(made(0.02), made(0.02), 1.0, 2.0), "an energy is 1.0: give Energy"),
        (lambda: compare(result_of(), nothing()), "the second result has no mAP"),
    ],
)
def test_what_cannot_be_compared_is_told(ask, words):
    """One energy alone, a number in place of a result, and a result without a mAP are refused."""
    with pytest.raises(InputError, match=words):
        ask()


def nothing():
    """Return a result without a mAP."""
    return evaluate(make_truth([1], [1], []), Detections.empty())
