# SPDX-License-Identifier: Apache-2.0
"""How far apart the squares of a photograph are on the screen, and how they stand to each other."""

from __future__ import annotations

import itertools
import math
from typing import Dict, List, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.squares import Square

Points = NDArray[np.float64]

# In units: the screen's shorter side, a marker's and an anchor's side, and the way from one edge to
# the middle of a marker and from the middle of the other one to the other edge, together.
SHORT, MARKER, ANCHOR, MARGIN = 90.0, 8.0, 4.0, 11.0
NEAR_SHORT = math.log(1.12)  # a length that may be the shorter side, against 90 units
_ALIKE = math.log(1.9)  # the sides of a frame's markers differ by less, whatever the perspective


class Distances:
    """The distances between markers in units, each worked out once."""

    def __init__(self, squares: List[Square]) -> None:
        self._squares = squares
        self._centres = [square.centre for square in squares]
        self._logs = [math.log(max(1e-6, square.side)) for square in squares]
        self._known: Dict[Tuple[int, int], float] = {}

    def alike(self, group: Sequence[int]) -> bool:
        """Tell whether some squares have sides of about the same length."""
        logs = [self._logs[i] for i in group]
        return max(logs) - min(logs) <= _ALIKE

    def short_sides(self) -> List[Tuple[int, int]]:
        """Return the pairs that can be the ends of a shorter side of the screen."""
        return [
            pair
            for pair in itertools.combinations(range(len(self._squares)), 2)
            if self.alike(pair) and abs(math.log((self(*pair) + MARGIN) / SHORT)) <= NEAR_SHORT
        ]

    def parallel(self, one: Tuple[int, int], other: Tuple[int, int]) -> bool:
        """Tell whether two pairs point the same way rather than the opposite way."""
        lines = [self._centres[b] - self._centres[a] for a, b in (one, other)]
        return bool(lines[0] @ lines[1] > 0)

    def __call__(self, a: int, b: int) -> float:
        key = (a, b) if a < b else (b, a)
        if key not in self._known:
            self._known[key] = units_between(self._squares[a], self._squares[b], MARKER, MARKER)
        return self._known[key]


def units_between(a: Square, b: Square, a_units: float, b_units: float) -> float:
    """Return the distance of two squares on the screen, from their sides along the line.

    A projection maps x on a line to x / (1 + p x). It makes a short piece at x shorter by
    (1 + p x)², and the distance from 0 to x by 1 + p x. So the geometric mean of the two pieces
    gives the true scale.
    """
    line = b.centre - a.centre
    distance = math.hypot(*line)
    if distance < 1e-6:
        return 0.0
    scales = [_extent(a, line / distance) / a_units, _extent(b, line / distance) / b_units]
    return distance / math.sqrt(max(1e-12, scales[0] * scales[1]))


def _extent(square: Square, direction: Points) -> float:
    """Return the length of a square along a direction: that of its two sides nearest to it."""
    along = np.sort(abs(square.sides @ direction))
    return float((along[2] + along[3]) / 2)


def is_convex(ring: Sequence[Points]) -> bool:
    """Tell whether four points make a convex shape without sharp corners."""
    corners = np.array(ring)
    sides = np.roll(corners, -1, axis=0) - corners
    following = np.roll(sides, -1, axis=0)
    cross = sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]
    lengths = np.linalg.norm(sides, axis=1) * np.linalg.norm(following, axis=1)
    return bool((abs(cross) > 0.3 * lengths).all() and abs(np.sign(cross).sum()) == 4)


def turns_left(ring: Sequence[Points]) -> bool:
    """Tell whether a way turns against the clock, as a picture is drawn."""
    one, other = ring[1] - ring[0], ring[2] - ring[1]
    return bool(one[0] * other[1] - one[1] * other[0] < 0)


def cosine(a: Points, b: Points, c: Points) -> float:
    """Return the cosine of the angle at b."""
    one, other = a - b, c - b
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(one @ other) / max(1e-9, lengths)
