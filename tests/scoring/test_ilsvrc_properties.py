# SPDX-License-Identifier: Apache-2.0
"""The fast scorer agrees with the slow one on generated contests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from referee.scoring.detection_outcomes import Fate
from referee.scoring.ilsvrc import evaluate
from referee.scoring.live import LiveScore
from referee.scoring.rules import DEVKIT, FIXED_HALF, STRICT, VOC, Rules
from tests.support.devkit_reference import reference_score
from tests.support.scoring_cases import contests, make_detections, make_truth

BEST = Rules("best box, own thresholds", "1", best_box_only=True)
BEST_OF_EASY = Rules("strict best", "1", strict=True, best_box_only=True, ignore_difficult=True)


def assert_same_scores(expected, actual):
    """Compare scores of each class at the precision of a sum of ten thousand terms."""
    assert expected.keys() == actual.keys()
    for klass, value in expected.items():
        if value is None:
            assert actual[klass] is None
        else:
            assert math.isclose(value, actual[klass], rel_tol=0, abs_tol=1e-12)


def assert_matches_reference(contest, rules):
    """Compare AP, mAP, grouped AP and every match with the independent implementation."""
    result = evaluate(contest.ground_truth(), contest.detections(), rules)
    ap, mean_ap, grouped, outcome = reference_score(
        contest.images,
        contest.classes,
        contest.truth,
        contest.blacklist,
        contest.rows,
        rules,
        contest.difficult,
    )
    assert_same_scores(ap, result.ap)
    assert_same_scores({0: mean_ap}, {0: result.mean_ap})
    assert_same_scores(grouped, result.grouped_ap)
    assert len(outcome) == result.scored
    assert result.duplicates == result.explain().count(Fate.DUPLICATE)
    live = LiveScore(contest.ground_truth(), rules)
    live.add(contest.detections())
    found = {number: t for number, t in outcome.items() if t is not None}
    assert found == dict(zip(*(part.tolist() for part in live.matched()), strict=True))


@pytest.mark.slow
@given(contests())
@settings(max_examples=200)
def test_devkit_rules_agree_with_the_independent_implementation(contest):
    """AP of each class, mAP, grouped AP and matches follow the definition."""
    assert_matches_reference(contest, DEVKIT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules", [STRICT, FIXED_HALF, VOC, BEST, BEST_OF_EASY], ids=lambda it: it.name
)
@given(contests())
@settings(max_examples=70)
def test_other_rules_agree_with_the_independent_implementation(rules, contest):
    """Each other rule set follows its definition: > for >=, one threshold, the best box alone."""
    assert_matches_reference(contest, rules)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_many_classes_agree_with_the_independent_implementation(seed):
    """A random contest of 200 classes with coarse confidences follows the definition."""
    chance = np.random.default_rng(seed)
    images, classes = list(range(1, 41)), list(range(1, 201))
    corner = chance.integers(0, 40, (300, 2))
    boxes = np.concatenate([corner, corner + chance.integers(0, 40, (300, 2))], axis=1).tolist()
    truth = [(int(chance.integers(1, 41)), int(chance.integers(1, 201)), box) for box in boxes]
    rows = []
    for image, klass, box in truth * 4:
        moved = [edge + int(chance.integers(-3, 4)) for edge in box]
        other = klass if chance.random() < 0.8 else int(chance.integers(1, 206))
        rows.append((image, other, float(chance.integers(0, 20)) / 20, moved))
    ap, mean_ap, grouped, _ = reference_score(images, classes, truth, [(1, 1)], rows)
    result = evaluate(make_truth(images, classes, truth, [(1, 1)]), make_detections(rows))
    assert_same_scores(ap, result.ap)
    assert_same_scores(grouped, result.grouped_ap)
    assert math.isclose(mean_ap, result.mean_ap, rel_tol=0, abs_tol=1e-12)


@pytest.mark.slow
@given(contests())
@settings(max_examples=100)
def test_counts_add_up(contest):
    """Each row is scored, or ignored for one reason, and N leaves out blacklisted boxes."""
    result = evaluate(contest.ground_truth(), contest.detections())
    assert len(contest.rows) == result.detections == result.scored + sum(result.ignored.values())
    black = set(contest.blacklist)
    kept = [box for box in contest.truth if (box[0], box[1]) not in black]
    assert len(kept) == result.truth_boxes
    assert len({klass for _, klass, _ in kept}) == result.classes_with_ground_truth


@pytest.mark.slow
@given(contests())
@settings(max_examples=100)
def test_grouped_value_is_a_lower_bound(contest):
    """No order of equal confidences scores less than the grouped value."""
    result = evaluate(contest.ground_truth(), contest.detections())
    assert result.ap.keys() == result.grouped_ap.keys()
    for klass, grouped in result.grouped_ap.items():
        assert grouped is None or grouped <= result.ap[klass] + 1e-12
