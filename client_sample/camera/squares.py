# SPDX-License-Identifier: Apache-2.0
"""Find white squares on black in a photograph, with their corners to a fraction of a pixel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Iterator, List

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.mapping import sample

Gray = NDArray[np.uint8]
Points = NDArray[np.float64]

# As shares of the photograph's shorter side.
_SMALLEST, _LARGEST = 0.012, 0.2
_MOST_ELONGATED = 2.4
_LEAST_FULL = 0.8
_LEAST_CONTRAST = 12  # grey levels
_MOST_SQUARES = 400
_ALONG = np.linspace(-0.35, 0.35, 12)


@dataclass(frozen=True, eq=False)
class Square:
    """A bright quadrilateral: its corners (4, 2) clockwise in the photograph.

    `contrast` is how much brighter it is than the darkest of its surroundings, `isolation` how much
    brighter than the brightest.
    """

    corners: Points
    contrast: float
    isolation: float

    @cached_property
    def centre(self) -> Points:
        """Return where the diagonals would meet in a parallelogram."""
        return np.asarray(self.corners.mean(axis=0))

    @cached_property
    def side(self) -> float:
        """Return the length of a side, as the root of the area."""
        return float(np.sqrt(abs(_area(self.corners))))

    @cached_property
    def sides(self) -> Points:
        """Return the way from each corner to the next."""
        return _following(self.corners) - self.corners


def find_squares(gray: Gray) -> List[Square]:
    """Return the squares of a grey photograph, the largest first."""
    rough: List[Points] = []
    short = min(gray.shape)
    for binary in _binaries(np.asarray(cv2.GaussianBlur(gray, (3, 3), 0), dtype=np.uint8)):
        contours, _ = cv2.findContours(binary, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        for contour in contours:
            area = cv2.contourArea(contour)
            if (_SMALLEST * short) ** 2 <= area <= (_LARGEST * short) ** 2:
                rough += _quadrilateral(np.asarray(contour, dtype=np.int32), area)
    if not rough:
        return []
    quads = np.array(_without_repeats(rough)[:_MOST_SQUARES])
    squares = [square for square in _refined(gray, quads) if square.contrast >= _LEAST_CONTRAST]
    return sorted(squares, key=lambda square: -square.side)


def _binaries(gray: Gray) -> Iterator[Gray]:
    """Yield what is bright, by thresholds for the whole picture and for surroundings of a place."""
    short = min(gray.shape)
    low, high = np.percentile(gray[::4, ::4], (5, 99))
    for share in (0.3, 0.5, 0.7):
        _, binary = cv2.threshold(gray, low + share * (high - low), 255, cv2.THRESH_BINARY)
        yield np.asarray(binary, dtype=np.uint8)
    for part, above in ((4, 6), (9, 10)):
        block = max(3, short // part) | 1
        mean = np.asarray(cv2.boxFilter(gray, cv2.CV_16S, (block, block)))
        yield np.asarray(255 * (gray > mean + above), dtype=np.uint8)


def _quadrilateral(contour: NDArray[np.int32], area: float) -> List[Points]:
    """Return a contour's four corners, clockwise in the picture, if it has four."""
    hull = cv2.convexHull(contour)
    if area < _LEAST_FULL * cv2.contourArea(hull):
        return []
    corners = cv2.approxPolyDP(hull, 0.07 * cv2.arcLength(hull, True), True)
    points = np.asarray(corners, dtype=np.float64).reshape(-1, 2)
    if len(points) != 4:
        points = np.asarray(cv2.boxPoints(cv2.minAreaRect(hull)), dtype=np.float64)
        if area < _LEAST_FULL * abs(_area(points)):
            return []
    sides = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    if sides.max() > _MOST_ELONGATED * max(1.0, sides.min()):
        return []
    # From the middles of pixels to their corners' coordinates.
    return [(points if _area(points) > 0 else points[::-1]) + 0.5]


def _area(corners: Points) -> float:
    """Return the area; positive if the corners go clockwise as a picture is drawn."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners.tolist()
    return float(0.5 * ((cx - ax) * (dy - by) - (dx - bx) * (cy - ay)))


def _following(corners: Points) -> Points:
    """Return for each corner the next one; `numpy.roll` takes ten times as long."""
    return corners[[1, 2, 3, 0]]


def _without_repeats(quads: List[Points]) -> List[Points]:
    """Keep one of those that several thresholds found."""
    kept: List[Points] = []
    middles = np.empty((0, 2))
    sides = np.empty(0)
    for quad in quads:
        middle, side = quad.mean(axis=0), np.sqrt(abs(_area(quad)))
        near = np.linalg.norm(middles - middle, axis=1) < 0.25 * sides
        if not (near & (abs(sides - side) < 0.25 * sides)).any():
            kept.append(quad)
            middles, sides = np.vstack([middles, middle]), np.append(sides, side)
    return kept


def _refined(gray: Gray, quads: NDArray[np.float64]) -> Iterator[Square]:
    """Move each side to where the brightness falls fastest, and judge the contrast."""
    count = len(quads)
    for _ in range(2):
        following = np.roll(quads, -1, axis=1)
        along = following - quads
        length = np.linalg.norm(along, axis=2, keepdims=True)
        outward = np.stack([along[..., 1], -along[..., 0]], axis=2) / np.maximum(length, 1e-6)
        reach = np.maximum(2.5, 0.14 * length.mean(axis=1, keepdims=True))
        steps = np.linspace(-1, 1, 17)
        middle = (quads + following) / 2
        places = (
            middle[:, :, None, None]
            + along[:, :, None, None] * _ALONG[:, None, None]
            + (outward * reach)[:, :, None, None] * steps[:, None]
        )
        profiles = sample(gray, places)
        offsets = _fall(profiles.reshape(count, 4, 2, len(_ALONG) // 2, len(steps)).mean(axis=3))
        # Two points on each side: the middles of its two halves.
        halves = _ALONG.reshape(2, -1).mean(axis=1)
        points = (
            middle[:, :, None]
            + along[:, :, None] * halves[:, None]
            + (outward * reach)[:, :, None] * offsets[..., None]
        )
        quads = _intersections(points, quads)
    inside = profiles[..., 0].mean(axis=2)
    outside = profiles[..., -1].mean(axis=2)
    for number in range(count):
        yield Square(
            quads[number],
            float(inside[number].mean() - outside[number].min()),
            float(inside[number].min() - outside[number].max()),
        )


def _fall(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where a profile falls, from -1 to 1, as the centre of its steepest part."""
    fall = np.maximum(0, -np.diff(profiles, axis=-1))
    fall = np.maximum(0, fall - 0.25 * fall.max(axis=-1, keepdims=True))
    count = fall.shape[-1]
    places = (np.arange(count) + 0.5) * 2 / count - 1
    return np.asarray((fall * places).sum(axis=-1) / np.maximum(fall.sum(axis=-1), 1e-6))


def _intersections(points: NDArray[np.float64], quads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the corners where the sides, each given by two points, meet."""
    start, direction = points[:, :, 0], points[:, :, 1] - points[:, :, 0]
    before, before_direction = np.roll(start, 1, axis=1), np.roll(direction, 1, axis=1)
    cross = (
        before_direction[..., 0] * direction[..., 1] - before_direction[..., 1] * direction[..., 0]
    )
    gap = start - before
    share = (gap[..., 0] * direction[..., 1] - gap[..., 1] * direction[..., 0]) / np.where(
        abs(cross) < 1e-9, 1e-9, cross
    )
    corners = before + before_direction * share[..., None]
    # A side that jumped away was no side of a square.
    moved = np.linalg.norm(corners - quads, axis=2).max(axis=1)
    length = np.linalg.norm(quads - np.roll(quads, 1, axis=1), axis=2).mean(axis=1)
    return np.where((moved > 0.4 * length)[:, None, None], quads, corners)
