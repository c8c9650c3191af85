# SPDX-License-Identifier: Apache-2.0
"""Rows that reach a truth box are found as a look at each pair finds them."""

from __future__ import annotations

import numpy as np

from referee.core.detections import Detections
from referee.scoring.mistakes.readings import TruthOfImages
from tests.support.scoring_cases import make_truth

TRUTH = make_truth(
    [3, 5, 8],
    [2, 7],
    [
        (3, 2, (0, 0, 9, 9)),
        (3, 2, (40, 0, 49, 9)),
        (3, 7, (0, 0, 9, 9)),
        (8, 7, (5, 5, 30, 30)),
    ],
)
ROWS = [
    ((3, 2, 0.9, 0, 0, 9, 9), True),
    ((3, 2, 0.9, 41, 0, 50, 9), True),
    ((3, 2, 0.9, 20, 0, 29, 9), False),
    ((3, 7, 0.9, 0, 0, 9, 9), True),
    ((3, 7, 0.9, 40, 0, 49, 9), False),
    ((8, 7, 0.9, 5, 5, 30, 30), True),
    ((8, 2, 0.9, 5, 5, 30, 30), False),
    ((5, 2, 0.9, 0, 0, 9, 9), False),
    ((99, 2, 0.9, 0, 0, 9, 9), False),
    ((3, 5, 0.9, 0, 0, 9, 9), False),
    ((3, 2, 0.9, np.nan, 0, 9, 9), False),
]


def matching(image_ids):
    """Return what is found among the truth boxes of these images."""
    rows = Detections.from_rows([row for row, _ in ROWS])
    pairs = TruthOfImages(TRUTH, np.array(image_ids)).pairs(rows.image_id, rows.class_id)
    return pairs.matching(rows.box).tolist()


def test_rows_match_boxes_of_their_image_and_class():
    """A row matches if it overlaps any box of its image and class, however many there are."""
    assert [expected for _, expected in ROWS] == matching([3, 5, 8, 99])


def test_only_the_named_images_have_boxes():
    """An image that was left out has no box, and no image at all is no error."""
    assert [row[0] == 8 and expected for row, expected in ROWS] == matching([8])
    assert [False] * len(ROWS) == matching(np.empty(0, dtype=np.int64))
