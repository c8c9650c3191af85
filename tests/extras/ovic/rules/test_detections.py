# SPDX-License-Identifier: Apache-2.0
"""What a detector's count covers is judged, clipped and summed up."""

from __future__ import annotations

import numpy as np
import pytest

from referee.extras.ovic.rules.detections import (
    Overhang,
    clipped,
    overhang_of,
    overhang_of_all,
    overhang_texts,
    said,
)


def outputs_of(boxes, scores, count=None) -> list[np.ndarray]:
    """Return outputs of a detector with these boxes and scores, all of class 0."""
    scores = np.array([scores], np.float32)
    number = np.array([len(boxes) if count is None else count], np.float32)
    return [np.array([boxes], np.float32), np.zeros_like(scores), scores, number]


WHOLE, OUT, GONE = [0, 0, 1, 1], [-0.25, 0, 1, 1.5], [1.25, 0, 1.5, 1]


@pytest.mark.parametrize(("count", "rows"), [(2, 2), (0, 0), (-1, 0), (9, 3), (np.nan, 0)])
def test_rows_go_as_far_as_the_count(count, rows):
    """A count that is no number covers nothing, and one that is too large all rows."""
    boxes, classes, scores, _ = said(outputs_of([WHOLE, OUT, GONE], [0.5, 0.5, 0.5], count))
    assert rows == len(boxes) == len(classes) == len(scores)


def test_boxes_end_at_the_image():
    """What reaches out is cut off; a box with nothing in the image keeps no area."""
    found = clipped(np.array([WHOLE, OUT, GONE], np.float64))
    assert [WHOLE, WHOLE, [1, 0, 1, 1]] == found.tolist()


def test_overhangs_add_up_over_images():
    """Boxes are counted over all images, and the farthest counts."""
    runs = [outputs_of([WHOLE, OUT], [0.5, 0.5]), outputs_of([WHOLE, GONE], [0.5, 0.5])]
    assert Overhang(1, 2, 0.5) == overhang_of(runs[0])
    assert Overhang(2, 4, 0.5, 1) == overhang_of_all(runs)
    (text,) = overhang_texts(overhang_of_all(runs))
    assert text.startswith("2 of 4 boxes reach beyond the image, by up to 0.5 of its side, 1 with")


def test_scores_of_one_box_that_sum_to_more_than_one_are_a_remark():
    """Classes of equal boxes add up, those of others do not, nor does a class that is repeated."""
    boxes = [[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.6]]
    outputs = outputs_of(boxes, [0.75, 0.5, 0.75])
    assert [] == overhang_texts(overhang_of(outputs))
    outputs[1][0] = [1, 2, 1]
    (text,) = overhang_texts(overhang_of(outputs))
    assert "sum to more than 1 in 1 of the boxes" in text
    outputs[2][0] = [0.75, 0.25, 0.75]
    assert [] == overhang_texts(overhang_of(outputs))


def test_no_box_has_no_overhang():
    """An image without boxes adds nothing."""
    assert Overhang() == overhang_of(outputs_of([WHOLE], [0.5], 0))
