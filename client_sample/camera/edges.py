# SPDX-License-Identifier: Apache-2.0
"""Fit the map from screen to photograph to all edges of the margins, once their bits are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import COLUMNS, FrameLayout
from client_sample.camera.mapping import Mapping, sample

Floats = NDArray[np.float64]

_STEPS = 15
_ALONG = np.linspace(-0.35, 0.35, 5)
_LEAST_RISE = 0.3  # of the contrast that most edges have
_FEWEST_EDGES = 24
_BENDS = 3  # numbers of the lens
_PULLS = (2.0, 8.0, 24.0)
_FEWEST_ROUNDS, _MOST_ROUNDS = 3, 10
_STILL_PX = 0.05  # of the photograph


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


@dataclass(frozen=True, eq=False)
class Fit:
    """The map that fits the edges best, and by what it was found.

    `middle` and `normal` are those of the edges that were seen, `weight` is how much each counted,
    and `misses_px` are the edges' distances from the map, in the photograph.
    """

    mapping: Mapping
    middle: Floats
    normal: Floats
    weight: Floats
    misses_px: Floats


def refit(gray: NDArray[np.uint8], edges: Edges, mapping: Mapping) -> Optional[Fit]:
    """Return the best fit, or None if too few edges are seen."""
    before = mapping(edges.middle)
    fit: Optional[Fit] = None
    for number in range(_MOST_ROUNDS):
        offset, seen = _offsets(gray, edges, mapping)
        if seen.sum() < _FEWEST_EDGES:
            return None
        target = mapping(edges.middle + offset[:, None] * edges.normal)[seen]
        middle, normal = edges.middle[seen], edges.normal[seen]
        fit = _solve(mapping, middle, normal, target, _BENDS if number else 0)
        mapping = fit.mapping
        after = mapping(edges.middle)
        # A lens with its centre far from the middle takes more rounds than others.
        if number >= _FEWEST_ROUNDS - 1 and abs(after - before).max() < _STILL_PX:
            break
        before = after
    return fit


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


def across(mapping: Mapping, points: Floats, normals: Floats) -> Floats:
    """Return the direction of each normal in the photograph, one pixel long."""
    directions = mapping(points + 1e-3 * normals) - mapping(points)
    directions /= np.maximum(1e-9, np.linalg.norm(directions, axis=1, keepdims=True))
    return np.asarray(directions)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A map as the numbers that are fitted: eight of the matrix, two of the centre, and the bends.

    `scale` brings the screen's points near to 1.
    """

    scale: Floats
    size: Tuple[int, int]

    @classmethod
    def near(cls, points: Floats, size: Tuple[int, int]) -> Numbers:
        """Return the form that suits these points of the screen."""
        unit = 1 / np.ptp(points[:, 0])
        return cls(np.diag([unit, unit, 1.0]), size)

    def of(self, mapping: Mapping, bends: int) -> Floats:
        """Return a map's numbers, with so many bends at least."""
        start = mapping.matrix @ np.linalg.inv(self.scale)
        known = np.zeros(max(bends, len(mapping.bends)))
        known[: len(mapping.bends)] = mapping.bends
        return np.concatenate([start.ravel()[:8] / start[2, 2], mapping.centre, known])

    def mapping(self, numbers: Floats) -> Mapping:
        """Return the map that has these numbers."""
        matrix = np.append(numbers[:8], 1.0).reshape(3, 3) @ self.scale
        x, y, *bends = numbers[8:].tolist()
        return Mapping(matrix, tuple(bends), self.size, (x, y))

    def slopes(self, numbers: Floats, points: Floats, which: NDArray[np.intp]) -> Floats:
        """Return how the places of points (n, 2) change with some of the numbers: (n, 2, which)."""
        before = self.mapping(numbers)(points)
        slopes = np.empty((*points.shape, len(which)))
        for column, index in enumerate(which):
            changed = numbers.copy()
            changed[index] += 1e-6
            slopes[..., column] = (self.mapping(changed)(points) - before) / 1e-6
        return slopes


def _solve(mapping: Mapping, points: Floats, normals: Floats, target: Floats, bends: int) -> Fit:
    """Find the matrix and the lens by Gauss and Newton; edges far off lose their weight.

    A bright area looks larger than it is, by the same width everywhere. That is one more unknown.
    """
    form = Numbers.near(points, mapping.size)
    directions = across(mapping, points, normals)
    values = form.of(mapping, bends)
    free = np.arange(len(values) if bends else 8)
    # A small pull to 0 keeps the lens finite where the edges hardly show it.
    pull = np.array([0.0] * 8 + [0.3, 0.3] + list(_PULLS[: len(values) - 10]))[free]
    wider = 0.0

    def misses() -> Floats:
        return np.asarray(
            ((form.mapping(values)(points) - target) * directions).sum(axis=1) - wider
        )

    miss = misses()
    for _ in range(4):
        slopes = np.einsum("nxk,nx->nk", form.slopes(values, points, free), directions)
        spread = 1.4826 * np.median(abs(miss)) + 0.02
        weight = np.maximum(0, 1 - (miss / (4 * spread)) ** 2)
        slopes = np.column_stack([slopes, np.full(len(points), -1.0)])
        system = np.vstack([slopes * weight[:, None], np.diag([*pull, 0.05])])
        aim = np.concatenate([-miss * weight, -pull * values[free], [-0.05 * wider]])
        # The normal equations take a tenth of the time of a decomposition of all edges.
        normal = system.T @ system
        normal += np.diag(1e-12 * normal.diagonal() + 1e-12)
        step = np.linalg.solve(normal, system.T @ aim)
        values[free] += step[:-1]
        wider += float(step[-1])
        miss = misses()
    return Fit(form.mapping(values), points, normals, weight, abs(miss))
