# SPDX-License-Identifier: Apache-2.0
"""Detections and ground truth from lists and arrays: what is taken, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.scoring.ilsvrc import evaluate

BOX = [0, 0, 9, 9]
TRUTH: dict[str, Any] = {"image_id": [2, 1], "class_id": [3, 3], "box": [BOX, BOX]}


def test_lists_become_columns_of_the_right_kind() -> None:
    """Ids become int64, also whole floats of a table with gaps; numbers become float64."""
    found = Detections.from_arrays(np.array([1.0, 2.0]), [1, 2], [1, 0], [BOX, BOX])
    assert [np.int64, np.int64, np.float64, np.float64] == [
        column.dtype for column in (found.image_id, found.class_id, found.confidence, found.box)
    ]


def test_nothing_is_no_detections_and_no_boxes() -> None:
    """Empty lists give empty columns."""
    assert 0 == len(Detections.from_arrays([], [], [], []))
    assert (0, 4) == GroundTruth.from_arrays([], [], []).box.shape


def test_lists_of_ids_are_sorted_and_come_from_the_boxes_by_themselves() -> None:
    """Images and classes are ascending and unique, whatever the order of the boxes."""
    found = GroundTruth.from_arrays(**TRUTH)
    assert ([1, 2], [3]) == (found.image_ids.tolist(), found.class_ids.tolist())
    more = GroundTruth.from_arrays(**TRUTH, images=[5, 2, 1, 5], blacklist=[(5, 3)])
    assert ([1, 2, 5], [[5, 3]]) == (more.image_ids.tolist(), more.blacklist.tolist())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"image_id": [1.5, 2]}, "image_id must be whole numbers"),
        ({"image_id": ["1", "2"]}, "image_id must be whole numbers"),
        ({"image_id": [np.nan, 2]}, "image_id must be whole numbers"),
        ({"image_id": [1e300, 2]}, "image_id must be whole numbers of 64 bits"),
        ({"image_id": [np.inf, 2]}, "image_id must be whole numbers of 64 bits"),
        (
            {"image_id": np.array([2**63, 2], np.uint64)},
            "image_id must be whole numbers of 64 bits",
        ),
        ({"image_id": [2**70, 2]}, "image_id must be whole numbers of 64 bits"),
        ({"image_id": [[1], [1, 2]]}, "image_id must be a vector"),
        ({"box": [[0, 0, 9, 9], [0, 0, np.nan, 9]]}, r"box \[1\] of the ground truth has a corner"),
        ({"box": [[0, 0, 9, 9], [5, 0, 4, 9]]}, r"box \[1\] of the ground truth is inverted"),
        ({"box": [[0, 0, 9, 9], [5, 0, 4]]}, "box must be numbers, in rows of one length"),
        ({"box": [["a", 0, 9, 9]] * 2}, "box must be numbers"),
        ({"class_id": [[3, 3]]}, "class_id must be a vector"),
        ({"class_id": [3]}, "must be as long: they have 2, 1 and 2 rows"),
        ({"box": [[0, 0, 9], [0, 0, 9]]}, "columns xmin, ymin, xmax, ymax"),
        ({"images": [1]}, "a box is of image 2, which is not listed"),
        ({"classes": [1]}, "a box is of class 3, which is not listed"),
    ],
)
def test_unusable_arrays_are_refused_by_name(change: dict[str, Any], words: str) -> None:
    """The sentence, in the library's own error, names the column and what it should be."""
    with pytest.raises(InputError, match=words):
        GroundTruth.from_arrays(**(TRUTH | change))


def test_the_arrays_of_a_caller_may_be_used_again() -> None:
    """Columns are copies: what a caller writes into a buffer later changes no score."""
    ids, confidence, box = np.array([1, 2]), np.array([0.5, 0.25]), np.array([[0.0, 0, 9, 9]] * 2)
    found = Detections.from_arrays(ids, ids, confidence, box)
    truth = GroundTruth.from_arrays(ids, ids, box)
    for buffer in (ids, confidence, box):
        buffer[:] = 77
    assert [1, 2] == found.image_id.tolist() == found.class_id.tolist()
    assert ([0.5, 0.25], 9.0) == (found.confidence.tolist(), found.box.max())
    assert ([1, 2], 9.0) == (truth.box_image_id.tolist(), truth.box.max())


def test_boxes_in_fractions_of_the_image_are_told() -> None:
    """Boxes in 0..1 all touch each other, since corners are inclusive: a warning says so."""
    near, far = [[0.1, 0.1, 0.2, 0.2]], [[0.8, 0.8, 0.9, 0.9]]
    with pytest.warns(UserWarning, match="boxes of the ground truth lie between 0 and 1") as told:
        truth = GroundTruth.from_arrays([1], [1], near)
    assert __file__ == told[0].filename
    with pytest.warns(UserWarning, match="boxes of the detections lie between 0 and 1"):
        found = Detections.from_arrays([1], [1], [0.5], far)
    assert 1.0 == evaluate(truth, found).mean_ap
    GroundTruth.from_arrays([1], [1], [[0, 0, 1, 1]])
