# SPDX-License-Identifier: Apache-2.0
"""Tell whether a light window or banner lies over the frame: its edge stands where all is black.

A lamp's reflection is out of focus and comes on top of what is there, so the black beside it grows
bright slowly, and then brighter still. What a program draws over the frame begins from one pixel to
the next, and is as bright there as farther inside, whatever the frame has there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import (
    COLUMNS,
    ORIENTATION,
    FrameLayout,
    Label,
    pack,
    white_witnesses,
)
from client_sample.camera.mapping import Mapping, sample
from client_sample.camera.samples import expected_differences

Floats = NDArray[np.float64]
Light = NDArray[np.float32]
Bools = NDArray[np.bool_]
Gray = NDArray[np.uint8]

_SHORT, _MARGIN = 90.0, 11.0  # units
_STEPS = 6  # a unit
_COARSE = 12  # steps between which the map is straight
_REACH = 2  # steps on each side of an edge
_INSIDE = 4  # steps farther inside
_ALONG = 5  # steps along an edge, whose mean is taken
_GUARD = 0.45  # units around what may be white
# Of the usual white: the black beside an edge, the rise over it, and what is reached of the level
# farther inside.
_BLACK, _RISE, _REACHED = 0.14, 0.26, 0.8
_LONG = 3.5  # units of edges, in all
_BORDER, _BELOW_STRIP = 0.75, 10.25  # units: in the middle of what is black
_LIGHT = 0.6  # of the usual white


@dataclass(frozen=True, eq=False)
class Ground:
    """What of a frame may be white, as rectangles of its screen; all other places are black.

    `image` is where the image is.
    """

    frame: FrameLayout
    white: Floats
    image: Floats

    @classmethod
    def of(cls, frame: FrameLayout, label: Label, parity: Optional[bool]) -> Ground:
        """Return the black of a frame with this label, whose parity may be unknown."""
        bits = pack(label)
        known = (False, True) if parity is None else (parity,)
        lit = np.any([white_witnesses(bits, one) for one in known], axis=0)
        cells = np.zeros((2, 4, COLUMNS), dtype=bool)
        differences = expected_differences(bits)
        cells[:, 0::2], cells[:, 1::2] = differences > 0, differences < 0
        corners = [
            frame.id_cells()[bits[:20]],
            frame.witnesses()[lit],
            frame.markers(),
            frame.anchors(),
            frame.blocks(False)[ORIENTATION],
            frame.blocks(True).reshape(-1, 4, 2),
        ]
        white = [_rectangles(np.concatenate(corners)), _code(frame, cells)]
        return cls(frame, np.concatenate(white), _rectangles(frame.image(label)[None])[0])

    @property
    def unit(self) -> float:
        """Return a unit in pixels of the screen."""
        return min(self.frame.width, self.frame.height) / _SHORT

    def free(self, guard: float) -> Bools:
        """Return which steps of the screen must be black, so many units away from any white."""
        rows, columns = self.shape
        lit = np.ones((rows, columns), dtype=np.uint8)
        edge = round(guard * _STEPS)
        lit[edge:-edge, edge:-edge] = 0
        grown = np.vstack([self.white, self.image]) + guard * self.unit * np.array([-1, -1, 1, 1])
        for x0, y0, x1, y1 in np.round(grown * _STEPS / self.unit).astype(int).tolist():
            lit[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)] = 1
        return np.asarray(lit == 0)

    @property
    def shape(self) -> Tuple[int, int]:
        """Return the rows and columns of steps."""
        rows, columns = (
            int(_STEPS * length / self.unit) for length in (self.frame.height, self.frame.width)
        )
        return rows, columns

    def places(self) -> Floats:
        """Return some places (n, 2) in the black: around all, inside the strips, by the image."""
        width, height, unit = self.frame.width, self.frame.height, self.unit
        x, y = np.arange(3 * unit, width, 2 * unit), np.arange(3 * unit, height, 2 * unit)
        inner = x[(x > 12 * unit) & (x < width - 12 * unit)]
        rows = [(x, _BORDER), (x, -_BORDER), (inner, _BELOW_STRIP), (inner, -_BELOW_STRIP)]
        lines = [np.stack([x, np.full_like(x, at * unit % height)], axis=1) for x, at in rows]
        for at in (_BORDER, -_BORDER):
            lines.append(np.stack([np.full_like(y, at * unit % width), y], axis=1))
        x, y = (of.ravel() for of in np.meshgrid(inner[::2], y[6:-5:2]))
        left, top, right, bottom = self.image + 1.5 * unit * np.array([-1, -1, 1, 1])
        outside = (x < left) | (x > right) | (y < top) | (y > bottom)
        return np.concatenate([*lines, np.stack([x[outside], y[outside]], axis=1)])


def is_covered(
    gray: Gray, ground: Ground, mapping: Mapping, usual: float, unsure: float = 0.0
) -> bool:
    """Tell whether an edge of something light stands in the black.

    `usual` is how much brighter than black the frame's white is, `unsure` by how many units the map
    may miss.
    """
    light, seen_at_all = _flat(gray, ground, mapping)
    dark = ground.free(_GUARD) & seen_at_all
    if not dark.any():
        return False
    black = float(np.percentile(light[dark][::8], 25))
    light = (light - np.float32(black)) / np.float32(usual)
    free = ground.free(_bloom(gray, ground, mapping, black, usual) + unsure) & seen_at_all
    length = 0
    for turn in ((0, 1), (1, 0)):
        own = np.ascontiguousarray(light.transpose(turn), dtype=np.float32)
        seen = np.ascontiguousarray(free.transpose(turn), dtype=np.bool_)
        along = np.asarray(cv2.blur(own, (_ALONG, 1)), dtype=np.float32)
        for flip in (1, -1):
            edges = _edges(along[::flip], seen[::flip])
            length += _length(_without_light_over_a_side(edges, own[::flip]))
    return length >= _LONG * _STEPS


def _bloom(gray: Gray, ground: Ground, mapping: Mapping, black: float, usual: float) -> float:
    """Return how many units away from its own squares' edges a frame is black in the photograph."""
    squares = np.concatenate([ground.frame.markers(), ground.frame.anchors()])
    along = (np.roll(squares, -1, axis=1) - squares)[:, :, None]
    outward = np.stack([along[..., 1], -along[..., 0]], axis=-1)
    outward *= ground.unit / np.linalg.norm(along, axis=-1, keepdims=True)
    places = squares[:, :, None] + along * np.linspace(0.15, 0.85, 5)[:, None]
    away = np.arange(1, 9) / _STEPS
    light = sample(gray, mapping(places + away[:, None, None, None, None] * outward))
    usually = (np.median(light.reshape(len(away), -1), axis=1) - black) / usual
    dark = away[usually < _BLACK]
    return max(_GUARD, float(dark[0] if len(dark) else away[-1]) + 1 / _STEPS)


def _rectangles(corners: Floats) -> Floats:
    """Return left, top, right and bottom of upright rectangles (n, 4, 2)."""
    return np.hstack([corners[:, 0], corners[:, 2]])


def _code(frame: FrameLayout, lit: Bools) -> Floats:
    left, right = frame.column_edges()
    rows = np.array([frame.row_edges(at_bottom) for at_bottom in (False, True)])
    strip, row, column = np.nonzero(lit)
    return np.stack([left[column], rows[strip, row], right[column], rows[strip, row + 1]], axis=1)


def _flat(gray: Gray, ground: Ground, mapping: Mapping) -> Tuple[Light, Bools]:
    """Return the brightness of each step of the screen, and which steps the photograph has."""
    rows, columns = ground.shape
    x, y = (
        (np.arange(-1, -(-length // _COARSE) + 1) + 0.5) * _COARSE * ground.unit / _STEPS
        for length in (columns, rows)
    )
    places = mapping(np.stack(np.meshgrid(x, y), axis=-1))
    near = np.clip(np.nan_to_num(places, nan=-1e6), -1e6, 1e6).astype(np.float32) - 0.5
    fine = cv2.resize(near, (_COARSE * len(x), _COARSE * len(y)), interpolation=cv2.INTER_LINEAR)
    inside = np.ascontiguousarray(fine[_COARSE : _COARSE + rows, _COARSE : _COARSE + columns])
    across, down = cv2.split(inside)
    flat = cv2.remap(gray, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    height, width = gray.shape
    there = (across >= 0) & (across <= width - 1) & (down >= 0) & (down <= height - 1)
    return np.asarray(flat, dtype=np.float32), np.asarray(there, dtype=np.bool_)


def _edges(light: Light, free: Bools) -> Bools:
    """Return where a sharp edge lies across the columns, dark above and light below."""
    reach = 2 * _REACH
    dark, bright = light[:-reach], light[reach:]
    column = np.ones((reach + 1, 1), dtype=np.uint8)
    seen = cv2.erode(np.ascontiguousarray(free, dtype=np.uint8), column)[_REACH:-_REACH] > 0
    # Nothing of the frame shines through a window, so farther inside it is as bright, or has text.
    farther = np.full_like(bright, np.inf)
    farther[:-_INSIDE] = bright[_INSIDE:]
    return np.asarray(
        seen & (dark < _BLACK) & (bright - dark > _RISE) & (bright > _REACHED * farther)
    )


def _length(edges: Bools) -> int:
    """Return in how many columns there is an edge."""
    return int(edges.any(axis=0).sum())


def _without_light_over_a_side(edges: Bools, light: Light) -> Bools:
    """Return the edges but for those beyond which all is white, from end to end of a side.

    So much light a lamp may throw over one side; and the image is whole, since it begins before.
    """
    kept = edges.copy()
    for row in np.flatnonzero(edges.any(axis=1)):
        beyond = light[row + 2 * _REACH : -_STEPS]
        if 0 < len(beyond) < _MARGIN * _STEPS and np.percentile(beyond, 2) > _LIGHT:
            kept[row] = False
    return kept
