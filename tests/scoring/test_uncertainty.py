# SPDX-License-Identifier: Apache-2.0
"""Intervals of mAP and score by bootstrap over images."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.scoring.ilsvrc import evaluate
from referee.scoring.rules import DEVKIT, REFEREE_2015
from referee.scoring.uncertainty import (
    MapSamples,
    ScoreSamples,
    bootstrap,
    standard_uncertainty,
    turn_probability,
    with_energy,
)
from tests.support.devkit_reference import reference_score
from tests.support.scoring_cases import make_detections, make_truth


def contest(seed, images=30, quality=0.7):
    """Return ids, truth and rows of a contest in which some detections are right."""
    chance = np.random.default_rng(seed)
    truth, rows = [], []
    for image in range(1, images + 1):
        for _ in range(chance.integers(0, 4)):
            x, y = (int(corner) for corner in chance.integers(0, 200, 2))
            box = (x, y, x + 40, y + 30)
            truth.append((image, int(chance.integers(1, 4)), box))
            shift = 0 if chance.random() < quality else 60
            moved = (x + shift, y, x + shift + 40, y + 30)
            rows.append((image, truth[-1][1], round(float(chance.random()), 1), moved))
            rows.append((image, int(chance.integers(1, 4)), round(float(chance.random()), 1), box))
    return list(range(1, images + 1)), [1, 2, 3], truth, rows


def samples(*values, estimate=0.5, seed=0):
    """Return draws with these values."""
    return MapSamples(estimate, np.array(values, dtype=np.float64), 10, seed)


@pytest.mark.parametrize("rules", [DEVKIT, REFEREE_2015])
def test_each_draw_is_the_score_of_the_images_drawn(rules):
    """An image that is drawn k times scores like k images with the same truth and detections."""
    images, classes, truth, rows = contest(1, images=8)
    result = evaluate(make_truth(images, classes, truth), make_detections(rows), rules)
    drawn = bootstrap(result, resamples=20, seed=5)
    chance = np.random.default_rng(5)
    for value in drawn.values:
        # Copies of an image have neighbouring numbers, so that ties keep their order.
        copies = np.sort(chance.integers(0, len(images), len(images)))
        new_truth, new_rows = [], []
        for number, old in enumerate(copies + 1, start=1):
            new_truth += [(number, c, box) for image, c, box in truth if image == old]
            new_rows += [(number, c, s, box) for image, c, s, box in rows if image == old]
        ap, mean_ap, _, _ = reference_score(
            images, classes, new_truth, [], new_rows, strict=rules.strict
        )
        if rules.missing_as_zero:
            mean_ap = sum(value for value in ap.values() if value is not None) / len(classes)
        assert math.isclose(mean_ap, value, abs_tol=1e-12)


def test_same_seed_gives_the_same_draws():
    """The same seed gives the same draws, for any number of them."""
    images, classes, truth, rows = contest(2)
    result = evaluate(make_truth(images, classes, truth), make_detections(rows))
    first, second = bootstrap(result, 50, seed=3), bootstrap(result, 23, seed=3)
    assert first.values[:23].tolist() == second.values.tolist()
    assert first.values.tolist() != bootstrap(result, 50, seed=4).values.tolist()


def test_interval_covers_the_estimate_and_narrows_with_images():
    """Ten times the images make the interval about three times narrower."""
    widths = []
    for images in (40, 400):
        ids, classes, truth, rows = contest(3, images)
        result = evaluate(make_truth(ids, classes, truth), make_detections(rows))
        interval = bootstrap(result, 200).interval()
        assert interval.low < result.mean_ap < interval.high
        widths.append(interval.high - interval.low)
    assert 2 < widths[0] / widths[1] < 5


def test_progress_reaches_the_end():
    """The caller hears how many draws are done, up to the last."""
    images, classes, truth, rows = contest(1, images=5)
    result = evaluate(make_truth(images, classes, truth), make_detections(rows))
    told = []
    bootstrap(result, 20, progress=lambda done, total: told.append((done, total)))
    assert [(8, 20), (16, 20), (20, 20)] == told


def test_without_truth_or_detections():
    """Without truth there is no draw, and without detections each draw is 0."""
    nothing = evaluate(make_truth([1], [1], []), Detections.empty())
    assert None is bootstrap(nothing)
    empty = evaluate(make_truth([1], [1, 2], [(1, 1, (0, 0, 9, 9))]), Detections.empty())
    assert [0.0] * 9 == bootstrap(empty, 9).values.tolist()


def test_draws_without_truth_are_left_out():
    """A draw without a truth box is left out of the interval."""
    truth = make_truth(range(1, 4), [1], [(1, 1, (0, 0, 9, 9))])
    drawn = bootstrap(evaluate(truth, make_detections([(1, 1, 0.5, (0, 0, 9, 9))])), 100)
    assert 0 < np.isnan(drawn.values).sum() < 100
    assert (1.0, 1.0) == (drawn.interval().low, drawn.interval().high)
    assert 0.0 == drawn.standard_error()


def test_interval_is_of_centred_percentiles():
    """The 95 % interval leaves out 2.5 % at each end, and the bias of the draws."""
    drawn = samples(*np.linspace(0.1, 1.1, 1001), estimate=0.5)
    assert 0.1 == pytest.approx(drawn.bias())
    interval = drawn.interval()
    assert (0.025, 0.975, 0.95) == pytest.approx((interval.low, interval.high, interval.level))
    assert 0.25 == pytest.approx(drawn.interval(0.5).low)


@pytest.mark.slow
def test_interval_covers_what_other_images_give():
    """About 95 of 100 intervals hold the mean mAP of contests of the same kind and size."""
    found = []
    for seed in range(40):
        images, classes, truth, rows = contest(100 + seed, images=60)
        result = evaluate(make_truth(images, classes, truth), make_detections(rows))
        found.append((result.mean_ap, bootstrap(result, 200).interval()))
    expected = np.mean([mean_ap for mean_ap, _ in found])
    covered = sum(interval.low <= expected <= interval.high for _, interval in found)
    assert 0.85 * len(found) <= covered


def test_energy_widens_the_interval_of_the_score():
    """Relative variances add: 3 % of mAP and 4 % of energy make 5 % of score."""
    chance = np.random.default_rng(0)
    drawn = samples(*(0.5 + 0.015 * chance.standard_normal(20000)))
    ratio = with_energy(drawn, 2.0, 0.08)
    assert 0.25 == ratio.estimate
    assert 0.05 == pytest.approx(np.std(ratio.values) / 0.25, rel=0.05)
    exact = with_energy(drawn, 2.0, 0.0)
    assert (drawn.centred() / 2.0).tolist() == exact.values.tolist()
    assert ratio.interval().low < exact.interval().low


def test_energies_of_two_sessions_err_independently():
    """Two sessions have independent draws of energy, and a session repeats its own."""
    drawn = samples(*[0.5] * 500)
    first, again, second = (with_energy(drawn, 1.0, 0.1, session=n) for n in (1, 1, 2))
    assert first.values.tolist() == again.values.tolist()
    assert abs(np.corrcoef(first.values, second.values)[0, 1]) < 0.2


@pytest.mark.parametrize(
    ("energy", "uncertainty"), [(0, 0), (-1, 0), (math.nan, 0), (math.inf, 0), (1, 0.2), (1, -1)]
)
def test_energy_that_divides_nothing_is_refused(energy, uncertainty):
    """An energy that may be zero is refused."""
    with pytest.raises(ValueError, match="divides nothing"):
        with_energy(samples(0.5), energy, uncertainty)


def test_standard_uncertainty_of_a_guaranteed_bound():
    """A bound of 0.3 % has a standard uncertainty of 0.17 %."""
    assert 0.1732 == round(standard_uncertainty(0.3), 4)


def scores(*values, estimate, session, seed=0):
    """Return draws of a score with these values."""
    return ScoreSamples(estimate, np.array(values), 10, seed, session)


def test_turn_is_the_share_of_draws_that_disagree():
    """Draws with the other ahead count whole, ties count half, and NaN does not count."""
    first = scores(0.5, 0.5, 0.5, 0.5, math.nan, estimate=0.5, session=1)
    second = scores(0.4, 0.6, 0.5, 0.3, 0.1, estimate=0.4, session=2)
    assert 0.375 == turn_probability(first, second) == turn_probability(second, first)


@pytest.mark.parametrize("other", [{"session": 2, "seed": 1}, {"session": 1}])
def test_comparison_needs_the_same_draws(other):
    """A comparison refuses draws of other images, and energies that err together."""
    with pytest.raises(ValueError, match="the same images, seed and number of draws"):
        turn_probability(scores(0.5, estimate=0.5, session=1), scores(0.5, estimate=0.5, **other))


def test_paired_draws_see_a_difference_more_clearly():
    """On the same images the difference of two solutions is surer than on separate draws."""
    images, classes, truth, rows = contest(7, images=60, quality=0.5)
    weaker = [row for number, row in enumerate(rows) if number % 6]
    table = make_truth(images, classes, truth)
    first, second = (
        with_energy(bootstrap(evaluate(table, make_detections(some)), 400), 1.0, 0.001, session)
        for session, some in enumerate((rows, weaker))
    )
    unpaired = dataclasses.replace(second, values=np.roll(second.values, 1))
    assert turn_probability(first, second) < turn_probability(first, unpaired) < 0.5
