# SPDX-License-Identifier: Apache-2.0
"""Each rule of the ILSVRC score at its edge, one small contest at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.errors import InputError
from referee.scoring import truth_index
from referee.scoring.detection_outcomes import Fate
from referee.scoring.ilsvrc import evaluate
from referee.scoring.overlap import columns, iou
from referee.scoring.rules import DEVKIT, REFEREE_2015, STRICT, Rules
from tests.support.scoring_cases import make_detections, make_truth

BOX = (10, 10, 59, 59)
NAN = math.nan


def score(truth, rows, images=(1,), classes=(1,), blacklist=(), rules=DEVKIT):
    """Evaluate a contest given as lists."""
    return evaluate(make_truth(images, classes, truth, blacklist), make_detections(rows), rules)


@pytest.mark.parametrize(
    ("truth", "detection", "hit", "strict_hit"),
    [
        pytest.param((0, 0, 99, 99), (0, 0, 99, 49), True, False, id="half of a large box"),
        pytest.param((0, 0, 99, 99), (0, 0, 99, 48), False, False, id="less than half"),
        pytest.param((0, 0, 99, 99), (0, 0, 99, 50), True, True, id="more than half"),
        pytest.param((10, 10, 19, 19), (5, 5, 24, 24), True, False, id="5 px more on each side"),
        pytest.param((10, 10, 19, 19), (5, 5, 24, 25), False, False, id="and one row too many"),
        pytest.param((10, 10, 19, 208), (10, 10, 19, 208), True, True, id="thin box, exact"),
        pytest.param((5, 5, 5, 5), (0, 0, 10, 10), True, False, id="one pixel has 1/121"),
        pytest.param((0, 0, 23, 23), (0, 0, 33, 33), True, False, id="24x24 stays below the cap"),
    ],
)
def test_threshold_is_reached_not_exceeded(truth, detection, hit, strict_hit):
    """An IoU equal to the truth box's threshold matches, except under the strict rules."""
    rows = [(1, 1, 0.9, detection)]
    assert float(hit) == score([(1, 1, truth)], rows).mean_ap
    assert float(strict_hit) == score([(1, 1, truth)], rows, rules=STRICT).mean_ap


def test_detection_falls_back_to_its_second_best_box():
    """A detection whose best box is taken gets the next box that it reaches."""
    truth = [(1, 1, (0, 0, 99, 99)), (1, 1, (0, 20, 99, 119))]
    rows = [(1, 1, 0.9, (0, 0, 99, 99)), (1, 1, 0.8, (0, 8, 99, 107))]
    assert 1.0 == score(truth, rows).mean_ap


def test_equal_confidences_of_one_image_match_in_the_order_of_rows():
    """Rows of one image with equal confidence take turns by row, so their order can decide."""
    truth = [(1, 1, (0, 0, 99, 99))]
    rows = [(1, 1, 0.5, (200, 200, 250, 250)), (1, 1, 0.5, (0, 0, 99, 99))]
    assert (0.5, 1.0) == (score(truth, rows).mean_ap, score(truth, rows[::-1]).mean_ap)
    assert 0.5 == score(truth, rows).grouped_mean_ap == score(truth, rows[::-1]).grouped_mean_ap


def test_grouped_value_depends_on_the_matching_within_an_image():
    """The order of equal rows of one image can decide which boxes they match: grouped values too.

    The first row reaches one box only, and the second row prefers that box. So both match if the
    first goes first, and one does if the second does.
    """
    truth = [(1, 1, (0, 0, 99, 99)), (1, 1, (0, 40, 99, 139))]
    rows = [(1, 1, 0.5, (0, -15, 99, 84)), (1, 1, 0.5, (0, 15, 99, 114))]
    assert (1.0, 1.0) == (score(truth, rows).mean_ap, score(truth, rows).grouped_mean_ap)
    swapped = score(truth, rows[::-1])
    assert (0.5, 0.25) == (swapped.mean_ap, swapped.grouped_mean_ap)


@pytest.mark.parametrize("seed", range(20))
def test_no_order_of_images_gives_less_than_the_grouped_value(seed):
    """Within each image the order stays, and so does the matching; images change places."""
    chance = np.random.default_rng(seed)
    images = range(1, 6)
    truth = [(image, 1, BOX) for image in images]
    rows = [
        (image, 1, float(confidence), BOX if hit else (200, 200, 220, 220))
        for image in images
        for confidence, hit in zip(
            chance.choice([0.3, 0.6], 3), chance.random(3) < 0.4, strict=True
        )
    ]
    grouped = score(truth, rows, images=images).grouped_mean_ap
    for _ in range(10):
        moved = dict(zip(images, chance.permutation(5).tolist(), strict=True))
        result = score(truth, [(moved[row[0]] + 1, *row[1:]) for row in rows], images=images)
        assert grouped == pytest.approx(result.grouped_mean_ap)
        assert result.mean_ap >= grouped - 1e-12


def test_larger_overlap_is_taken():
    """Of two boxes in reach a detection takes the one with the larger IoU."""
    truth = [(1, 1, (0, 0, 99, 99)), (1, 1, (0, 20, 99, 119))]
    # The first detection has IoU 91/109 with box 2 and 89/111 with box 1.
    # The second detection reaches box 1 only.
    rows = [(1, 1, 0.9, (0, 11, 99, 110)), (1, 1, 0.8, (0, 0, 99, 59))]
    assert 1.0 == score(truth, rows).mean_ap


def test_truth_without_extent_is_never_found():
    """A truth box of width 0 is never found, although its threshold is an IoU of 0."""
    truth = [(1, 1, (10, 10, 9, 20)), (1, 1, BOX)]
    result = score(truth, [(1, 1, 0.9, (300, 300, 320, 320)), (1, 1, 0.8, (9, 10, 10, 20))])
    assert (0, 2) == (result.true_positives, result.truth_boxes)


def test_small_box_may_win_over_a_larger_overlap_that_misses():
    """Only boxes whose own threshold is reached compete for a detection."""
    # IoU is 400/841 with the large box (needs 0.5) and 100/400 with the small one (needs 0.25).
    truth = [(1, 1, (0, 0, 28, 28)), (1, 1, (0, 0, 9, 9))]
    assert 0.0 == score(truth[:1], [(1, 1, 0.9, (0, 0, 19, 19))]).mean_ap
    assert 0.5 == score(truth, [(1, 1, 0.9, (0, 0, 19, 19))]).mean_ap


def test_equal_overlaps_take_the_first_box_of_the_file():
    """Of equal IoU the first truth box wins, and the second stays for the next detection."""
    truth = [(1, 1, (0, 0, 39, 99)), (1, 1, (60, 0, 99, 99))]
    rows = [(1, 1, 0.9, (0, 0, 99, 99)), (1, 1, 0.8, (60, 0, 99, 99))]
    only_first = [(1, 1, 0.9, (0, 0, 99, 99)), (1, 1, 0.8, (0, 0, 39, 99))]
    truth_wide = [(1, 1, (0, 0, 49, 99)), (1, 1, (50, 0, 99, 99))]
    wide = [(1, 1, 0.9, (0, 0, 99, 99)), (1, 1, 0.8, (50, 0, 99, 99))]
    assert 0.25 == score(truth, rows).mean_ap
    assert 0.25 == score(truth, only_first).mean_ap
    assert 1.0 == score(truth_wide, wide).mean_ap


def test_duplicates_are_false_positives():
    """A second detection of a found box counts as a duplicate and costs precision."""
    truth = [(1, 1, BOX), (1, 1, (100, 100, 149, 149))]
    rows = [(1, 1, 0.9, BOX), (1, 1, 0.8, BOX), (1, 1, 0.7, (100, 100, 149, 149))]
    result = score(truth, rows)
    assert 0.5 * (1 + 2 / 3) == pytest.approx(result.mean_ap, abs=1e-15)
    assert (2, 1) == (result.true_positives, result.duplicates)


def test_ties_across_images_go_to_the_lower_image_id():
    """Equal confidences are ordered by image id and then by row, in any order of arrival."""
    truth = [(3, 1, BOX)]
    low = [(3, 1, 0.5, BOX), (2, 1, 0.5, BOX)]
    assert 0.5 == score(truth, low, images=(2, 3)).mean_ap
    high = [(4, 1, 0.5, BOX), (3, 1, 0.5, BOX)]
    assert 1.0 == score(truth, high, images=(3, 4)).mean_ap


def test_ties_inside_an_image_keep_the_order_of_rows():
    """Of two equal detections of a box the earlier row is the true positive."""
    miss = (1, 1, 0.5, (300, 300, 320, 320))
    assert 1.0 == score([(1, 1, BOX)], [(1, 1, 0.5, BOX), miss]).mean_ap
    assert 0.5 == score([(1, 1, BOX)], [miss, (1, 1, 0.5, BOX)]).mean_ap


def test_zero_and_minus_zero_tie():
    """Confidences of -0.0 and 0.0 are equal."""
    miss = (1, 1, -0.0, (300, 300, 320, 320))
    assert 0.5 == score([(1, 1, BOX)], [miss, (1, 1, 0.0, BOX)]).mean_ap
    assert 1.0 == score([(1, 1, BOX)], [(1, 1, -0.0, BOX), (1, 1, 0.0, BOX)]).mean_ap


def test_grouped_value_does_not_depend_on_the_order_of_ties():
    """The grouped value lets equal confidences enter together, so their order does not matter."""
    truth = [(3, 1, BOX)]
    for other in (2, 4):
        rows = [(3, 1, 0.5, BOX), (other, 1, 0.5, BOX)]
        assert 0.5 == score(truth, rows, images=(2, 3, 4)).grouped_mean_ap


@pytest.mark.parametrize(
    "box",
    [
        pytest.param((59, 59, 10, 10), id="both inverted, positive area"),
        pytest.param((59, 10, 10, 59), id="one inverted"),
        pytest.param((10, 10, NAN, 59), id="NaN"),
        pytest.param((10, 10, math.inf, 59), id="infinite"),
        pytest.param((-math.inf, -math.inf, math.inf, math.inf), id="infinite on all sides"),
        pytest.param((-1e308, -1e308, 1e308, 1e308), id="area overflows"),
    ],
)
def test_broken_boxes_are_false_positives(box):
    """An inverted or infinite box finds nothing and costs precision."""
    rows = [(1, 1, 0.9, box), (1, 1, 0.8, BOX)]
    result = score([(1, 1, BOX)], rows)
    assert 0.5 == result.mean_ap
    assert int(box[2] < box[0] or box[3] < box[1]) == result.inverted
    assert int(not all(map(math.isfinite, box))) == result.coordinate_not_finite


def test_overlap_of_broken_boxes_is_zero():
    """IoU is 0 where a corner is not finite or an area overflows."""
    broken = [(NAN, 0, 9, 9), (0, 0, math.inf, 9), (-math.inf, 0, 9, 9), (-1e200, -1e200, 9, 9)]
    truth = np.array([(0.0, 0.0, 9.0, 9.0)] * len(broken))
    found = iou(columns(np.array(broken, dtype=np.float64)), columns(truth))
    assert [0.0] * len(broken) == found.tolist()


@pytest.mark.parametrize("confidence", [NAN, math.inf, -math.inf])
def test_confidence_that_is_not_finite_is_set_aside(confidence):
    """A row without a finite confidence is counted apart, and changes no score."""
    result = score([(1, 1, BOX)], [(1, 1, confidence, BOX), (1, 1, 0.1, BOX)])
    assert 1.0 == result.mean_ap
    assert 1 == result.ignored["confidence_not_finite"]


def test_odd_ids_are_ignored_and_counted():
    """Rows of unknown images and classes change neither numerator nor denominator."""
    odd = [(1, 0, 1.0, BOX), (1, 205, 1.0, BOX), (0, 1, 1.0, BOX), (2**62, 1, 1.0, BOX)]
    odd.append((-(2**63), 2**63 - 1, 1.0, BOX))
    result = score([(1, 1, BOX)], [*odd, (1, 1, 0.1, BOX)])
    assert (1.0, 1) == (result.mean_ap, result.classes_with_ground_truth)
    expected = {
        "unknown_image": 3,
        "class_out_of_range": 2,
        "confidence_not_finite": 0,
        "blacklisted": 0,
    }
    assert expected == result.ignored
    assert 1 == result.scored


def test_blacklisted_pair_counts_neither_way():
    """Detections of a blacklisted pair are ignored, and its truth boxes are not in N."""
    truth = [(1, 1, BOX), (2, 1, BOX)]
    rows = [(1, 1, 0.9, (300, 300, 320, 320)), (1, 1, 0.8, BOX), (2, 1, 0.7, BOX)]
    result = score(truth, rows, images=(1, 2), blacklist=[(1, 1)])
    assert 1.0 == result.mean_ap
    assert (1, 2) == (result.truth_boxes, result.ignored["blacklisted"])


def test_class_whose_truth_is_all_blacklisted_has_no_ground_truth():
    """A class with only blacklisted truth is left out of the mean."""
    truth = [(1, 1, BOX), (1, 2, BOX)]
    rows = [(1, 1, 0.9, BOX), (1, 2, 0.9, BOX)]
    result = score(truth, rows, classes=(1, 2), blacklist=[(1, 2)])
    assert {1: 1.0, 2: None} == result.ap
    assert (1.0, 1) == (result.mean_ap, result.classes_with_ground_truth)


def test_unprocessed_images_keep_their_truth():
    """Truth boxes of all images count, so stopping early costs recall."""
    assert 0.5 == score([(1, 1, BOX), (2, 1, BOX)], [(1, 1, 0.9, BOX)], images=(1, 2)).mean_ap


def test_missing_classes_count_zero_for_the_old_referee():
    """The 2015-2019 referee's mean covers all classes of the list."""
    rows = [(1, 1, 0.9, BOX)]
    result = score([(1, 1, BOX)], rows, classes=(1, 2, 3, 4), rules=REFEREE_2015)
    assert 0.25 == result.mean_ap
    assert None is result.ap[2]
    assert ("lpirc-referee", "2015") == (result.rules.name, result.rules.version)


@pytest.mark.parametrize("rules", [DEVKIT, STRICT, REFEREE_2015])
def test_nothing_at_all(rules):
    """Without ground truth mAP is None."""
    result = evaluate(make_truth([], [], []), Detections.empty(), rules)
    assert None is result.mean_ap
    assert None is result.grouped_mean_ap
    assert {} == result.ap


def test_no_detections_score_zero():
    """With truth and without detections AP is 0."""
    assert 0.0 == score([(1, 1, BOX)], []).mean_ap


def test_truth_of_unlisted_class_is_refused():
    """A truth box of an unlisted class is refused."""
    with pytest.raises(InputError, match=r"box 2 \(image 1, class 9\)"):
        score([(1, 1, BOX), (1, 9, BOX)], [])


def test_widely_spread_ids_are_found():
    """Ids near both ends of int64 are found."""
    images, classes = (-(2**63), 7, 2**63 - 1), (5, 10**12)
    truth = [(images[0], 5, BOX), (images[2], 10**12, BOX)]
    rows = [(images[0], 5, 0.9, BOX), (images[2], 10**12, 0.9, BOX), (6, 6, 0.9, BOX)]
    result = score(truth, rows, images=images, classes=classes, blacklist=[(7, 5)])
    assert (1.0, 1) == (result.mean_ap, result.ignored["unknown_image"])


def test_pairs_are_found_without_a_table(monkeypatch):
    """A search finds the pairs where a table of all (image, class) pairs would be too large."""
    truth = [(1, 1, BOX), (2, 2, BOX), (2, 1, BOX)]
    rows = [(1, 1, 0.9, BOX), (2, 2, 0.9, BOX), (1, 2, 0.9, BOX), (2, 1, 0.9, BOX), (3, 1, 1, BOX)]
    arguments = {"images": (1, 2), "classes": (1, 2), "blacklist": [(2, 2)]}
    expected = score(truth, rows, **arguments)
    monkeypatch.setattr(truth_index, "_LARGEST_TABLE", 0)
    assert expected == score(truth, rows, **arguments)
    assert (2, 1) == (expected.true_positives, expected.ignored["blacklisted"])
    assert 0 == score([], rows).truth_boxes


def test_pair_behind_the_last_one_with_truth_is_found_without_a_table(monkeypatch):
    """The search ends at the last pair with truth: a detection behind it has none."""
    monkeypatch.setattr(truth_index, "_LARGEST_TABLE", 0)
    rows = [(1, 1, 0.9, BOX), (2, 2, 0.9, BOX)]
    result = score([(1, 1, BOX)], rows, images=(1, 2), classes=(1, 2))
    assert (1, 1) == (result.true_positives, result.truth_boxes)


def test_precision_recall_has_one_point_per_detection():
    """The curve follows the devkit's order, and has no ignored rows."""
    truth = [(1, 1, BOX), (1, 1, (100, 100, 149, 149))]
    rows = [(1, 1, 0.7, (100, 100, 149, 149)), (1, 1, 0.9, BOX), (1, 1, 0.8, BOX), (1, 9, 1, BOX)]
    curve = score(truth, rows).precision_recall(1)
    assert [0.9, 0.8, 0.7] == curve.confidence.tolist()
    assert [0.5, 0.5, 1.0] == curve.recall.tolist()
    assert [1.0, 0.5, 2 / 3] == curve.precision.tolist()


def test_curve_of_a_class_without_truth_has_no_recall():
    """For a class without truth precision is 0 and recall is undefined."""
    curve = score([(1, 1, BOX)], [(1, 2, 0.9, BOX)], classes=(1, 2)).precision_recall(2)
    assert [0.0] == curve.precision.tolist()
    assert np.isnan(curve.recall).all()


def test_the_best_box_is_the_one_of_the_largest_overlap():
    """With `best_box_only` a box that is reached by its low threshold is no way out.

    The detection overlaps the large box by 0.44 and the small one inside by 0.25. It reaches the
    small one alone, whose threshold is 0.25. VOC's kit looks for the largest overlap, and compares
    it with the threshold afterwards; the devkit takes the best of the boxes that are reached.
    """
    truth = make_truth([1], [1], [(1, 1, [0, 0, 29, 29]), (1, 1, [0, 0, 9, 9])])
    rows = make_detections([(1, 1, 0.9, [0, 0, 19, 19])])
    best = Rules("best", "1", best_box_only=True)
    fate = evaluate(truth, rows, best).explain()
    assert (1, 0) == tuple(evaluate(truth, rows, it).true_positives for it in (DEVKIT, best))
    assert (Fate.POOR_OVERLAP, 0) == (fate.fate[0], fate.truth_row[0])
    assert 0 == evaluate(truth, rows, best).duplicates
