# SPDX-License-Identifier: Apache-2.0
"""A second simulated camera, built in another way than the referee's: a check on the first.

It warps forward in display values instead of light, bends by Brown's polynomial, blurs by defocus
and by motion, and adds coloured noise before the blur and salt after it. It is at least as bad as
blur sigma 1.6, noise 4.5 %, glare of 170 pixels, gamma 0.75 to 1.35 and JPEG 60.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def other_photograph(
    screen: Pixels, chance: np.random.Generator, size: tuple[int, int] = (1280, 960)
) -> Pixels:
    """Photograph a screen's pixels (height, width, RGB); return the photograph in BGR."""
    width, height = size
    rows, columns = screen.shape[:2]
    corners = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], dtype=np.float32)
    inset = chance.uniform(0.05, 0.16, (4, 2)) * size
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    target += (inset * [[1, 1], [-1, 1], [-1, -1], [1, -1]]).astype(np.float32)
    # Keep the screen's shape, more or less.
    middle = target.mean(axis=0)
    shape = min(1.0, (width / height) / (columns / rows))
    target[:, 1] = middle[1] + (target[:, 1] - middle[1]) * shape
    matrix = cv2.getPerspectiveTransform(corners, target)
    around = cv2.resize(chance.integers(0, 90, (6, 8, 3), dtype=np.uint8), size)
    picture = np.asarray(around, dtype=np.uint8).copy()
    if max(rows, columns) > 1400:
        screen = cv2.GaussianBlur(screen, (0, 0), 0.6)
    cv2.warpPerspective(
        screen[..., ::-1], matrix, size, dst=picture, borderMode=cv2.BORDER_TRANSPARENT
    )
    picture = _bend(picture, chance.uniform(-0.08, 0.05), chance.uniform(-0.02, 0.02))
    value = picture.astype(np.float32) / 255
    coarse = chance.normal(0, 0.03, (height // 3, width // 3, 3)).astype(np.float32)
    value += cv2.resize(coarse, size)
    value = cv2.GaussianBlur(value, (0, 0), chance.uniform(0.8, 1.65))
    value = cv2.filter2D(value, -1, _motion(int(chance.integers(1, 4)), chance.random() < 0.5))
    for _ in range(int(chance.integers(1, 4))):
        spot = np.zeros((height, width), dtype=np.float32)
        place = tuple(int(v) for v in chance.uniform(0, 1, 2) * size)
        cv2.circle(spot, place, int(chance.integers(50, 86)), float(chance.uniform(0.5, 1.3)), -1)
        value += cv2.GaussianBlur(spot, (0, 0), 12)[..., None]
    value = np.clip(value * chance.uniform(0.6, 1.1, (1, 1, 3)), 0, 1) ** chance.uniform(0.75, 1.35)
    value += chance.normal(0, 0.045, value.shape)
    pixels = np.clip(255 * value, 0, 255).astype(np.uint8)
    pixels[chance.random((height, width)) < 0.0005] = 255
    _, file = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, int(chance.integers(55, 80))])
    return np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), dtype=np.uint8)


def _bend(picture: Pixels, k1: float, k2: float) -> Pixels:
    """Undo a lens of Brown's model that never was: the opposite distortion."""
    height, width = picture.shape[:2]
    camera = np.array([[0.8 * width, 0, width / 2], [0, 0.8 * width, height / 2], [0, 0, 1]])
    return np.asarray(cv2.undistort(picture, camera, np.array([k1, k2, 0, 0])), dtype=np.uint8)


def _motion(length: int, level: bool) -> NDArray[np.float32]:
    kernel = np.ones((1, length) if level else (length, 1), dtype=np.float32)
    return kernel / length
