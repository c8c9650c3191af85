# SPDX-License-Identifier: Apache-2.0
"""Truth boxes that nobody can find are counted, and only those."""

from __future__ import annotations

import pytest

from referee.core.ground_truth import GroundTruth
from referee.core.unfindable import unfindable

SIZES = {1: (100, 50)}


def count(box: list[float], from_zero: bool = True) -> tuple[int, int]:
    """Return how many of one box, x, y, width and height, have no extent or lie outside."""
    truth = GroundTruth.from_arrays([1], [1], [[0, 0, 9, 9]])
    x, y, width, height = box
    truth.box[:] = [[x, y, x + width - 1, y + height - 1]]
    found = unfindable(truth, SIZES, from_zero=from_zero)
    assert bool(found) == (sum((found.no_extent, found.outside)) == 1)
    return found.no_extent, found.outside


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ([10, 10, 20, 20], (0, 0)),
        ([10, 10, 0, 20], (1, 0)),
        ([10, 10, 20, 0], (1, 0)),
        ([10, 10, 0, 0], (1, 0)),
        ([10, 10, 0.25, 1], (0, 0)),  # A part of a pixel is an extent.
        ([500, 10, 0, 20], (1, 0)),  # Each box counts once.
        ([99, 49, 1, 1], (0, 0)),
        ([100, 10, 5, 5], (0, 1)),
        ([10, 50, 5, 5], (0, 1)),
        ([-5, 10, 5, 5], (0, 1)),
        ([-5, 10, 5.5, 5], (0, 0)),
        ([10, -9, 5, 9], (0, 1)),
        ([-5, -5, 500, 500], (0, 0)),
    ],
)
def test_a_box_without_extent_or_outside_counts_once(box, expected):
    """An edge in the image is enough, and half a pixel too."""
    assert expected == count(box)


def test_a_source_that_counts_from_one_has_a_last_column():
    """In ILSVRC's XML the column 100 of 100 is inside, and 101 is not."""
    assert (0, 0) == count([100, 50, 1, 1], from_zero=False)
    assert (0, 1) == count([101, 50, 1, 1], from_zero=False)


@pytest.mark.parametrize("sizes", [{}, {1: (0, 0)}, {1: (100, 0)}])
def test_without_a_size_no_box_lies_outside(sizes):
    """An image of unknown size, or of size 0 as some tools write, has only boxes without extent."""
    truth = GroundTruth.from_arrays([1, 1], [1, 1], [[900, 900, 950, 950], [5, 5, 9, 9]])
    truth.box[1] = [5, 5, 4, 9]
    found = unfindable(truth, sizes, from_zero=True)
    assert (1, 0, 1) == (found.no_extent, found.outside, found.first_image)


def test_the_words_have_the_counts_and_the_first_image():
    """One box is told in the singular, and several with their kinds."""
    boxes = [[5, 5, 9, 9], [200, 5, 210, 9], [5, 5, 9, 9]]
    truth = GroundTruth.from_arrays([3, 7, 7], [1, 1, 1], boxes)
    one = unfindable(truth, {7: (100, 50)}, from_zero=True)
    assert (
        "1 truth box can be found by nobody, and counts as missed: 1 wholly outside of the image;"
        " the first is in image 7" == one.words()
    )
    truth.box[0] = [5, 5, 4, 9]
    two = unfindable(truth, {7: (100, 50)}, from_zero=True)
    assert (
        "2 truth boxes can be found by nobody, and count as missed: 1 without width or height,"
        " 1 wholly outside of the image; the first is in image 3" == two.words()
    )


def test_a_truth_without_boxes_has_none():
    """Nothing is nothing."""
    assert not unfindable(GroundTruth.from_arrays([], [], []), SIZES, from_zero=True)
