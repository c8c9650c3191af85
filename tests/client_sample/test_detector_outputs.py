# SPDX-License-Identifier: Apache-2.0
"""Shapes and values tell which output of a detector is which."""

from __future__ import annotations

import numpy as np
import pytest

from client_sample.detector_outputs import USUAL, count_of, fits, possible_orders, ranges

BOXES, ROWS = (1, 10, 4), (1, 10)


@pytest.mark.parametrize(
    ("shapes", "orders"),
    [
        ([BOXES, ROWS, ROWS, (1,)], [(0, 1, 2, 3), (0, 2, 1, 3)]),
        ([ROWS, BOXES, (1,), ROWS], [(1, 0, 3, 2), (1, 3, 0, 2)]),
        ([ROWS, (), ROWS, BOXES], [(3, 0, 2, 1), (3, 2, 0, 1)]),
        ([BOXES, ROWS, ROWS, (1, 1)], [(0, 1, 2, 3), (0, 2, 1, 3)]),
        # One box: the rank of the number tells it, or the usual place.
        ([(1, 1), (1, 1, 4), (1,), (1, 1)], [(1, 0, 3, 2), (1, 3, 0, 2)]),
        ([(1, 1, 4), (1, 1), (1, 1), (1, 1)], [(0, 1, 2, 3), (0, 2, 1, 3)]),
        # Four boxes are no four corners.
        ([(1, 4), (1, 4, 4), (1,), (1, 4)], [(1, 0, 3, 2), (1, 3, 0, 2)]),
        ([BOXES, ROWS, ROWS], []),
        ([BOXES, ROWS, (1, 9), (1,)], []),
        ([BOXES, BOXES, ROWS, (1,)], []),
        ([(2, 10, 4), ROWS, ROWS, (1,)], []),
        ([BOXES, (1,), (1,), (1,)], []),
        ([(1, 2535, 85)], []),
        ([BOXES, ROWS, ROWS, (1,), (1, 10, 91), (1, 1917, 4), (1, 1917, 91), ROWS], []),
        ([], []),
    ],
)
def test_shapes_leave_two_orders_or_none(shapes, orders):
    """The boxes and the number have shapes of their own; classes and scores share one."""
    assert orders == possible_orders(shapes)


def outputs_of(classes, scores, number):
    """Return outputs in the usual order."""
    boxes = np.zeros((1, len(classes), 4), np.float32)
    return [
        boxes,
        np.array([classes], np.float32),
        np.array([scores], np.float32),
        np.array([number], np.float32),
    ]


@pytest.mark.parametrize(
    ("classes", "scores", "number", "usual"),
    [
        ([0, 46, 3], [0.9, 0.5, 0.1], 3, True),
        ([0, 46, 3], [1.004, 0.5, -0.004], 3, True),
        ([0.9, 0.5, 0.1], [0, 46, 3], 3, False),
        ([0, 1.5, 3], [0.9, 0.5, 0.1], 3, False),
        ([0, 46, 3], [4.9, 0.5, 0.1], 3, False),
        ([0, -1, 3], [0.9, 0.5, 0.1], 3, False),
        # What stands behind the number is left over from the memory.
        ([0, 46, np.nan], [0.9, 0.5, 7e9], 2, True),
        ([np.nan], [7e9], 0, True),
    ],
)
def test_values_tell_the_order(classes, scores, number, usual):
    """Classes are whole numbers, scores lie between 0 and 1."""
    assert usual is fits(USUAL, outputs_of(classes, scores, number))


@pytest.mark.parametrize(("number", "rows"), [(2, 2), (9, 3), (-1, 0), (np.nan, 0), (np.inf, 3)])
def test_a_number_covers_the_rows_that_are_there(number, rows):
    """A number that is none covers nothing, and one that is too large all rows."""
    assert rows == count_of(USUAL, outputs_of([0, 0, 0], [0, 0, 0], number))


def test_ranges_are_told_as_people_count():
    """The first output is output 1."""
    outputs = outputs_of([2, 46, 3], [4.9, 0.5, 0.1], 3)
    assert "output 2 has 2 to 46, output 3 has 0.1 to 4.9" == ranges(USUAL, outputs)
