# SPDX-License-Identifier: Apache-2.0
"""The hall where a screen is photographed: its walls, its lamps, and the flicker of the screen."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from referee.demo.severity import Severity

Floats = NDArray[np.float32]

# Glare is so smooth that every eighth pixel of it is enough.
_COARSE = 8


def surroundings(chance: np.random.Generator, size: tuple[int, int]) -> Floats:
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


def glare(severity: Severity, chance: np.random.Generator, size: tuple[int, int]) -> Floats:
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


def banding(severity: Severity, chance: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Return the factor of each row: a short exposure sees a dimmed backlight flicker."""
    depth, bands = chance.uniform(*severity.banding), chance.uniform(2, 14)
    phase = np.linspace(0, bands, size[1]) + chance.random()
    factor = 1 - depth * (0.5 + 0.5 * np.sin(2 * np.pi * phase))
    return factor.astype(np.float32)[:, None, None]
