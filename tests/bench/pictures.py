# SPDX-License-Identifier: Apache-2.0
"""A picture of the size that the contest's images have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

IMAGE_BYTES = 110_000


def make_image(path: Path) -> None:
    """Write a JPEG of noise, 400x300 pixels and just under 110 kB."""
    noise = np.random.default_rng(1).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    quality = 95
    Image.fromarray(noise).save(path, quality=quality)
    while path.stat().st_size > IMAGE_BYTES:
        quality -= 1
        Image.fromarray(noise).save(path, quality=quality)
