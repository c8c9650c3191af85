# SPDX-License-Identifier: Apache-2.0
"""The images' own ids and the contest's ids."""

from __future__ import annotations

import dataclasses

import numpy as np

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.formats.image_ids import contest_image_ids, in_own_ids, renumber

TRUTH = GroundTruth(
    image_ids=np.array([5, 70, 100]),
    class_ids=np.array([1]),
    box_image_id=np.array([100, 5]),
    box_class_id=np.array([1, 1]),
    box=np.zeros((2, 4)),
    blacklist=np.array([[70, 1]]),
    class_names={},
)


def rows(*image_ids):
    """Return one detection for each image id."""
    return Detections.from_rows([(image, 1, 0.5, 0, 0, 9, 9) for image in image_ids])


def test_contest_ids_follow_the_ascending_order():
    """The k-th image in ascending order of its own id is image k."""
    assert {5: 1, 70: 2, 100: 3} == contest_image_ids([100, 5, 70])


def test_renumbering_keeps_boxes_and_blacklist_together():
    """Boxes and blacklist follow their images, and boxes keep their order."""
    truth = renumber(TRUTH, {5: 3, 70: 1, 100: 2})
    assert [1, 2, 3] == truth.image_ids.tolist()
    assert [2, 3] == truth.box_image_id.tolist()
    assert [[1, 1]] == truth.blacklist.tolist()
    assert [100, 5] == TRUTH.box_image_id.tolist()


def test_numbering_is_the_one_that_explains_more_rows():
    """Ids are own ids unless contest ids explain more rows, or the caller insists."""
    assert "own" == in_own_ids(rows(5, 70, 100), TRUTH)[1]
    assert "own" == in_own_ids(rows(1, 5), TRUTH)[1]
    found, numbering = in_own_ids(rows(1, 3, 2, 4), TRUTH)
    assert ("contest", [5, 100, 70, -(2**63)]) == (numbering, found.image_id.tolist())
    assert "own" == in_own_ids(rows(1, 2, 3), TRUTH, "own")[1]


def test_renumbering_without_blacklist():
    """An empty blacklist stays empty."""
    truth = dataclasses.replace(TRUTH, blacklist=np.empty((0, 2), dtype=np.int64))
    assert (0, 2) == renumber(truth, contest_image_ids([5, 70, 100])).blacklist.shape
