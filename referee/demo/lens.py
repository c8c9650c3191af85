# SPDX-License-Identifier: Apache-2.0
"""A camera that nobody has to plug in: it photographs the pixels of a screen.

The light goes the way that it goes in a hall: the screen stands in a room, a lens bends and blurs
the picture, lamps shine on the glass, the sensor adds noise, and the camera adjusts the colours and
compresses. All sizes refer to a photograph of 1280x960 pixels. A frame of 1920x1080 then has about
0.55 pixels of the photograph for each of its own, so fine patterns alias.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from referee.demo.severity import Severity

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]

PHOTO_SIZE = 1280, 960
_SCREEN_GAMMA = 2.2
_COARSE = 8  # Distortion and glare are so smooth that every eighth pixel is enough.
_FOCAL = 1.15  # focal length in widths of the photograph: some 47 degrees from side to side


@dataclass(frozen=True, eq=False)
class PhotographGeometry:
    """The geometry of one photograph: where the points of the screen lie in it."""

    matrix: NDArray[np.float64]
    bend: float
    size: tuple[int, int]

    def on_screen(self, samples: int) -> Floats:
        """Return the screen's x and y for each pixel of the photograph, or part of a pixel."""
        width, height = self.size
        # The map is smooth: between every eighth pixel it is straight to a thousandth of one.
        x, y = np.meshgrid(
            (np.arange(-1, width // _COARSE + 2) + 0.5) * _COARSE,
            (np.arange(-1, height // _COARSE + 2) + 0.5) * _COARSE,
        )
        points = self._centred(np.stack([x, y], axis=-1))
        points = points * (1 + self.bend * (points**2).sum(axis=-1, keepdims=True))
        points = self._uncentred(points)
        back = np.linalg.inv(self.matrix)
        mapped = points @ back[:, :2].T + back[:, 2]
        coarse = (mapped[..., :2] / mapped[..., 2:]).astype(np.float32)
        step = _COARSE * samples
        rows, columns = coarse.shape[:2]
        fine = np.asarray(cv2.resize(coarse, (columns * step, rows * step)), dtype=np.float32)
        return fine[step : step + height * samples, step : step + width * samples]

    def _centred(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        centre, half = np.array(self.size) / 2, math.hypot(*self.size) / 2
        return (points - centre) / half

    def _uncentred(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        centre, half = np.array(self.size) / 2, math.hypot(*self.size) / 2
        return points * half + centre


@dataclass(frozen=True, eq=False)
class Photograph:
    """A photograph's pixels (height, width, RGB), and its geometry."""

    pixels: Pixels
    view: PhotographGeometry


def photograph(
    screen: Pixels,
    severity: Severity,
    chance: np.random.Generator,
    *,
    size: tuple[int, int] = PHOTO_SIZE,
    other: Pixels | None = None,
) -> Photograph:
    """Photograph a screen's pixels (height, width, RGB).

    `other` is the frame before or after. If it is given, the camera catches the change: an upper
    part of the photograph shows `screen`, the rest shows `other`.
    """
    view = _view(screen, severity, chance, size)
    around = _surroundings(chance, size)
    light = _light(screen, view, around, severity.samples)
    if other is not None:
        _mix(light, _light(other, view, around, severity.samples), chance)
    light += _glare(severity, chance, size)
    sigma = chance.uniform(*severity.blur_px)
    light = np.asarray(cv2.GaussianBlur(light, (0, 0), sigma), dtype=np.float32)
    light *= _banding(severity, chance, size)
    return Photograph(_develop(light, severity, chance), view)


def _view(
    screen: Pixels, severity: Severity, chance: np.random.Generator, size: tuple[int, int]
) -> PhotographGeometry:
    """Choose where the camera stands: the whole screen is in the photograph."""
    height, width = screen.shape[:2]
    tilt, roll = (
        math.radians(chance.uniform(*span)) * chance.choice((-1, 1))
        for span in (severity.tilt_degrees, severity.roll_degrees)
    )
    axis = chance.uniform(0, 2 * math.pi)
    lean = np.array([tilt * math.cos(axis), tilt * math.sin(axis), 0.0])
    turned = cv2.Rodrigues(np.array([0.0, 0.0, roll]))[0] @ cv2.Rodrigues(lean)[0]
    # The screen's middle is the origin, and its longer side is 1 long.
    unit = 1 / max(width, height)
    plane = np.array([[unit, 0, -width * unit / 2], [0, unit, -height * unit / 2], [0, 0, 1.0]])
    pose = np.column_stack([turned[:, 0], turned[:, 1], (0, 0, 2.0)])
    focal = _FOCAL * size[0]
    matrix = np.diag([focal, focal, 1.0]) @ pose @ plane
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1.0]]) @ matrix.T
    corners = corners[:, :2] / corners[:, 2:]
    low, high = corners.min(axis=0), corners.max(axis=0)
    room = np.array(size, dtype=np.float64)
    scale = chance.uniform(*severity.fill) * (room / (high - low)).min()
    spare = room - scale * (high - low)
    offset = spare * chance.uniform(0.3, 0.7, 2) - scale * low
    matrix = np.array([[scale, 0, offset[0]], [0, scale, offset[1]], [0, 0, 1.0]]) @ matrix
    bend = chance.uniform(*severity.distortion) * chance.choice((-1, 1))
    return PhotographGeometry(matrix, float(bend), size)


def _light(screen: Pixels, view: PhotographGeometry, around: Floats, samples: int) -> Floats:
    """Return the light that reaches each pixel of the sensor, from 0 to 1 for a screen's white."""
    places = view.on_screen(samples) - 0.5  # OpenCV counts from the middle of the first pixel
    table = ((np.arange(256) / 255) ** _SCREEN_GAMMA).astype(np.float32)
    light = _remap(cv2.LUT(screen, table), places)
    light = np.asarray(cv2.resize(light, view.size, interpolation=cv2.INTER_AREA))
    # The screen's case is black.
    case = round(0.02 * max(screen.shape))
    inside = np.full((screen.shape[0] + 2 * case, screen.shape[1] + 2 * case), 255, dtype=np.uint8)
    covered = _remap(inside, places[::samples, ::samples] + case)
    np.copyto(light, around, where=(covered == 0)[..., None])
    return light


def _remap(picture: NDArray[Any], places: Floats) -> NDArray[Any]:
    """Return what a picture has at these places; beyond it is black."""
    x, y = cv2.split(places)
    return np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderValue=0))


def _mix(light: Floats, other: Floats, chance: np.random.Generator) -> None:
    """Replace the lower part by another frame, with a short change between, as a shutter rolls."""
    height = len(light)
    row = chance.uniform(0.3, 0.7) * height
    share = np.clip((np.arange(height) - row) / 20 + 0.5, 0, 1).astype(np.float32)[:, None, None]
    light += share * (other - light)


def _develop(light: Floats, severity: Severity, chance: np.random.Generator) -> Pixels:
    """Turn light into the file of a camera: noise, white balance, gamma, JPEG."""
    gains = chance.uniform(*severity.gain) * (1 + severity.cast * chance.uniform(-1, 1, 3))
    exponent = chance.uniform(*severity.gamma) / _SCREEN_GAMMA
    table = ((np.arange(4096) / 4095) ** exponent).astype(np.float32)
    light *= 4095 * gains.astype(np.float32)
    value = table[np.clip(light, 0, 4095).astype(np.uint16)]
    noise = chance.standard_normal(value.shape, dtype=np.float32)
    value += np.float32(chance.uniform(*severity.noise)) * noise
    pixels = np.clip(255 * value + 0.5, 0, 255).astype(np.uint8)
    low, high = severity.jpeg_quality
    quality = int(chance.integers(low, high + 1))
    _, file = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR))[..., ::-1].astype(np.uint8)


def _surroundings(chance: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Return the light of what surrounds the screen: a dark box, or a hall with bright things."""
    width, height = size
    if chance.random() < 0.5:
        return np.full((height, width, 3), chance.uniform(0, 0.02), dtype=np.float32)
    small = chance.uniform(0.02, 0.35, (12, 16, 3)).astype(np.float32)
    room: Floats = np.asarray(
        cv2.resize(small, size, interpolation=cv2.INTER_CUBIC), dtype=np.float32
    )
    for _ in range(int(chance.integers(2, 10))):
        x, y = int(chance.integers(0, width)), int(chance.integers(0, height))
        dx, dy = (int(value) for value in chance.integers(20, 200, 2))
        colour = chance.uniform(0, 0.9, 3).tolist()
        cv2.rectangle(room, (x, y), (x + dx, y + dy), colour, -1)
    grain = chance.uniform(0.7, 1.3, (height // 2, width // 2, 1)).astype(np.float32)
    room *= np.asarray(cv2.resize(grain, size), dtype=np.float32)[..., None]
    return np.clip(room, 0, 1)


def _glare(severity: Severity, chance: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Return the light of lamps that the glass reflects: bright spots with soft edges."""
    width, height = size
    y, x = np.mgrid[:height:_COARSE, :width:_COARSE] + _COARSE / 2
    total = np.zeros(x.shape)
    for _ in range(int(chance.integers(severity.glare_spots[0], severity.glare_spots[1] + 1))):
        middle_x, middle_y = chance.uniform(0.05, 0.95, 2) * size
        radius = chance.uniform(*severity.glare_px) / 2
        distance = np.hypot(x - middle_x, y - middle_y) / radius
        total += chance.uniform(*severity.glare) * np.exp(-(distance**4))
    spots = cv2.resize(total.astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
    return np.maximum(spots, 0)[..., None].astype(np.float32)


def _banding(severity: Severity, chance: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Return the factor of each row: a short exposure sees a dimmed backlight flicker."""
    depth, bands = chance.uniform(*severity.banding), chance.uniform(2, 14)
    phase = np.linspace(0, bands, size[1]) + chance.random()
    factor = 1 - depth * (0.5 + 0.5 * np.sin(2 * np.pi * phase))
    return factor.astype(np.float32)[:, None, None]
