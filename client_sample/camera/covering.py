# SPDX-License-Identifier: Apache-2.0
"""Tell whether a window or a banner lies over the frame: it has sharp edges where all is black.

A lamp's reflection is out of focus, so it comes slowly. What a program draws over the frame ends
from one pixel to the next, along a straight line that lies as the screen does.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import COLUMNS, ORIENTATION, FrameLayout, pack, white_witnesses
from client_sample.camera.mapping import sample
from client_sample.camera.reading import FrameReading
from client_sample.camera.samples import expected_differences

Bools = NDArray[np.bool_]

_STEPS = 4  # a unit
_AWAY = 0.75  # units from all that may be white
_STEP = 0.35  # of the usual white, from one side of an edge to the other
_LONG = 3.5  # units


def is_covered(gray: NDArray[np.uint8], reading: FrameReading, black: float, usual: float) -> bool:
    """Tell whether an edge of something else stands in the black of the margins."""
    frame = reading.frame
    unit = min(frame.width, frame.height) / 90
    columns, rows = (int(_STEPS * length / unit) for length in (frame.width, frame.height))
    x, y = np.meshgrid(
        (np.arange(columns) + 0.5) * unit / _STEPS, (np.arange(rows) + 0.5) * unit / _STEPS
    )
    free = _black(reading, unit, (rows, columns))
    # Only the margins are looked at; the map of the image's room would take most of the time.
    light = np.zeros((rows, columns))
    light[free] = (
        sample(gray, reading.mapping(np.stack([x[free], y[free]], axis=-1))) - black
    ) / usual
    return any(
        _longest_edge(light.transpose(turn), free.transpose(turn)) >= _LONG * _STEPS
        for turn in ((0, 1), (1, 0))
    )


def _longest_edge(light: NDArray[np.float64], free: Bools) -> int:
    """Return the length of the longest straight edge along the columns, in steps."""
    half = 1
    rise = abs(light[:, 2 * half :] - light[:, : -2 * half])
    both = free[:, 2 * half :] & free[:, half:-half] & free[:, : -2 * half]
    edge = (both & (rise > _STEP)).astype(np.uint8)
    # A slight error of the map may move a part of an edge to the next column.
    wide = cv2.dilate(edge, np.ones((1, 3), dtype=np.uint8))
    return int(wide.sum(axis=0).max(initial=0))


def _black(reading: FrameReading, unit: float, shape: tuple[int, int]) -> Bools:
    """Return where the screen must be black, away from all that may be white."""
    frame = reading.frame
    scale = _STEPS / unit
    lit = np.zeros(shape, dtype=np.uint8)
    for left, top, right, bottom in _white(reading, frame):
        grown = np.array([left, top, right, bottom]) + _AWAY * unit * np.array([-1, -1, 1, 1])
        x0, y0, x1, y1 = np.round(grown * scale).astype(int)
        lit[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)] = 1
    edge = round(_AWAY * _STEPS)
    lit[:edge], lit[-edge:], lit[:, :edge], lit[:, -edge:] = 1, 1, 1, 1
    return np.asarray(lit == 0)


def _white(reading: FrameReading, frame: FrameLayout) -> NDArray[np.float64]:
    """Return the rectangles that may be white, as left, top, right, bottom."""
    bits = pack(reading.label)
    witnesses = frame.witnesses()
    parities = [reading.parity] if reading.parity is not None else [False, True]
    lit = np.any([white_witnesses(bits, parity) for parity in parities], axis=0)
    corners = np.concatenate(
        [
            frame.markers(),
            frame.anchors(),
            frame.id_cells()[bits[:20]],
            frame.blocks(False)[ORIENTATION],
            frame.blocks(True).reshape(-1, 4, 2),
            witnesses[lit],
            frame.image(reading.label)[None],
        ]
    )
    return np.concatenate([np.hstack([corners[:, 0], corners[:, 2]]), _white_code(frame, bits)])


def _white_code(frame: FrameLayout, bits: Bools) -> NDArray[np.float64]:
    left, right = frame.column_edges()
    cells = []
    for strip, differences in enumerate(expected_differences(bits)):
        rows = frame.row_edges(bool(strip))
        for pair in (0, 1):
            for column in range(COLUMNS):
                row = 2 * pair + int(differences[pair, column] < 0)
                cells.append((left[column], rows[row], right[column], rows[row + 1]))
    return np.array(cells)
