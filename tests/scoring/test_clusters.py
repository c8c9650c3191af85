# SPDX-License-Identifier: Apache-2.0
"""Halves of whole clusters of images, and what unequal clusters do to an interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.errors import InputError
from referee.scoring import student
from referee.scoring.clusters import BALANCED, correlation, imbalance
from referee.scoring.comparison import compare
from referee.scoring.ilsvrc import evaluate
from referee.scoring.uncertainty import Energy, measure_uncertainty
from tests.scoring.test_split_half import result_of
from tests.support.scoring_cases import make_detections, make_truth

BOX = (0, 0, 9, 9)


def films(found, images=2):
    """Return the result of films of so many images, all or none found, and the film of each."""
    film = [name for name in range(len(found)) for _ in range(images)]
    ids = range(1, len(film) + 1)
    truth = make_truth(ids, [1], [(image, 1, BOX) for image in ids])
    rows = [(image, 1, 0.5, BOX) for image in ids if found[film[image - 1]]]
    return evaluate(truth, make_detections(rows) if rows else Detections.empty()), film


def test_a_cluster_goes_to_one_half_whole():
    """Of four films, two found, a half holds one or both or none, and a quarter holds one film."""
    result, film = films([True, True, False, False])
    drawn = measure_uncertainty(result, 60, clusters=film).halves
    assert {(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)} == set(map(tuple, drawn.halves.tolist()))
    assert {(0.0, 0.0, 1.0, 1.0)} == set(map(tuple, np.sort(drawn.quarters).tolist()))
    assert [0.125, 0.125, -0.125, -0.125] == drawn.parts.tolist()


def test_interval_of_four_clusters_by_hand():
    """Four films, two found, have the variance of four images, and three degrees of freedom.

    Halves that hold both found films have the variance 1/2, others 0. If a share f of the draws has
    such halves, the variance of the whole is f/4. The quarters are the films, with the variance
    1/3, and predict 1/12. So the variance is f/4 * max(1, 3 f), near 1/12.
    """
    result, film = films([True, True, False, False], images=10)
    told = measure_uncertainty(result, 300, clusters=film)
    share = np.mean(told.halves.halves[:, 0] != 0.5)
    assert 1 / 3 == pytest.approx(share, abs=0.1)
    error = math.sqrt(share / 4 * max(1, 3 * share))
    assert error == pytest.approx(told.standard_error())
    # Student's t of three degrees is 3.182; our approximation of it is within 1.2 %.
    assert 3.182 == pytest.approx(student.quantile(0.975, 3), rel=1.2e-2)
    high = 1 / (1 + math.exp(-student.quantile(0.975, 3) * error / 0.25))
    assert (1 - high, high) == pytest.approx((told.interval().low, told.interval().high))
    # 40 independent images, half of them found, would have the variance 1/4 / 39.
    alone = measure_uncertainty(result, 300)
    assert math.sqrt(0.25 / 39) == pytest.approx(alone.standard_error(), rel=0.15)


def test_clusters_of_one_image_change_no_bit():
    """Where each image is its own cluster, every draw, interval and comparison stays as it was."""
    found = result_of(1)
    results = [found, evaluate(found.truth, Detections.empty())]
    named = {image: f"film {99 - image}" for image in range(1, 40)}
    plain = [measure_uncertainty(it, 40, seed=3) for it in results]
    for clusters in (named, list(range(30, 0, -1)), np.arange(30)):
        told = [measure_uncertainty(it, 40, 3, clusters=clusters) for it in results]
        for a, b in zip(plain, told, strict=True):
            assert a.halves.halves.tobytes() == b.halves.halves.tobytes()
            assert a.halves.quarters.tobytes() == b.halves.quarters.tobytes()
            assert a.halves.parts.tolist() == b.halves.parts.tolist()
            assert (a.interval(), a.with_truth) == (b.interval(), b.with_truth)
        pairs = [compare(a, b, Energy(1.0), Energy(1.0)) for a, b in (plain, told)]
        assert pairs[0] == pairs[1]


def test_nothing_found_in_six_clusters():
    """After 6 films without a hit, as many as 46 % of films may hold one, however many images."""
    result, film = films(6 * [False], images=10)
    assert 0.4593 == round(measure_uncertainty(result, 5, clusters=film).interval().high, 4)


def test_unequal_clusters_by_hand():
    """Clusters of 2, 2, 1 and 1 images vary more than a draw shows that parts the sizes.

    Images of one cluster tell the same here. In units of the variance of an image, the mean of all
    images has (4 + 4 + 1 + 1) / 36. Halves of 2 + 2 and 1 + 1 show (8/16 + 2/4) / 4 = 1/4, and
    quarters 1/4 too. Halves of 2 + 1 show (5/9 + 5/9) / 4 = 10/36. The clusters count as 100 / 34.
    """
    sizes = np.array([2, 2, 1, 1])
    parted, mixed = np.array([[0, 1, 2, 3]], np.int8), np.array([[0, 2, 1, 3]], np.int8)
    for divisions, factor in (([parted], 10 / 9), ([mixed], 1.0), ([parted, mixed], 20 / 19)):
        found = imbalance(sizes, 1.0, divisions, 4)
        expected = (factor, 10 / 9, 100 / 34 - 1)
        assert expected == pytest.approx((found.halves, found.quarters, found.degrees))


def test_images_that_do_not_correlate_lose_nothing_by_unequal_clusters():
    """Without correlation the variance is that of six images, and 36 / 10 of them count."""
    found = imbalance(np.array([2, 2, 1, 1]), 0.0, [np.array([[0, 1, 2, 3]], np.int8)], 4)
    assert (1.0, 1.0, 2.6) == pytest.approx((found.halves, found.quarters, found.degrees))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [([1, 1, -1, -1], 1.0), ([1, -1, 1, -1], 0.0), ([3, 1, -1, -3], 0.6), ([0, 0, 0, 0], 1.0)],
)
def test_correlation_within_clusters_by_hand(parts, expected):
    """Two clusters of two: the sums' squares over the images' squares are 1 + correlation.

    For 3, 1, -1 and -3 they are 32 / 20.
    """
    parts = np.array(parts, float)
    sums = parts.reshape(2, 2).sum(axis=1)
    assert expected == pytest.approx(correlation(np.array([2, 2]), sums, parts))


def test_equal_clusters_are_balanced():
    """Clusters of equal size are balanced, also beside clusters without a truth box."""
    division = np.array([[0, 1, 2, 3, 0]], np.int8)
    assert imbalance(np.array([3, 3, 3, 3, 0]), 0.5, [division], 4) is BALANCED
    assert imbalance(np.array([0, 0, 0, 0, 0]), 0.5, [division], 4) is BALANCED


def test_a_cluster_that_outweighs_the_others_widens_the_interval():
    """One film of half the images leaves one degree of freedom, and a wider difference too."""
    found = [True, False, True, True, False, True, False, True]
    result, film = films(found, images=7)
    heavy = [0 if it < 4 else it for it in film]
    even, uneven = (measure_uncertainty(result, 50, clusters=it) for it in (film, heavy))
    assert even.halves.imbalance is BALANCED
    assert 1.0 < uneven.halves.imbalance.halves
    assert 1.0 == uneven.halves.imbalance.degrees
    nothing = evaluate(
        make_truth(range(1, 57), [1], [(it, 1, BOX) for it in range(1, 57)]), Detections.empty()
    )
    widths = []
    for clusters, mine in ((film, even), (heavy, uneven)):
        other = measure_uncertainty(nothing, 50, clusters=clusters)
        told = compare(mine, other, Energy(1.0), Energy(1.0)).interval
        widths.append((mine.interval().high, told.high - told.low))
    assert widths[0] < widths[1]
    assert widths[0][1] < widths[1][1]


def test_two_clusters_say_nothing():
    """Two films do not fill two halves of two quarters each, so every mAP is possible."""
    result, film = films([True, False], images=20)
    found = measure_uncertainty(result, 20, clusters=film).interval()
    assert (0.0, 1.0) == (found.low, found.high)


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        ([1, 1, 2], "clusters has 3 entries for 4 images"),
        ({1: "a", 2: "a", 4: "b"}, "image 3 has no cluster: name one for each image"),
        ([1, None, 2, 3], "image 2 has no cluster"),
        (np.array([1.0, 1.0, math.nan, 2.0]), "image 3 has no cluster"),
        ([[1], [2], [3], [4]], r"the cluster of image 1 is \[1\]: give a number or a name"),
        ({1, 2, 3, 4}, "give a mapping or a sequence"),
        ("abcd", "give a mapping or a sequence"),
    ],
)
def test_an_image_without_a_cluster_is_refused(clusters, words):
    """Clusters that do not name one for each image are refused, and the sentence names an image."""
    result, _ = films([True, False])
    with pytest.raises(InputError, match=words):
        measure_uncertainty(result, 5, clusters=clusters)


def test_other_clusters_are_not_compared():
    """Two solutions whose images form other clusters were not drawn alike."""
    result, film = films([True, True, False, False])
    one, two, none = (
        measure_uncertainty(result, 20, clusters=it) for it in (film, [*film[1:], 0], None)
    )
    for other in (two, none):
        with pytest.raises(ValueError, match="the same clusters of images"):
            compare(one, other, Energy(1.0), Energy(1.0))
