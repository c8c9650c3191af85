# SPDX-License-Identifier: Apache-2.0
"""The network track's remarks on a session's boxes."""

from __future__ import annotations

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.tracks.network import TRACK
from referee.tracks.track import SentAnswers
from tests.support.scoring_cases import make_truth

BOXES = {image: (5 * image, 2, 5 * image + 9, 11) for image in range(1, 9)}
TRUTH = make_truth(list(BOXES), [1, 2], [(image, 1, box) for image, box in BOXES.items()])
TRUTH.class_names.update({1: "cat"})
ODD = [
    (1, 1, 0.9, 1, 2, 10, 11),
    (1, 1, 0.8, 1, 2, 10, 11),
    (2, 1, 0.7, -3, 2, 11, 11),
    (2, 9, 0.6, 1, 2, 65, 11),
    (3, 2, 0.5, 40, 2, 10, 11),
    (99, 1, 0.4, 1, 2, 10, 11),
]


def remarks(*answers, accuracy=0.25):
    """Return the remarks about answers of (format, rows)."""
    sent = SentAnswers(
        answers=[(name, Detections.from_rows(rows)) for name, rows in answers],
        order=np.array(list(BOXES)),
        source_ids=np.array(list(BOXES)),
        sizes={image: (64, 48) for image in BOXES},
    )
    return TRACK.remarks(sent, TRUTH, accuracy)


def right(change=lambda box: box):
    """Return right rows with their boxes changed."""
    return [(n, 1, 1 - n / 100, *change(np.array(box))) for n, box in BOXES.items()]


def test_boxes_are_counted_by_kind():
    """Boxes beyond their image, inverted boxes and repeated boxes are counted over all answers."""
    found = remarks(("csv", ODD[:2]), ("form", ODD[2:]))
    assert ("detections", "6: cat 4, class 2 1, class 9 1") in found.lines
    assert ("boxes", "2 reach beyond their image, 1 inverted, 1 repeated") in found.lines
    assert 3 == found.images_answered


def test_the_eight_most_frequent_classes_are_named():
    """A long list of classes keeps the eight most frequent."""
    rows = [(1, n, 0.5, 1, 2, 10, 11) for n in range(2, 14)] + [(1, 1, 0.5, 1, 2, 10, 11)] * 3
    (_, text), *_ = remarks(("csv", rows)).lines
    assert text.startswith("15: cat 3, class 2 1,")
    assert text.endswith("class 8 1 and 5 more classes")


def test_no_answers_are_counted_as_none():
    """A session without an answer has no classes, boxes or mistakes."""
    found = remarks()
    assert (("detections", "0: none"), 0, ()) == (
        found.lines[0],
        found.images_answered,
        found.warnings,
    )


@pytest.mark.parametrize(
    ("accuracy", "proof"),
    [(0.25, ["Repaired, the mAP is 1.0000, not 0.2500."]), (None, [])],
)
def test_a_mistake_comes_with_its_proof(accuracy, proof):
    """A warning names the mistake, and the next line gives the score without it."""
    rows = right(lambda box: box[[1, 0, 3, 2]])
    assert remarks(("csv", rows), accuracy=accuracy).warnings == (
        "The boxes are ymin, xmin, ymax, xmax. A box is xmin, ymin, xmax, ymax, in this order.",
        *proof,
    )


def test_several_mistakes_have_one_proof():
    """Mistakes that belong together have one proof; a remark that needs none comes last."""
    rows = [
        (n, 0, 0.5, *(box[[1, 0, 3, 2]] / [48, 64, 48, 64]))
        for n, box in ((n, np.array(box)) for n, box in BOXES.items())
    ]
    *faults, proof, equal = remarks(("csv", rows), accuracy=0.0).warnings
    assert 3 == len(faults)
    assert proof.startswith("With all of this repaired, the mAP is ")
    assert equal.startswith("All confidences are 0.5.")


@pytest.mark.parametrize(("xmin", "harms"), [(-5, False), (-60, True)])
def test_boxes_beyond_their_image_say_whether_that_harms(xmin, harms):
    """A box beyond its image is counted; to cut it off is advised where that gives more mAP."""
    lines = [text for _, text in remarks(("csv", [(1, 1, 0.5, xmin, 2, 10, 11)])).lines]
    assert "1 reach beyond their image, 0 inverted, 0 repeated" in lines
    advice = [text for text in lines if "cut boxes off there, and the mAP is" in text]
    assert harms == bool(advice)


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([(1, 0.6), (2, 0.6)], 1),
        ([(1, 0.5), (2, 0.5)], 0),
        ([(1, 0.505), (2, 0.505)], 0),  # rounded
        ([(1, 0.9), (1, 0.9)], 0),  # one class, repeated
        ([(1, 1.5)], 0),
    ],
)
def test_confidences_of_one_box_sum_to_at_most_one(rows, count):
    """A box that several classes share, with more than 1 in all, is counted in a sentence."""
    rows = [(1, label, confidence, 1, 2, 10, 11) for label, confidence in rows]
    other = [(2, 1, 0.9, 1, 2, 10, 11), (1, 2, 0.9, 2, 2, 10, 11)]  # other boxes
    said = [text for _, text in remarks(("csv", rows + other)).lines if "sum to more" in text]
    assert count == len(said)
    assert all("in 1 of the boxes" in text for text in said)
