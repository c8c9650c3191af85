# SPDX-License-Identifier: Apache-2.0
"""Photographs of screens in a hall, spoiled one way at a time, as a test chooses.

A third simulated camera: several screens may stand in view, the lens may have its middle anywhere,
and light is lost or added where a test says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
Points = NDArray[np.float64]
Lens = Callable[[Points], Points]

_GAMMA = 2.2
_SAMPLES = 2  # a pixel and axis
_SOFT_PX = 4.0
_COARSE = 8  # Between every eighth pixel the map is straight to a thousandth of one.
SIZE = 1280, 960
UPRIGHT = ((132.0, 184.0), (1136.0, 176.0), (1162.0, 781.0), (132.0, 775.0))


@dataclass(frozen=True, eq=False)
class Shown:
    """A screen's pixels (RGB), and where its corners are for an ideal lens, from the upper left.

    `light` is how bright it is. Below the photograph's row `torn_at` it shows `after`.
    """

    pixels: Pixels
    corners: tuple[tuple[float, float], ...] = UPRIGHT
    light: float = 1.0
    after: Pixels | None = None
    torn_at: float = math.inf

    @property
    def matrix(self) -> Points:
        """Return the map from the screen to the ideal photograph."""
        height, width = self.pixels.shape[:2]
        own = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
        return cv2.getPerspectiveTransform(own, np.array(self.corners, dtype=np.float32))


@dataclass(frozen=True)
class Band:
    """Rows (or columns) of the photograph in which the screens' backlight was off, or dimmed."""

    start: float
    end: float
    light: float = 0.0
    upright: bool = False


@dataclass(frozen=True)
class Glare:
    """A lamp's reflection: an ellipse of light with soft edges."""

    x: float
    y: float
    wide: float
    high: float
    light: float = 3.0


@dataclass(frozen=True)
class Pane:
    """A window's reflection: an upright rectangle of light, out of focus by a Gaussian's sigma."""

    left: float
    top: float
    right: float
    bottom: float
    soft_px: float
    light: float = 3.0


@dataclass(frozen=True, eq=False)
class Camera:
    """How the photograph is taken; `lens` maps its points to those of an ideal one."""

    size: tuple[int, int] = SIZE
    lens: Lens = field(default=lambda points: points)
    blur_px: float = 0.8
    noise: float = 0.008
    room: float = 0.02
    gain: float = 1.0
    jpeg: int = 90
    seed: int = 0

    def take(
        self,
        screens: Sequence[Shown],
        bands: Sequence[Band] = (),
        glares: Sequence[Glare | Pane] = (),
    ) -> Pixels:
        """Return the photograph in BGR."""
        light = np.full((self.size[1], self.size[0], 3), self.room, dtype=np.float32)
        ideal = self._ideal()
        for shown in screens:
            _show(light, shown, ideal, _dimmed(self.size, bands))
        for glare in glares:
            light += _pane(self.size, glare) if isinstance(glare, Pane) else _spot(self.size, glare)
        light = np.asarray(cv2.GaussianBlur(light, (0, 0), self.blur_px), dtype=np.float32)
        value = np.clip(self.gain * light, 0, 1) ** (1 / _GAMMA)
        value += np.random.default_rng(self.seed).normal(0, self.noise, value.shape)
        pixels = np.clip(255 * value + 0.5, 0, 255).astype(np.uint8)
        _, file = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, self.jpeg])
        return np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), dtype=np.uint8)

    def seen(self, ideal: Points) -> Points:
        """Return where points of the ideal photograph are in the real one."""
        points = ideal.copy()
        for _ in range(60):
            points = points + 0.7 * (ideal - self.lens(points))
        return points

    def source_error(self, corners: Points, shown: Shown, rect: tuple[float, ...]) -> float:
        """Return by how many of the screen's pixels the image's corners in a photograph miss."""
        left, top, right, bottom = rect
        true = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=float)
        back = np.linalg.inv(shown.matrix)
        found = cv2.perspectiveTransform(self.lens(corners)[None], back)[0]
        return float(np.linalg.norm(found - true, axis=1).max())

    def _ideal(self) -> Points:
        """Return the ideal points of every eighth pixel, and of one more beyond each edge."""
        width, height = self.size
        x, y = np.meshgrid(
            (np.arange(-1, width // _COARSE + 2) + 0.5) * _COARSE,
            (np.arange(-1, height // _COARSE + 2) + 0.5) * _COARSE,
        )
        return self.lens(np.stack([x, y], axis=-1))


def barrel(
    k1: float,
    k2: float = 0.0,
    centre: tuple[float, float] = (0.5, 0.5),
    size: tuple[int, int] = SIZE,
) -> Lens:
    """Return a lens that bends by r (1 + k1 r² + k2 r⁴) on the way back, about any centre.

    r is 1 at half of the diagonal; `centre` is in widths and heights of the photograph.
    """
    middle, half = np.array(centre) * size, math.hypot(*size) / 2

    def straightened(points: Points) -> Points:
        own = (points - middle) / half
        r2 = (own**2).sum(axis=-1, keepdims=True)
        return np.asarray(own * (1 + k1 * r2 + k2 * r2 * r2) * half + middle)

    return straightened


def brown(
    k1: float,
    p1: float = 0.0,
    p2: float = 0.0,
    k2: float = 0.0,
    centre: tuple[float, float] = (0.5, 0.5),
    size: tuple[int, int] = SIZE,
    focal: float = 0.8,
) -> Lens:
    """Return a lens of Brown's model, as OpenCV has it: its way back is no polynomial."""
    middle = np.array(centre) * size
    matrix = np.array([[focal * size[0], 0, middle[0]], [0, focal * size[0], middle[1]], [0, 0, 1]])

    def straightened(points: Points) -> Points:
        flat = np.ascontiguousarray(points.reshape(-1, 1, 2))
        own = cv2.undistortPoints(flat, matrix, np.array([k1, k2, p1, p2]), P=matrix)
        return np.asarray(own).reshape(points.shape)

    return straightened


def fisheye(
    degrees: float, centre: tuple[float, float] = (0.5, 0.5), size: tuple[int, int] = SIZE
) -> Lens:
    """Return an equidistant lens that sees half so many degrees from its middle to a corner."""
    middle, half = np.array(centre) * size, math.hypot(*size) / 2
    most = math.radians(degrees / 2)

    def straightened(points: Points) -> Points:
        own = (points - middle) / half
        radius = np.maximum(1e-9, np.linalg.norm(own, axis=-1, keepdims=True))
        angle = np.minimum(radius * most, 1.5)
        return np.asarray(own / radius * np.tan(angle) / most * half + middle)

    return straightened


def beside(shown: Shown, left: float, right: float, size: tuple[int, int], y: float = 0.5) -> Shown:
    """Return the screen upright between two shares of the photograph's width."""
    rows, columns = shown.pixels.shape[:2]
    width = (right - left) * size[0]
    top, bottom = y * size[1] - width * rows / columns / 2, y * size[1] + width * rows / columns / 2
    tilt = 0.012 * width
    return replace(
        shown,
        corners=(
            (left * size[0], top - tilt),
            (right * size[0], top + tilt),
            (right * size[0], bottom - tilt),
            (left * size[0] + tilt, bottom + tilt),
        ),
    )


def _show(light: Floats, shown: Shown, ideal: Points, dimmed: Floats) -> None:
    """Put a screen's light over what is behind it; its case is black."""
    places = _places(shown, ideal, light.shape)
    own = _seen(shown.pixels, places, light.shape)
    if shown.after is not None:
        rows = np.arange(light.shape[0])
        share = np.clip((rows - shown.torn_at) / _SOFT_PX + 0.5, 0, 1)[:, None, None]
        own += share.astype(np.float32) * (_seen(shown.after, places, light.shape) - own)
    case = round(0.02 * max(shown.pixels.shape))
    height, width = shown.pixels.shape[:2]
    inside = np.full((height + 2 * case, width + 2 * case), 255, dtype=np.uint8)
    covered = cv2.remap(inside, places + case, None, cv2.INTER_LINEAR, borderValue=0)  # type: ignore[call-overload]
    cover = cv2.resize(covered, (light.shape[1], light.shape[0]), interpolation=cv2.INTER_AREA)
    share = (cover / 255.0).astype(np.float32)[..., None]
    light *= 1 - share
    light += share * (shown.light * own * dimmed + 0.0005)


def _places(shown: Shown, ideal: Points, shape: tuple[int, ...]) -> Floats:
    """Return the place on the screen of each sample, as OpenCV counts pixels."""
    mapped = ideal @ (back := np.linalg.inv(shown.matrix))[:, :2].T + back[:, 2]
    ahead = np.where(abs(mapped[..., 2:]) < 1e-9, 1e-9, mapped[..., 2:])
    coarse = (mapped[..., :2] / ahead).astype(np.float32)
    step = _COARSE * _SAMPLES
    rows, columns = coarse.shape[:2]
    fine = np.asarray(cv2.resize(coarse, (columns * step, rows * step)), dtype=np.float32)
    high, wide = _SAMPLES * shape[0], _SAMPLES * shape[1]
    return fine[step : step + high, step : step + wide] - np.float32(0.5)


def _seen(pixels: Pixels, places: Floats, shape: tuple[int, ...]) -> Floats:
    table = ((np.arange(256) / 255) ** _GAMMA).astype(np.float32)
    fine = cv2.remap(cv2.LUT(pixels, table), places, None, cv2.INTER_LINEAR, borderValue=0)  # type: ignore[call-overload]
    small = cv2.resize(fine, (shape[1], shape[0]), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.float32)


def _dimmed(size: tuple[int, int], bands: Sequence[Band]) -> Floats:
    factor = np.ones((size[1], size[0]))
    for band in bands:
        along = np.arange(size[0] if band.upright else size[1])
        inside = np.clip((along - band.start) / _SOFT_PX + 0.5, 0, 1)
        inside *= np.clip((band.end - along) / _SOFT_PX + 0.5, 0, 1)
        share = 1 - (1 - band.light) * inside
        factor *= share[None, :] if band.upright else share[:, None]
    return factor.astype(np.float32)[..., None]


def _spot(size: tuple[int, int], glare: Glare) -> Floats:
    y, x = np.mgrid[: size[1], : size[0]]
    distance = np.hypot((x - glare.x) / glare.wide, (y - glare.y) / glare.high)
    return (glare.light * np.exp(-(distance**4))).astype(np.float32)[..., None]


def _pane(size: tuple[int, int], pane: Pane) -> Floats:
    y, x = np.arange(size[1]), np.arange(size[0])
    spot = np.zeros((size[1], size[0]), dtype=np.float32)
    inside = ((y >= pane.top) & (y < pane.bottom))[:, None] & ((x >= pane.left) & (x < pane.right))
    spot[inside] = pane.light
    return np.asarray(cv2.GaussianBlur(spot, (0, 0), pane.soft_px), dtype=np.float32)[..., None]
