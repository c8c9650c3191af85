# SPDX-License-Identifier: Apache-2.0
"""Tell whether the screen scales its picture up, so that its border is cut.

Then the markers are cut or lost, and no frame is found by them. The rows of code nearest to the
image remain: the upper strip's last row says of each bit the contrary of what the lower strip's
first row says 27 columns away. How near these rows are to the end of the light tells what was cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, List, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import COLUMNS

Gray = NDArray[np.uint8]
Floats = NDArray[np.float64]

_WIDTH, _HEIGHT = 960, 540  # of the straightened screen
_SPARE = 56  # pixels beside it: where the border is cut, its corners are those of white cells
_LIT = 0.3  # of the range from the ground to white
_JOINED = 0.05  # of the photograph's width: parts so near to each other belong to one screen
_LEAST_AREA = 0.06  # of the photograph
_MOST_BULGE = 1.02  # of the area between the corners
_SHAPES = (16 / 9, 16 / 10, 4 / 3)
_CODE_START, _ANCHOR_ROOM, _SHORT = 18.5, 8.0, 90.0  # units
# Pixels from the sides. Where nothing but the code is left, it may begin with black cells.
_STARTS = _SPARE + np.arange(0.0, 125.0, 3.5), np.arange(0.0, _SPARE + 50.0, 3.5)
_CELL_PX, _STEP_PX, _DEPTH_PX = 7, 3, 70
_MOST_GRIDS = 6  # a row
_AGREE = 0.8  # correlation of the rows
_ROW_END, _OUTER = 9.2, 1.5  # units from the upper edge: the last row, and where light begins
_LEAST_CUT = 1.8  # units more than the black edge


def is_overscanned(gray: Gray) -> bool:
    """Tell whether the code's inner rows are there, and too near to the end of the light."""
    flats = [_straight(gray, quad) for quad in _screens(gray)]
    return any(_is_cut(flat, starts) for starts in _STARTS for flat in flats)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Where the columns of a row of code may lie in the straightened screen.

    `start` and `end` are those of the code, `row` its middle; `values` are about 1 or -1.
    """

    shape: float
    start: float
    end: float
    row: int
    values: Floats

    @property
    def unit_px(self) -> float:
        """Return a unit along the row, by the code's length."""
        return (self.end - self.start) / (_SHORT * self.shape - 2 * _CODE_START)

    @property
    def beside(self) -> float:
        """Return how many units the light ends beside the code, on the nearer side."""
        return (min(self.start, _WIDTH + 2 * _SPARE - self.end) - _SPARE) / self.unit_px


def _screens(gray: Gray) -> Iterator[Floats]:
    """Yield the corners of the largest lit areas that end before the photograph does."""
    height, width = gray.shape
    low, high = np.percentile(gray[::4, ::4], (5, 99))
    if high - low < 40:
        return
    lit = (gray > low + _LIT * (high - low)).astype(np.uint8)
    side = int(_JOINED * width) | 1
    joined = cv2.morphologyEx(lit, cv2.MORPH_CLOSE, np.ones((side, side), dtype=np.uint8))
    outlines, _ = cv2.findContours(joined, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    for outline in sorted(outlines, key=cv2.contourArea, reverse=True)[:2]:
        if cv2.contourArea(outline) < _LEAST_AREA * gray.size:
            return
        inside = np.zeros_like(lit)
        cv2.drawContours(inside, [outline], -1, 1, -1)
        points = cv2.findNonZero(inside & lit)
        hull = np.asarray(cv2.convexHull(points)).reshape(-1, 2).astype(np.float32)
        quad = _quad(hull.astype(float))
        # A lens that lifts the strips between the markers would bring them to the quad's edge.
        if cv2.contourArea(hull) < _MOST_BULGE * cv2.contourArea(quad.astype(np.float32)):
            yield quad


def _quad(hull: Floats) -> Floats:
    """Return the four corners of a hull, clockwise from the upper left, by their directions."""
    sums, differences = hull.sum(axis=1), hull[:, 0] - hull[:, 1]
    ends = (sums.argmin(), differences.argmax(), sums.argmax(), differences.argmin())
    return np.asarray(hull[list(ends)] + 0.5)


def _straight(gray: Gray, quad: Floats) -> Floats:
    """Return the part of the photograph within these corners, with some ground beside it."""
    own = np.array([[0, 0], [_WIDTH, 0], [_WIDTH, _HEIGHT], [0, _HEIGHT]], dtype=np.float32)
    own[:, 0] += _SPARE
    matrix = cv2.getPerspectiveTransform(quad.astype(np.float32), own)
    size = (_WIDTH + 2 * _SPARE, _HEIGHT)
    flat = cv2.warpPerspective(gray, matrix, size, flags=cv2.INTER_LINEAR)
    return np.asarray(flat, dtype=np.float64)


def _is_cut(flat: Floats, sides: Floats) -> bool:
    upper, lower = _grids(flat, sides), _grids(flat[::-1], sides)
    if not (upper and lower):
        return False
    of_upper = _normal(np.array([grid.values for grid in upper]))
    of_lower = _normal(np.roll([grid.values for grid in lower], -COLUMNS // 2, axis=1))
    agree = -(of_upper @ of_lower.T) / COLUMNS > _AGREE
    if not agree.any():
        return False
    above = [grid for grid, fits in zip(upper, np.asarray(agree.any(axis=1))) if fits]
    below = [grid for grid, fits in zip(lower, np.asarray(agree.any(axis=0))) if fits]
    if all(grid.beside < _CODE_START - _OUTER - _LEAST_CUT for grid in (above[0], below[0])):
        return True
    # The rows that are farthest inside are the last ones, at their inner edges.
    depths = [max(grid.row for grid in grids) for grids in (above, below)]
    unit = (_HEIGHT - sum(depths)) / (_SHORT - 2 * _ROW_END)
    return max(depths) / unit < _ROW_END - _OUTER - _LEAST_CUT


def _normal(values: Floats) -> Floats:
    centred = values - values.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(1e-6, centred.std(axis=1, keepdims=True)))


def _grids(flat: Floats, sides: Floats) -> List[_Grid]:
    """Return the likeliest places of a row of code near the upper edge, the best first."""
    strip = flat[:_DEPTH_PX].astype(np.float32)
    level = cv2.blur(strip, (_CELL_PX, 3))
    spread = np.sqrt(np.maximum(0, cv2.blur(strip**2, (_CELL_PX, 3)) - level**2))
    level, spread = level[::_STEP_PX], spread[::_STEP_PX]
    found: List[Tuple[float, _Grid]] = []
    both = np.meshgrid(sides, _WIDTH + 2 * _SPARE - sides, indexing="ij")
    starts, ends = (of.ravel() for of in both)
    for shape in _SHAPES:
        places = starts[:, None] + (ends - starts)[:, None] * _columns(shape)
        which = places.astype(int)
        values = level[:, which]
        quality = values.std(axis=-1) - 2 * spread[:, which].mean(axis=-1)
        for row, qualities in enumerate(quality):
            for grid in np.argsort(qualities)[: -_MOST_GRIDS - 1 : -1]:
                place = _Grid(shape, starts[grid], ends[grid], _STEP_PX * row, values[row, grid])
                found.append((float(qualities[grid]), place))
    return [grid for _, grid in sorted(found, key=lambda one: -one[0])]


def _columns(shape: float) -> Floats:
    """Return the middles of the columns between 0 and 1, from the code's start to its end."""
    length = _SHORT * shape - 2 * _CODE_START
    half = (1 - _ANCHOR_ROOM / length) / 2
    edges = np.linspace(0, half, COLUMNS // 2 + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    return np.concatenate([middles, 1 - middles[::-1]])
