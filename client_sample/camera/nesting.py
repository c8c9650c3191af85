# SPDX-License-Identifier: Apache-2.0
"""Tell whether a frame stands inside an image that another frame shows.

An image may be a picture of a frame. The frame inside may be read while glare hides the code of the
one around it. So a frame counts only if no larger frame's marker stands around it.
"""

from __future__ import annotations

from typing import Sequence

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.attempt import ScreenGuess
from client_sample.camera.frame import ORIENTATION, FrameLayout
from client_sample.camera.mapping import Mapping, sample
from client_sample.camera.squares import Square

Points = NDArray[np.float64]

# In units of the screen inside. The frame around is larger by at least the room of its margins.
_SIDE, _SHORT = 8.0, 90.0
_LEAST_LARGER = 1.2
_SQUARE = 0.15  # how much the sides of a marker may differ, as a share
_WHITE, _BLACK = 0.6, 0.35  # between the marker and the black beside it


def lies_within(inner: Points, outer: Points) -> bool:
    """Tell whether all corners of one convex outline lie within another one."""
    following = np.roll(outer, -1, axis=0) - outer
    away = inner[:, None] - outer[None]
    cross = following[:, 0] * away[..., 1] - following[:, 1] * away[..., 0]
    return bool((cross >= 0).all() or (cross <= 0).all())


def image_room(guess: ScreenGuess) -> Points:
    """Return where a frame has room for its image, as corners in the photograph."""
    frame = guess.sighting.frame
    margin = 10.0 * min(frame.width, frame.height) / _SHORT
    corners = frame.outline()
    return guess.mapping(corners + margin * np.sign(corners.mean(axis=0) - corners))


def is_nested(
    gray: NDArray[np.uint8], frame: FrameLayout, mapping: Mapping, squares: Sequence[Square]
) -> bool:
    """Tell whether a marker of a larger frame in the same plane stands beyond a corner of this."""
    return any(_is_marker_around(gray, frame, mapping, square) for square in squares)


def _is_marker_around(
    gray: NDArray[np.uint8], frame: FrameLayout, mapping: Mapping, square: Square
) -> bool:
    corners = mapping.back(square.corners)
    if not np.isfinite(corners).all():
        return False
    unit = min(frame.width, frame.height) / _SHORT
    low, high = corners.min(axis=0), corners.max(axis=0)
    sides = high - low
    if sides.min() < _LEAST_LARGER * _SIDE * unit or sides.max() > (1 + _SQUARE) * sides.min():
        return False
    if abs(np.sort(corners, axis=0) - np.sort(_box(low, high), axis=0)).max() > _SQUARE * sides[0]:
        return False
    beyond_x = -1 if high[0] <= 0 else 1 if low[0] >= frame.width else 0
    beyond_y = -1 if high[1] <= 0 else 1 if low[1] >= frame.height else 0
    if not (beyond_x and beyond_y):
        return False
    return _has_mark(
        gray, mapping, (low + high) / 2, float(sides.mean()) / _SIDE, beyond_x, beyond_y
    )


def _has_mark(
    gray: NDArray[np.uint8], mapping: Mapping, middle: Points, unit: float, x: int, y: int
) -> bool:
    """Tell whether the mark of this corner stands beside a marker, on the side of the frame.

    The upper right corner has no white in its mark; there the half of the parity tells it.
    """
    corner = {(-1, -1): 0, (1, -1): 1, (1, 1): 2, (-1, 1): 3}[x, y]
    inward = -x * unit * np.array([7.5, 10.5])  # the mark and the parity, from the marker's middle
    halves = unit * np.array([-2.0, 2.0])
    places = np.array([[(middle[0] + dx, middle[1] + dy) for dy in halves] for dx in inward])
    quiet = np.array([(middle[0] - x * 5.0 * unit, middle[1] + dy) for dy in halves])
    white = float(sample(gray, mapping(middle[None]))[0])
    black = float(sample(gray, mapping(quiet)).min())
    if white - black < 12:
        return False
    mark, parity = (sample(gray, mapping(places)) - black) / (white - black)
    lit, dark = mark > _WHITE, mark < _BLACK
    fits = bool(np.where(ORIENTATION[corner], lit, dark).all())
    return fits and (bool(ORIENTATION[corner].any()) or parity.max() > _WHITE > parity.min())


def _box(low: Points, high: Points) -> Points:
    return np.array([low, (high[0], low[1]), high, (low[0], high[1])])
