# SPDX-License-Identifier: Apache-2.0
"""Two squares tell how far apart they are on the screen, in any perspective."""

from __future__ import annotations

import numpy as np
import pytest

from client_sample.camera.distances import Distances, cosine, is_convex, turns_left, units_between
from client_sample.camera.squares import Square

STRAIGHT = np.eye(3)
TILTED = [[9, 1, 100], [-1, 8, 80], [0.002, 0.001, 1]]


def square(x: float, y: float, side: float, view=STRAIGHT) -> Square:
    """Return a square of the screen in perspective; x, y is its middle in units."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * side / 2 + (x, y)
    mapped = np.column_stack([corners, np.ones(4)]) @ np.asarray(view).T
    return Square(mapped[:, :2] / mapped[:, 2:], 200.0, 200.0)


@pytest.mark.parametrize("view", [STRAIGHT, TILTED], ids=["straight", "tilted"])
def test_the_distance_is_that_on_the_screen(view) -> None:
    """A marker and an anchor tell their distance, though perspective changes both."""
    marker, anchor = square(5, 5, 8, view), square(85, 5, 4, view)
    assert pytest.approx(80, rel=0.02) == units_between(marker, anchor, 8, 4)


def test_short_sides_are_pairs_of_like_squares_at_the_right_distance() -> None:
    """Of all pairs only those pass that can be the ends of a screen's shorter side."""
    squares = [square(5, 5, 8), square(5, 84, 8), square(155, 5, 8), square(84, 5, 3)]
    assert Distances(squares).short_sides() == [(0, 1)]


def test_shapes_are_told_apart() -> None:
    """A ring is convex or not, turns one way, and has its angles."""
    ring = [np.array(point, dtype=float) for point in ((0, 0), (9, 0), (9, 5), (0, 5))]
    assert is_convex(ring)
    assert not is_convex([ring[0], ring[2], ring[1], ring[3]])
    assert not turns_left(ring)
    assert turns_left(ring[::-1])
    assert cosine(*ring[:3]) == 0
