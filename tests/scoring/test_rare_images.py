# SPDX-License-Identifier: Apache-2.0
"""What few images may do to a mAP, and to a difference.

It is long because the rule changes by the number of failures and images: each limit has its case.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.scoring.comparison import compare
from referee.scoring.ilsvrc import evaluate
from referee.scoring.pairwise import Together
from referee.scoring.rare_images import RareImages, ends, quantile, rare_images
from referee.scoring.rules import DEVKIT
from referee.scoring.split_half import Drawing, draw_halves
from referee.scoring.uncertainty import Energy, measure_uncertainty
from tests.scoring.test_split_half import contest
from tests.support.scoring_cases import make_detections, make_truth

BOX, ELSEWHERE = (0, 0, 39, 39), (200, 200, 239, 239)


def near_perfect(images, missed=0, false=0, at=0.5):
    """Return the result of one class with a box on each image.

    The first boxes are missed, and as many images have a false box before the share `at` of the
    true ones.
    """
    truth = make_truth(range(1, images + 1), [1], [(it, 1, BOX) for it in range(1, images + 1)])
    rows = [(it, 1, it / images, BOX) for it in range(1 + missed, images + 1)]
    rows += [(images - it, 1, at + it / images / 9, ELSEWHERE) for it in range(false)]
    return evaluate(truth, make_detections(sorted(rows, key=lambda row: row[0])))


def told(result, draws=200):
    """Return the interval of a result."""
    return measure_uncertainty(result, draws).interval()


def width(interval):
    """Return how wide an interval is."""
    return interval.high - interval.low


@pytest.mark.slow
@pytest.mark.parametrize("images", [40, 100, 300])
def test_a_failure_more_does_not_narrow_the_interval(images):
    """From no failure to eight no width halves, and none grows more than one failure explains."""
    for results in (
        [near_perfect(images, missed=k) for k in range(9)],
        [near_perfect(images, false=k, at=0.5) for k in range(9)],
        [near_perfect(images, false=k, at=2 / images) for k in range(9)],
    ):
        intervals = [told(result, 60) for result in results]
        widths = list(map(width, intervals))
        assert all(0.6 < b / a < 2.1 for a, b in zip(widths, widths[1:], strict=False))
        for one, result in zip(intervals, results, strict=True):
            assert one.low <= result.mean_ap <= one.high


@pytest.mark.parametrize(("images", "error"), [(25, 0.04), (5000, 0.0002)])
def test_a_perfect_answer_has_an_error(images, error):
    """No failure in 25 images is not as sure as none in 5,000."""
    for result in (near_perfect(images), near_perfect(images, missed=images)):
        assert error == pytest.approx(measure_uncertainty(result, 4).standard_error())


def test_one_weak_false_box_leaves_the_bound_of_a_perfect_answer():
    """A false box that costs a thousandth of an image tells no more than none would."""
    perfect, weak = told(near_perfect(100)), told(near_perfect(100, false=1, at=0.02))
    assert perfect.low == pytest.approx(0.025 ** (1 / 100))
    assert weak.low == pytest.approx(perfect.low, abs=2e-3)
    assert weak.high > near_perfect(100, false=1, at=0.02).mean_ap


@pytest.mark.parametrize(("missed", "upper"), [(0, 3.689), (1, 5.572), (2, 7.225)])
def test_missed_images_have_the_limits_of_their_count(missed, upper):
    """Of a thousand images so many lose 1/1000 each: the limits are those of a Poisson count."""
    mean_ap = 1 - missed / 1000
    low, _ = ends(mean_ap, missed / 1000**2, 1 / 1000, 0.025)
    assert 1000 * -math.log(low) == pytest.approx(upper, rel=2e-3)


def test_the_limits_near_0_are_those_near_1_turned():
    """What is lost near 1 is what is found near 0."""
    for estimate, variance in ((1.0, 0.0), (0.99, 1e-4), (0.5, 0.0)):
        low, high = ends(estimate, variance, 0.02, 0.025)
        other_low, other_high = ends(1 - estimate, variance, 0.02, 0.025)
        assert (low, high) == pytest.approx((1 - other_high, 1 - other_low), abs=1e-12)


def test_images_that_are_all_alike_may_be_followed_by_another():
    """Where each image has one box found and one missed, no half differs, and yet one may come."""
    boxes = [(it, 1, box) for it in range(1, 51) for box in (BOX, ELSEWHERE)]
    rows = [(it, 1, 0.9, BOX) for it in range(1, 51)]
    result = evaluate(make_truth(range(1, 51), [1], boxes), make_detections(rows))
    measured = measure_uncertainty(result, 50)
    assert (0.5, 0.0) == (result.mean_ap, measured.by_rule(1).standard_error())
    assert 0.5 / 50 == pytest.approx(measured.standard_error())
    interval = measured.interval()
    assert 0.4 < interval.low < 0.49 and 0.51 < interval.high < 0.6
    assert interval.low == pytest.approx(1 - interval.high)


def test_where_many_images_decide_the_spread_alone_counts():
    """An ordinary contest has the interval of its halves; the first rule's quantile is rounded."""
    measured = measure_uncertainty(ordinary(), 100)
    assert measured.halves.rare.trust(measured.estimate) == 0
    now, first = measured.interval(), measured.by_rule(1).interval()
    assert (first.low, first.high) == pytest.approx((now.low, now.high), rel=1e-6)
    assert (1, 2) == (measured.by_rule(1).rule, measured.rule)
    assert (0.0, 0.0) == measured.beyond_spread()


def ordinary(keep=3, images=200):
    """Return the result of an ordinary contest."""
    ids, classes, truth, rows = contest(3, images)
    rows = [row for number, row in enumerate(rows) if number % keep]
    return evaluate(make_truth(ids, classes, truth), make_detections(rows))


def test_trust_falls_evenly():
    """The limits count whole up to 12 rare images of many, half at 18, and not from 24 on."""
    found = [RareImages(1 / 300, it).trust(0.5) for it in (0, 12, 18, 24, 100)]
    assert [1.0, 1.0, 0.5, 0.0, 0.0] == pytest.approx(found)
    assert [1.0, 0.5, 0.0] == pytest.approx(
        [RareImages(1 / 40, it).trust(0.5) for it in (6, 9, 12)]
    )


def test_failures_that_cost_little_are_rare_however_many_they_are():
    """A hundred false boxes that cost as much as one image do not tell what a missed one costs."""
    found = [RareImages(1 / 300, 100).trust(math.exp(-it / 300)) for it in (1, 12, 18, 24)]
    assert [1.0, 1.0, 0.5, 0.0] == pytest.approx(found, abs=1e-9)
    assert RareImages(1 / 300, 100).trust(0.003) == 0.0


def test_weight_and_deciding_images_by_hand():
    """Shares .5, .3 and .2 have the weight .38; two influences of four make all of the spread."""
    found = rare_images(np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, -0.1, 0.0, 0.0]))
    assert (0.38, 2.0) == pytest.approx((found.weight, found.deciding))
    assert 0.0 == rare_images(np.array([1.0]), np.array([1e-17])).deciding


def weighted_map(result, weights):
    """Return the mAP with so many images of each kind: the definition, in plain Python."""
    aps = []
    for one in result.images_by_class():
        found = seen = 0.0
        hits, points = set(one.hit.tolist()), []
        for place, image in enumerate(one.detection.tolist()):
            seen += weights[image]
            if place in hits:
                found += weights[image]
                points.append((weights[image], found / seen))
        best = [max(p for _, p in points[k:]) for k in range(len(points))]
        area = sum(w * p for (w, _), p in zip(points, best, strict=True))
        aps.append(area / sum(weights[one.truth]))
    return float(np.mean(aps))


@pytest.mark.parametrize("seed", range(8))
def test_influence_is_what_a_little_more_of_an_image_does(seed):
    """The influence of each image is the derivative of the mAP by the image's weight.

    Where two points of the envelope tie, it lies between the derivatives to both sides.
    """
    ids, classes, truth, rows = contest(seed, 12)
    result = evaluate(make_truth(ids, classes, truth), make_detections(rows))
    assert result.mean_ap == pytest.approx(weighted_map(result, np.ones(result.images)))
    influence = Drawing(result).influence
    assert 0 == pytest.approx(influence.sum(), abs=1e-14)
    for image, found in enumerate(influence):
        slopes = []
        for step in (1e-6, -1e-6):
            weights = np.ones(result.images)
            weights[image] += step
            slopes.append((weighted_map(result, weights) - result.mean_ap) / step)
        assert min(slopes) - 1e-5 <= found <= max(slopes) + 1e-5


def test_perfect_and_nothing_are_not_apart_for_sure():
    """From four images a difference of 1 has a far lower end, and a second contest may turn it."""
    perfect = near_perfect(4)
    nothing = near_perfect(4, missed=4)
    found = compare(perfect, nothing, draws=50)
    # 1 - .025^(1/4) may be lost by the one, and as much be found by the other.
    assert (1.0, 1 - math.sqrt(2) * 0.6024) == pytest.approx(
        (found.interval.high, found.interval.low), abs=1e-4
    )
    assert 0.02 < found.turn_probability < 0.2
    back = compare(nothing, perfect, draws=50)
    assert (-found.interval.high, -found.interval.low) == (back.interval.low, back.interval.high)
    assert found.turn_probability == back.turn_probability


@pytest.mark.parametrize("images", [1, 2])
def test_too_few_images_say_nothing(images):
    """One perfect image, or two, leave the mAP open down to a small share; no number is NaN."""
    perfect = near_perfect(images)
    interval = told(perfect, 20)
    assert (0.025 ** (1 / images), 1.0) == pytest.approx((interval.low, interval.high))
    found = compare(perfect, near_perfect(images, missed=images), draws=20)
    assert found.interval.low <= 0.1 and 1.0 == found.interval.high
    assert 0.1 < found.turn_probability <= 0.5


def test_two_perfect_answers_may_differ():
    """Two perfect answers to 100 images are equal, give or take what a rare failure may cost."""
    found = compare(near_perfect(100), near_perfect(100), draws=50)
    reach = 1 - 0.025 ** (1 / 100)
    assert (0.0, -reach, reach) == pytest.approx(
        (found.difference, found.interval.low, found.interval.high)
    )
    assert 0.5 == found.turn_probability
    scores = compare(near_perfect(100), near_perfect(100), Energy(2.0), Energy(4.0), draws=50)
    assert (0.25 - reach / 2, 0.25 + reach / 4) == pytest.approx(
        (scores.interval.low, scores.interval.high)
    )


def test_no_interval_is_narrower_than_that_of_its_halves():
    """What held without the limits of rare failures holds with them: they only widen."""
    few = [ordinary(keep, images) for keep, images in ((2, 30), (3, 40), (9, 60))]
    results = [*few, *(near_perfect(60, missed=m, false=f, at=0.1) for m, f in ((0, 3), (2, 1)))]
    measured = [measure_uncertainty(result, 50) for result in results]
    pairs = [(it.by_rule(1).interval(), it.interval()) for it in measured]
    pairs.append(
        tuple(
            compare(*two).interval for two in ((m.by_rule(1) for m in measured[3:]), measured[3:])
        )
    )
    for old, new in pairs:
        assert new.low - 1e-5 <= old.low <= old.high <= new.high + 1e-5  # Its quantile is rounded.


def test_an_ordinary_comparison_keeps_its_bits():
    """Where many images decide both mAPs, a difference is as its draws say."""
    a, b = (measure_uncertainty(ordinary(keep), 60) for keep in (3, 4))
    assert compare(a, b) == compare(a.by_rule(1), b.by_rule(1))


def test_pairs_together_are_pairs_alone_near_1():
    """All pairs in one step have the bits of `compare`, with rare failures too."""
    sides = [
        (measure_uncertainty(near_perfect(60, missed=k, false=1), 40), Energy(1.0 + k, 0.01))
        for k in range(4)
    ]
    for place in range(3):
        alone = [
            compare(sides[place][0], other, sides[place][1], energy)
            for other, energy in sides[place + 1 :]
        ]
        assert alone == Together(sides).with_those_behind(place)


def test_clusters_stand_in_for_images():
    """Thirty perfect images of six films tell as much as six images."""
    result = near_perfect(30)
    films = np.repeat(np.arange(6), 5)
    assert measure_uncertainty(result, 20, clusters=films).interval().low == pytest.approx(
        0.025 ** (1 / 6)
    )
    heavy = np.array([0] * 15 + list(range(1, 16)))
    found = measure_uncertainty(result, 20, clusters=heavy)
    assert found.halves.rare.weight == pytest.approx(0.5**2 + 15 / 30**2)


def test_classes_without_truth_that_count_0_change_no_weight():
    """Under rules by which they count, a perfect answer has 1 / 5, and may lose what it had."""
    boxes = [(it, 1, BOX) for it in range(1, 51)]
    truth = make_truth(range(1, 51), range(1, 6), boxes)
    rows = make_detections([(i, k, 0.9, box) for i, k, box in boxes])
    measured = measure_uncertainty(evaluate(truth, rows, replace(DEVKIT, missing_as_zero=True)), 20)
    assert (0.2, 0.02) == pytest.approx((measured.estimate, measured.halves.rare.weight))
    assert 0.2 * math.exp(-4 / 50) < measured.interval().low < 0.2 * math.exp(-2.5 / 50)


def test_boxes_weigh_by_their_class():
    """The only box of a class weighs as much as all boxes of the other one together."""
    boxes = [(it, 1, BOX) for it in range(1, 10)] + [(10, 2, BOX)]
    truth = make_truth(range(1, 11), [1, 2], boxes)
    result = evaluate(truth, make_detections([(i, k, 0.9, box) for i, k, box in boxes]))
    assert 9 / 18**2 + 1 / 4 == pytest.approx(draw_halves(result, 1).rare.weight)
    assert draw_halves(evaluate(truth, Detections.empty()), 1).rare.deciding == 0


def test_halves_without_a_count_have_the_first_rule():
    """What earlier versions stored does not say how few images decide: it keeps its interval."""
    measured = measure_uncertainty(near_perfect(60, missed=1, false=1), 40)
    old = replace(measured, halves=replace(measured.halves, rare=None))
    assert old.interval() == measured.by_rule(1).interval()
    assert width(old.interval()) < width(measured.interval())


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
    assert high == pytest.approx(quantile(0.975, count + 1), rel=5e-4)
    if count:
        assert low == pytest.approx(quantile(0.025, count), rel=5e-3)


@pytest.mark.parametrize("probability", [1e-6, 0.025, 0.5, 0.975, 1 - 1e-9])
def test_shape_one_is_exponential(probability):
    """Of shape 1 the quantile is -ln(1 - p)."""
    assert -math.log1p(-probability) == pytest.approx(quantile(probability, 1.0), rel=1e-6)


@pytest.mark.parametrize("probability", [0.005, 0.025, 0.975, 0.995])
def test_both_ways_meet(probability):
    """The series and the cube root give the same where one takes over from the other."""
    below, above = quantile(probability, 300.0), quantile(probability, 300.0001)
    assert below == pytest.approx(above, rel=2e-5)


def test_a_tiny_shape_has_a_quantile_of_nothing():
    """What lies below the least double is 0, and no loop is without an end."""
    assert quantile(0.025, 1e-4) < 1e-300
    assert 0 < quantile(0.975, 1e-4) < 1
