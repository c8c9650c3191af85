# SPDX-License-Identifier: Apache-2.0
"""Tell whether a frame stands inside an image that another frame shows.

An image may be a picture of a frame. The frame inside may be read while glare hides the code of the
one around it. So a frame counts only if no larger frame's marker stands around it.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.attempt import ScreenGuess
from client_sample.camera.frame import ORIENTATION, FrameLayout
from client_sample.camera.mapping import Mapping, sample
from client_sample.camera.squares import Square

Points = NDArray[np.float64]

# In units of the screen inside. The frame around is larger by at least the room of its margins.
_SIDE, _ID_SIDE, _SHORT = 8.0, 4.5, 90.0
_LEAST_LARGER = 1.2
_MOST_LARGER = 1.64  # for cells of the id: a neighbour's markers are larger
_ON_STEP = 0.08
_SQUARE = 0.15  # how much the sides of a marker may differ, as a share
_SAME_SIZE, _IN_THE_MIDDLE = 0.05, 0.02
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
    """Tell whether a larger frame's markers stand beyond the corners of this one, in its plane.

    One is enough with its mark beside it. Where light hides the marks, two are, one on each side,
    or two cells of the larger frame's id.
    """
    corners: Dict[Tuple[int, int], List[Points]] = {}
    cells = 0
    for square in squares:
        places = mapping.back(square.corners)
        if not np.isfinite(places).all() or not _is_upright(places):
            continue
        cells += _is_id_cell_around(places, frame)
        corner = _corner_beyond(places, frame)
        if corner is None:
            continue
        middle, side = places.mean(axis=0), float(np.ptp(places, axis=0).mean())
        if _has_mark(gray, mapping, middle, side / _SIDE, *corner):
            return True
        corners.setdefault(corner, []).append(np.array([*middle, side]))
    left, right = (
        [place for corner, found in corners.items() if corner[0] == x for place in found]
        for x in (-1, 1)
    )
    return cells >= 2 or any(_are_a_pair(one, other, frame) for one in left for other in right)


def _corner_beyond(places: Points, frame: FrameLayout) -> Optional[Tuple[int, int]]:
    """Return beyond which corner of the frame a square stands that can be a larger marker."""
    low, high = places.min(axis=0), places.max(axis=0)
    unit = min(frame.width, frame.height) / _SHORT
    if (high - low).min() < _LEAST_LARGER * _SIDE * unit:
        return None
    x = -1 if high[0] <= 0 else 1 if low[0] >= frame.width else 0
    y = -1 if high[1] <= 0 else 1 if low[1] >= frame.height else 0
    return (x, y) if x and y else None


def _is_upright(places: Points) -> bool:
    """Tell whether a square stands upright and is one, in the plane of the screen."""
    low, high = places.min(axis=0), places.max(axis=0)
    sides = high - low
    box = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    off = abs(np.sort(places, axis=0) - np.sort(box, axis=0)).max()
    return bool(sides.max() <= (1 + _SQUARE) * sides.min() and off <= _SQUARE * sides.min())


def _is_id_cell_around(places: Points, frame: FrameLayout) -> bool:
    """Tell whether a square can be a cell of the id of a larger frame about the same middle."""
    low, high = places.min(axis=0), places.max(axis=0)
    unit = float((high - low).mean()) / _ID_SIDE
    larger = unit * _SHORT / min(frame.width, frame.height)
    if not _LEAST_LARGER < larger < _MOST_LARGER or (high[0] > 0 and low[0] < frame.width):
        return False
    # Ten equal steps lie between the markers of a side.
    step = (_SHORT - 19) / 10 * unit
    number = ((low[1] + high[1]) / 2 - frame.height / 2) / step + 4.5
    return bool(-0.5 < number < 9.5 and abs(number - round(number)) < _ON_STEP)


def _are_a_pair(left: Points, right: Points, frame: FrameLayout) -> bool:
    """Tell whether two squares are equal, and the frame stands in the middle between them."""
    middle = (left[0] + right[0]) / 2
    same = abs(left[2] - right[2]) < _SAME_SIZE * (left[2] + right[2])
    return bool(same and abs(middle - frame.width / 2) < _IN_THE_MIDDLE * (right[0] - left[0]))


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
