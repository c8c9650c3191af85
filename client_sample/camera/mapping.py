# SPDX-License-Identifier: Apache-2.0
"""From the screen to the photograph: a homography, and a lens that bends straight lines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

_ROUNDS = 8  # of the fixed point that undoes a lens


def sample(gray: NDArray[np.uint8], points: Points) -> NDArray[np.float64]:
    """Return the brightness at points (..., 2), between pixels by linear interpolation.

    0, 0 is the upper left corner of the first pixel. Outside the picture it is that of the edge.
    """
    # A wrong guess maps points to anywhere, also to no place at all.
    near = np.nan_to_num(points.reshape(-1, 2), nan=-1e6, posinf=1e6, neginf=-1e6)
    flat = (np.clip(near, -1e6, 1e6) - 0.5).astype(np.float32)
    # OpenCV's maps have at most 32,767 rows and columns.
    width = 1 << 12
    rows = -(-len(flat) // width)
    table = np.zeros((rows * width, 2), dtype=np.float32)
    table[: len(flat)] = flat
    x, y = table.reshape(rows, width, 2).transpose(2, 0, 1).copy()
    picture = cv2.remap(gray, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    values = np.asarray(picture, dtype=np.float64).reshape(-1)[: len(flat)]
    return values.reshape(points.shape[:-1])


def misfits_of_views(screen: Points, photo: Points) -> NDArray[np.float64]:
    """Return how far each of many views (n, k, 2) is from a homography: a root mean square.

    This solves the equations of all views at once, hundreds in the time that OpenCV needs for ten.
    It weighs the points a little differently, which does not matter for a comparison of guesses.
    A view that no homography fits has an infinite misfit.
    """
    (x, y), (u, v) = (np.moveaxis(_near_one(points), -1, 0) for points in (screen, photo))
    one, none = np.ones_like(x), np.zeros_like(x)
    rows = [
        np.stack([x, y, one, none, none, none, -u * x, -u * y], axis=-1),
        np.stack([none, none, none, x, y, one, -v * x, -v * y], axis=-1),
    ]
    system, aim = np.concatenate(rows, axis=1), np.concatenate([u, v], axis=1)[..., None]
    across = system.transpose(0, 2, 1)
    # Points on one line leave some numbers free; the small addition sets these to 0.
    square = across @ system + 1e-9 * np.eye(8)
    solved = np.linalg.solve(square, across @ aim)[..., 0]
    matrix = np.concatenate([solved, np.ones((len(solved), 1))], axis=1).reshape(-1, 3, 3)
    mapped = np.stack([x, y, one], axis=-1) @ matrix.transpose(0, 2, 1)
    with np.errstate(all="ignore"):  # Points on the camera's horizon are nowhere.
        error = mapped[..., :2] / mapped[..., 2:] - np.stack([u, v], axis=-1)
        misfit = np.sqrt((error**2).sum(axis=-1).mean(axis=-1))
    return np.asarray(np.nan_to_num(misfit * _spread(photo)[:, 0, 0], nan=np.inf))


def _near_one(points: Points) -> Points:
    return np.asarray((points - points.mean(axis=1, keepdims=True)) / _spread(points))


def _spread(points: Points) -> Points:
    """Return the larger of the width and the height of each set of points, as (n, 1, 1)."""
    return np.asarray(np.maximum(1e-9, np.ptp(points, axis=1).max(axis=1))[:, None, None])


@dataclass(frozen=True, eq=False)
class Mapping:
    """A map from points of the screen to points of a photograph of `size`.

    `matrix` maps the screen into the plane of an ideal camera, whose unit is half the photograph's
    diagonal and whose origin is its middle. There `bends` move a point at the distance r from the
    `centre` to r (1 + k1 r² + k2 r⁴ + ...). A lens that is not straight before the
    sensor, or a picture that was cut, has its centre beside the middle.
    """

    matrix: NDArray[np.float64]
    bends: Tuple[float, ...]
    size: Tuple[int, int]
    centre: Tuple[float, float] = (0.0, 0.0)

    @classmethod
    def fit(
        cls,
        screen: Points,
        photo: Points,
        size: Tuple[int, int],
        bend: float = 0,
        centre: Tuple[float, float] = (0.0, 0.0),
    ) -> Mapping:
        """Return the map that takes points to points as well as possible, for this lens."""
        ideal = _straightened(_centred(photo, size) - centre, (bend,)) + centre
        # OpenCV finds a homography well only if the numbers are near 1.
        scale = 1 / np.ptp(screen, axis=0).max()
        # It is None for points on one line, which the types of OpenCV do not say.
        homography: Any = cv2.findHomography(screen * scale, ideal, 0)[0]
        matrix = np.full((3, 3), np.nan) if homography is None else np.asarray(homography)
        return cls(matrix @ np.diag([scale, scale, 1.0]), (bend,), size, centre)

    def __call__(self, points: Points) -> Points:
        """Return where points of the screen (..., 2) are in the photograph."""
        flat = points.reshape(-1, 2)
        mapped = flat @ self.matrix[:, :2].T + self.matrix[:, 2]
        with np.errstate(all="ignore"):  # Points on the camera's horizon are nowhere.
            ideal = mapped[:, :2] / mapped[:, 2:] - self.centre
            bent = ideal * _factor(ideal, self.bends) + self.centre
        half = math.hypot(*self.size) / 2
        return np.asarray(bent * half + np.array(self.size) / 2).reshape(points.shape)

    def back(self, photo: Points) -> Points:
        """Return which points of the screen are at these of the photograph (n, 2)."""
        with np.errstate(all="ignore"):  # Far outside of the frame the lens is not known.
            ideal = _straightened(_centred(photo, self.size) - self.centre, self.bends)
            inverse = np.linalg.inv(self.matrix)
            mapped = (ideal + self.centre) @ inverse[:, :2].T + inverse[:, 2]
            return np.asarray(mapped[:, :2] / mapped[:, 2:])

    def turned(self, width: float, height: float) -> Mapping:
        """Return the map of a screen of this size that stands upside down."""
        turn = np.array([[-1, 0, width], [0, -1, height], [0, 0, 1.0]])
        return replace(self, matrix=self.matrix @ turn)

    def scaled(self, x: float, y: float) -> Mapping:
        """Return the map of a screen whose pixels are so many times as large."""
        return replace(self, matrix=self.matrix @ np.diag([x, y, 1.0]))


def _centred(points: Points, size: Tuple[int, int]) -> Points:
    return np.asarray((points - np.array(size) / 2) * (2 / math.hypot(*size)))


def _factor(ideal: Points, bends: Tuple[float, ...]) -> Points:
    """Return how much farther from the centre a lens moves points, by their distance from it."""
    r2 = (ideal**2).sum(axis=-1, keepdims=True)
    factor = np.zeros_like(r2)
    for bend in reversed(bends):
        factor = r2 * (bend + factor)
    return np.asarray(1 + factor)


def _straightened(points: Points, bends: Tuple[float, ...]) -> Points:
    """Undo the lens: the fixed point of r = bent / (1 + k1 r² + ...)."""
    ideal = points
    for _ in range(_ROUNDS):
        ideal = points / _factor(ideal, bends)
    return ideal
