# SPDX-License-Identifier: Apache-2.0
"""Fit the map from screen to photograph to all edges of the margins, once their bits are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import COLUMNS, FrameLayout
from client_sample.camera.mapping import Mapping, sample

Floats = NDArray[np.float64]

_STEPS = 15
_ALONG = np.linspace(-0.35, 0.35, 5)
_LEAST_RISE = 0.3  # of the contrast that most edges have
_FEWEST_EDGES = 24


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between white and black: middle (n, 2), half length and normal as vectors (n, 2).

    The normal points to the white, and is as long as the way to search on each side.
    """

    middle: Floats
    along: Floats
    normal: Floats


def edges_of(
    frame: FrameLayout, differences: Floats, ids: NDArray[np.bool_], strips: Tuple[bool, bool]
) -> Edges:
    """Return the edges of a frame.

    `differences` is positive where the upper cell of a pair is white, `ids` says which id cells are
    white, and `strips` which strips to use.
    """
    left, right = frame.column_edges()
    reach_x, reach_y = 0.45 * (right - left).mean(), 0.45 * np.diff(frame.row_edges(False)).mean()
    # Light that covers a strip has edges too, which are not those of the strip's squares.
    parts = [
        _of_squares(frame.markers()[np.repeat(strips, 2)], reach_x, reach_y),
        _of_squares(frame.anchors()[list(strips)], reach_x, reach_y),
        _of_squares(frame.id_cells()[ids], reach_x, reach_y),
    ]
    for strip in np.flatnonzero(strips):
        lit = np.zeros((4, COLUMNS), dtype=bool)
        lit[0::2], lit[1::2] = differences[strip] > 0, differences[strip] < 0
        parts.append(_of_strip(lit, left, right, frame.row_edges(bool(strip)), reach_x, reach_y))
    return Edges(*(np.concatenate(columns) for columns in zip(*parts)))


def refit(
    gray: NDArray[np.uint8], edges: Edges, mapping: Mapping, rounds: int = 3
) -> Tuple[Mapping, float]:
    """Return the map that fits the edges best, and its median error in pixels of the photograph.

    A map that too few edges support stays as it is, and its error is infinite.
    """
    error = np.inf
    for number in range(rounds):
        offset, seen = _offsets(gray, edges, mapping)
        if seen.sum() < _FEWEST_EDGES:
            return mapping, np.inf
        target = mapping(edges.middle + offset[:, None] * edges.normal)[seen]
        mapping, error = _solve(mapping, edges.middle[seen], edges.normal[seen], target, number > 0)
    return mapping, error


def _of_squares(corners: Floats, reach_x: float, reach_y: float) -> Tuple[Floats, Floats, Floats]:
    following = np.roll(corners, -1, axis=1)
    along = ((following - corners) / 2).reshape(-1, 2)
    middle = ((following + corners) / 2).reshape(-1, 2)
    inward = np.stack([-along[:, 1], along[:, 0]], axis=1)
    inward /= np.maximum(1e-9, np.linalg.norm(inward, axis=1, keepdims=True))
    return middle, along, inward * (reach_x, reach_y)


def _of_strip(
    lit: NDArray[np.bool_],
    left: Floats,
    right: Floats,
    rows: Floats,
    reach_x: float,
    reach_y: float,
) -> Tuple[Floats, Floats, Floats]:
    """Return the edges between neighbouring cells of a strip that differ."""
    middle, along, normal = [], [], []
    change = lit[:, 1:].astype(int) - lit[:, :-1]
    change[:, COLUMNS // 2 - 1] = 0  # the anchor lies between these two columns
    half_row = np.diff(rows).mean() / 2
    for row, column in np.argwhere(change):
        middle.append((right[column], (rows[row] + rows[row + 1]) / 2))
        along.append((0, half_row))
        normal.append((change[row, column] * reach_x, 0))
    padded = np.pad(lit.astype(int), ((1, 1), (0, 0)))
    change = np.diff(padded, axis=0)
    for row, column in np.argwhere(change):
        middle.append(((left[column] + right[column]) / 2, rows[row]))
        along.append(((right[column] - left[column]) / 2, 0))
        normal.append((0, change[row, column] * reach_y))
    # A strip that lies under one even light has no edge at all.
    return (
        np.array(middle, dtype=float).reshape(-1, 2),
        np.array(along, dtype=float).reshape(-1, 2),
        np.array(normal, dtype=float).reshape(-1, 2),
    )


def _offsets(
    gray: NDArray[np.uint8], edges: Edges, mapping: Mapping
) -> Tuple[Floats, NDArray[np.bool_]]:
    """Return how far each edge lies along its normal, from -1 to 1, and whether it was seen."""
    steps = np.linspace(-1, 1, _STEPS)
    points = (
        edges.middle[:, None, None]
        + _ALONG[:, None, None] * edges.along[:, None, None]
        + steps[:, None] * edges.normal[:, None, None]
    )
    rise = np.diff(sample(gray, mapping(points)).mean(axis=1), axis=1)
    total = rise.sum(axis=1)
    rise = np.maximum(0, rise)
    rise = np.maximum(0, rise - 0.15 * rise.max(axis=1, keepdims=True))
    places = (steps[:-1] + steps[1:]) / 2
    offset = (rise * places).sum(axis=1) / np.maximum(1e-6, rise.sum(axis=1))
    return offset, total > max(4.0, _LEAST_RISE * np.median(total))


def _solve(
    mapping: Mapping, points: Floats, normals: Floats, target: Floats, bend: bool
) -> Tuple[Mapping, float]:
    """Find the matrix and the bends by Gauss and Newton; edges far off lose their weight.

    A bright area looks larger than it is, by the same width everywhere. That is one more unknown.
    """
    scale = np.diag([1 / np.ptp(points[:, 0]), 1 / np.ptp(points[:, 0]), 1.0])
    start = mapping.matrix @ np.linalg.inv(scale)
    start = start / start[2, 2]
    ahead = mapping(points + 1e-3 * normals)
    across = ahead - mapping(points)
    across /= np.maximum(1e-9, np.linalg.norm(across, axis=1, keepdims=True))
    values = np.concatenate([start.ravel()[:8], mapping.bends, [0.0]])
    free = np.array([True] * 8 + [bend, bend, True])

    def made(numbers: Floats) -> Mapping:
        matrix = np.append(numbers[:8], 1.0).reshape(3, 3) @ scale
        return Mapping(matrix, (float(numbers[8]), float(numbers[9])), mapping.size)

    def misses(numbers: Floats) -> Floats:
        return np.asarray(((made(numbers)(points) - target) * across).sum(axis=1) - numbers[10])

    miss = misses(values)
    for _ in range(4):
        slopes = np.empty((len(points), int(free.sum())))
        for column, index in enumerate(np.flatnonzero(free)):
            changed = values.copy()
            changed[index] += 1e-6
            slopes[:, column] = (misses(changed) - miss) / 1e-6
        spread = 1.4826 * np.median(abs(miss)) + 0.02
        weight = np.maximum(0, 1 - (miss / (4 * spread)) ** 2)
        # A small pull to 0 keeps the bends finite where the edges hardly show them.
        pull = np.array([0.0] * 8 + [2.0, 8.0, 0.05])[free]
        system = np.vstack([slopes * weight[:, None], np.diag(pull)])
        aim = np.concatenate([-miss * weight, -pull * values[free]])
        values[free] += np.linalg.lstsq(system, aim, rcond=None)[0]
        miss = misses(values)
    return made(values), float(np.median(abs(miss)))
