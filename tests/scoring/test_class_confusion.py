# SPDX-License-Identifier: Apache-2.0
"""Which classes are taken for which: the confusion agrees with the score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.class_confusion import confusion
from referee.scoring.ilsvrc import evaluate
from referee.scoring.rules import RULE_SETS

FAR, HERE, THERE = [300, 300, 349, 349], [0, 0, 49, 49], [100, 0, 149, 49]


def truth(*boxes, **more):
    """Build from `(class, box)`, all in image 1, with the classes 1 to 3."""
    return GroundTruth.from_arrays(
        [1] * len(boxes),
        [it[0] for it in boxes],
        [it[1] for it in boxes],
        classes=[1, 2, 3],
        **more,
    )


def found(*rows, image=1):
    """Build from `(class, confidence, box)`."""
    return Detections.from_arrays(
        [image] * len(rows), *([row[place] for row in rows] for place in range(3))
    )


def test_a_cat_that_was_called_a_dog():
    """A box that only another class found stands where the classes cross."""
    told = confusion(truth((1, HERE), (2, THERE)), found((2, 0.9, HERE), (2, 0.8, THERE)))
    assert (1, 1, [(1, 2, 1)]) == (told.between(1, 2), told.between(2, 2), told.most())
    assert 0 == told.matrix[-1].sum() + told.matrix[:, -1].sum()


def test_a_box_that_was_found_is_no_confusion():
    """A surer detection of another class takes no box from the right one: it found nothing."""
    told = confusion(truth((1, HERE)), found((2, 0.9, HERE), (1, 0.2, HERE)))
    assert (1, 0, 1) == (told.between(1, 1), told.between(1, 2), told.matrix[-1, 1])


def test_what_nothing_found_and_what_found_nothing():
    """A missed box is in the last column, a box in the air in the last row."""
    told = confusion(truth((1, HERE), (3, THERE)), found((2, 0.9, FAR), (1, 0.9, HERE)))
    expected = np.zeros((4, 4), dtype=int)
    expected[0, 0] = expected[2, 3] = expected[3, 1] = 1
    assert expected.tolist() == told.matrix.tolist()


def test_weak_detections_may_be_left_out():
    """Only detections of at least the confidence count; the surest takes a box."""
    rows = ((2, 0.4, HERE), (3, 0.6, HERE))
    assert [(1, 3, 1)] == confusion(truth((1, HERE)), found(*rows)).most()
    assert [] == confusion(truth((1, HERE)), found(*rows), min_confidence=0.7).most()
    assert [(1, 3, 1)] == confusion(truth((1, HERE)), found(*rows), min_confidence=0.6).most()


def test_what_is_not_scored_counts_nowhere():
    """Rows of unknown images or classes, without a confidence, or of the blacklist are left out."""
    black = truth((1, HERE), blacklist=[(1, 2)])
    for rows in (
        found((1, 0.9, HERE), image=7),
        found((9, 0.9, HERE)),
        found((1, float("nan"), HERE)),
        found((2, 0.9, HERE)),
    ):
        told = confusion(black, rows)
        assert (1, 1) == (told.matrix.sum(), told.matrix[0, -1])


def test_no_boxes_and_no_detections():
    """An empty ground truth or an empty answer has a matrix too."""
    assert 0 == confusion(truth((1, HERE)), Detections.empty()).matrix[:, :-1].sum()
    nothing = GroundTruth.from_arrays([], [], [], images=[1], classes=[1])
    assert 1 == confusion(nothing, found((1, 0.5, HERE))).matrix[-1, 0]


places = st.sampled_from([HERE, THERE, FAR, [5, 5, 54, 54], [110, 0, 159, 49]])
classes = st.integers(1, 3)


@given(
    st.lists(st.tuples(classes, places), min_size=1, max_size=8),
    st.lists(st.tuples(classes, st.sampled_from([0.1, 0.5, 0.9]), places), max_size=12),
    st.sampled_from(sorted(RULE_SETS)),
    st.data(),
)
def test_the_diagonal_has_the_true_positives(boxes, rows, rules, data):
    """The diagonal has the score's true positives; each box and each scored row counts once."""
    flags = data.draw(st.lists(st.booleans(), min_size=len(boxes), max_size=len(boxes)))
    given_truth, detections = truth(*boxes, difficult=flags), found(*rows)
    result = evaluate(given_truth, detections, rules)
    matrix = confusion(given_truth, detections, rules).matrix
    assert result.true_positives == np.trace(matrix)
    assert result.truth_boxes == matrix[:-1].sum()
    assert result.scored == matrix[:, :-1].sum()


def test_rules_that_are_none_are_refused():
    """The name of no rules is told, as everywhere."""
    with pytest.raises(ValueError, match="no Rules"):
        confusion(truth((1, HERE)), Detections.empty(), "mine")


@pytest.mark.parametrize("pair", [(1, 9), (0, 1), (4, 4), (1.5, 1), ("1", 1), (None, 2), (-1, 1)])
def test_a_class_that_is_not_listed_has_no_count(pair):
    """A class that does not exist is refused; its neighbour's count is none of its own."""
    told = confusion(truth((1, HERE), (2, THERE)), found((2, 0.9, HERE), (2, 0.8, THERE)))
    with pytest.raises(ValueError, match="is not listed: give the ids of two of the 3 classes"):
        told.between(*pair)


def test_negative_confidences_count_as_in_the_score():
    """Scoring takes any finite confidence, and so does the confusion unless a bound is given."""
    rows = found((1, -0.5, HERE))
    assert 1.0 == evaluate(truth((1, HERE)), rows).ap[1]
    assert (1, 0) == (
        confusion(truth((1, HERE)), rows).between(1, 1),
        confusion(truth((1, HERE)), rows, min_confidence=0.0).between(1, 1),
    )
