# SPDX-License-Identifier: Apache-2.0
"""Noise at several scales that roughens drawn pictures; it is made once and cut to pieces."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_SIDE = 1024  # pixels of each side of a sheet of noise; pictures are about half as large


def _octaves(
    noise: np.random.Generator, cells: list[tuple[int, int, float]]
) -> NDArray[np.float32]:
    """Add up noise of several grains, each with cell width and height in pixels and a weight."""
    sheet = np.zeros((_SIDE, _SIDE), dtype=np.float32)
    for width, height, weight in cells:
        coarse = noise.standard_normal((_SIDE // height + 2, _SIDE // width + 2), dtype=np.float32)
        fine = Image.fromarray(coarse).resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
        sheet += weight * np.asarray(fine)
    return np.asarray(sheet / sheet.std(), dtype=np.float32)


class Textures:
    """Sheets of noise with mean about 0 and deviation 1, a source of random pieces."""

    def __init__(self, seed: int) -> None:
        noise = np.random.default_rng(seed)
        self._sheets = {
            "clouds": _octaves(noise, [(256, 128, 4), (128, 64, 2), (64, 32, 1), (24, 16, 0.4)]),
            "rough": _octaves(noise, [(96, 96, 1), (32, 32, 1), (12, 12, 1), (5, 5, 1), (2, 2, 1)]),
            "blades": _octaves(noise, [(64, 64, 1), (3, 16, 1.2), (2, 8, 1), (2, 3, 0.6)]),
            "waves": _octaves(noise, [(160, 12, 1), (60, 6, 1.4), (24, 4, 1), (8, 2, 0.7)]),
            "wood": _octaves(noise, [(700, 20, 1), (500, 6, 1.2), (300, 3, 0.8), (60, 2, 0.4)]),
            "light": _octaves(noise, [(48, 40, 1), (20, 18, 0.6)]),
            "grain": _octaves(noise, [(1, 1, 1), (2, 2, 0.7)]),
        }

    def cut(self, name: str, height: int, width: int, chance: random.Random) -> NDArray[np.float32]:
        """Return a piece of a sheet from a random place."""
        top = chance.randrange(_SIDE - height + 1)
        left = chance.randrange(_SIDE - width + 1)
        return self._sheets[name][top : top + height, left : left + width]
