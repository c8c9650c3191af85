# SPDX-License-Identifier: Apache-2.0
"""Detections are parallel arrays that cannot fall out of step."""

from __future__ import annotations

import numpy as np
import pytest

from referee.core.detections import Detections

ROWS = [(3, 7, 0.25, 1.0, 2.0, 3.0, 4.0), (1, 2, 0.5, -1.0, 0.0, 5.5, 6.0)]


def rows_of(detections):
    """Return the detections as rows again."""
    return [
        (int(image), int(klass), float(confidence), *box)
        for image, klass, confidence, box in zip(
            detections.image_id,
            detections.class_id,
            detections.confidence,
            detections.box.tolist(),
            strict=True,
        )
    ]


def test_rows_become_arrays():
    """Rows keep their order and their values, in the documented types."""
    detections = Detections.from_rows(ROWS)
    assert ROWS == rows_of(detections)
    assert 2 == len(detections)
    types = (detections.image_id, detections.class_id, detections.confidence, detections.box)
    assert ["int64", "int64", "float64", "float64"] == [str(array.dtype) for array in types]


def test_large_ids_are_exact():
    """An id beyond 53 bits is not rounded as a float would be."""
    detections = Detections.from_rows([(2**62 + 1, 2**53 + 1, 0.5, 0, 0, 1, 1)])
    assert (2**62 + 1, 2**53 + 1) == (detections.image_id[0], detections.class_id[0])


def test_no_detections():
    """Nothing has a length and shapes too."""
    assert 0 == len(Detections.empty())
    assert (0, 4) == Detections.empty().box.shape
    assert 0 == len(Detections.concatenate([]))


def test_joining_keeps_the_order():
    """Answers joined are their rows one after the other."""
    first, second = Detections.from_rows(ROWS[:1]), Detections.from_rows(ROWS[1:])
    joined = Detections.concatenate([second, Detections.empty(), first])
    assert [ROWS[1], ROWS[0]] == rows_of(joined)


def test_selecting():
    """A mask or an index array picks whole rows."""
    detections = Detections.from_rows(ROWS)
    assert [ROWS[1]] == rows_of(detections.select(np.asarray([False, True])))
    assert [ROWS[1], ROWS[0]] == rows_of(detections.select(np.asarray([1, 0])))


def test_other_image_ids_leave_the_original_alone():
    """Translating image ids gives new detections."""
    detections = Detections.from_rows(ROWS)
    moved = detections.with_image_ids(np.asarray([8, 9], dtype=np.int64))
    assert ([8, 9], [3, 1]) == (moved.image_id.tolist(), detections.image_id.tolist())


@pytest.mark.parametrize(
    ("ids", "classes", "confidences", "boxes"),
    [(2, 1, 1, 1), (1, 2, 1, 1), (1, 1, 2, 1), (1, 1, 1, 2)],
)
def test_unequal_arrays_are_refused(ids, classes, confidences, boxes):
    """Arrays of different length never make detections."""
    with pytest.raises(ValueError, match="must"):
        Detections(
            np.zeros(ids, dtype=np.int64),
            np.zeros(classes, dtype=np.int64),
            np.zeros(confidences),
            np.zeros((boxes, 4)),
        )


def test_a_box_has_four_corners():
    """Three columns are not a box."""
    with pytest.raises(ValueError, match="box must have shape"):
        Detections(
            np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros((1, 3))
        )
