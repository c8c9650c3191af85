# SPDX-License-Identifier: Apache-2.0
"""Each detection has a fate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from referee.scoring.detection_outcomes import Fate
from referee.scoring.ilsvrc import evaluate
from tests.support.scoring_cases import contests, make_detections, make_truth

DOG, CAT = (10, 10, 59, 59), (100, 10, 149, 59)
TRUTH = make_truth([1, 2], [1, 2], [(1, 1, DOG), (1, 2, CAT), (2, 2, DOG)], [(2, 2)])


@pytest.mark.parametrize(
    ("row", "fate", "truth_row", "overlap"),
    [
        pytest.param((1, 1, 0.9, DOG), Fate.TRUE_POSITIVE, 0, 1.0, id="found"),
        pytest.param((1, 1, 0.5, DOG), Fate.DUPLICATE, 0, 1.0, id="found before"),
        pytest.param((1, 1, 0.5, CAT), Fate.WRONG_CLASS, 1, 1.0, id="a cat called a dog"),
        pytest.param((1, 1, 0.5, (10, 10, 59, 24)), Fate.POOR_OVERLAP, 0, 0.3, id="too small"),
        pytest.param((1, 1, 0.5, (10, 10, 59, 13)), Fate.BACKGROUND, -1, 0.0, id="hardly touches"),
        pytest.param((1, 2, 0.5, (300, 0, 350, 50)), Fate.BACKGROUND, -1, 0.0, id="background"),
        pytest.param((1, 1, 0.5, (59, 10, 10, 59)), Fate.MALFORMED, -1, 0.0, id="inverted"),
        pytest.param((1, 1, 0.5, (math.nan, 1, 2, 3)), Fate.MALFORMED, -1, 0.0, id="NaN"),
        pytest.param((2, 2, 0.5, DOG), Fate.BLACKLISTED, -1, 0.0, id="blacklisted"),
        pytest.param((2, 1, 0.5, DOG), Fate.BACKGROUND, -1, 0.0, id="only a blacklisted box there"),
        pytest.param((1, 1, math.nan, DOG), Fate.CONFIDENCE_NOT_FINITE, -1, 0.0, id="no order"),
        pytest.param((1, 7, 0.5, DOG), Fate.CLASS_OUT_OF_RANGE, -1, 0.0, id="class"),
        pytest.param((9, 7, 0.5, DOG), Fate.UNKNOWN_IMAGE, -1, 0.0, id="image before class"),
    ],
)
def test_fate_of_a_detection(row, fate, truth_row, overlap):
    """A detection that follows a perfect one gets the fate, box and IoU of the test's figures."""
    first = [] if fate is Fate.TRUE_POSITIVE else [(1, 1, 0.9, DOG)]
    fates = evaluate(TRUTH, make_detections([*first, row])).explain()
    assert (fate, truth_row) == (Fate(fates.fate[-1]), fates.truth_row[-1])
    assert overlap == pytest.approx(fates.iou[-1])


def test_a_box_inverted_by_less_than_a_pixel_is_a_duplicate_in_both_counts():
    """Such a box has an extent after the + 1, so it may reach a box that another one holds."""
    truth = make_truth([1], [1], [(1, 1, (0, 0, 0, 0))])
    rows = [(1, 1, 0.9, (0, 0, 0, 0)), (1, 1, 0.5, (0.2, 0, 0, 0)), (1, 1, 0.5, (1, 0, 0, 0))]
    result = evaluate(truth, make_detections(rows))
    fates = result.explain()
    assert (1, 2) == (result.duplicates, result.inverted)
    assert [Fate.TRUE_POSITIVE, Fate.DUPLICATE, Fate.MALFORMED] == fates.fate.tolist()


def test_missed_boxes_are_listed():
    """Truth boxes that nothing found are named, unless they are blacklisted."""
    assert [0, 1] == evaluate(TRUTH, make_detections([])).explain().missed.tolist()
    found = evaluate(TRUTH, make_detections([(1, 2, 0.5, CAT)])).explain()
    assert ([0], 1) == (found.missed.tolist(), found.count(Fate.TRUE_POSITIVE))


@pytest.mark.slow
@given(contests())
@settings(max_examples=150)
def test_fates_agree_with_the_counts_of_the_result(contest):
    """Fates add up to the counts of the same result."""
    result = evaluate(contest.ground_truth(), contest.detections())
    fates = result.explain()
    ignored = {reason: fates.count(Fate[reason.upper()]) for reason in result.ignored}
    assert result.ignored == ignored
    assert result.true_positives == fates.count(Fate.TRUE_POSITIVE)
    assert result.truth_boxes == result.true_positives + len(fates.missed)
    assert result.duplicates == fates.count(Fate.DUPLICATE)
    assert len(contest.rows) == len(fates.fate)
