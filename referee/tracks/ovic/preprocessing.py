# SPDX-License-Identifier: Apache-2.0
"""How an image becomes a model's input: RGB from 0 to 255 in the model's own size.

Source: `convertBitmapToInput` of OVIC's SDK, tensorflow/lite/java/ovic. Detection resizes the whole
image. Classification first cuts out the centre, 87.5 % of each side. Both then scale to exactly the
input's height and width, whatever the image's shape, by bilinear interpolation without smoothing:
each pixel of the result mixes the four pixels around its own centre, and fractions are cut off.
Smoothing (Pillow's `resize`,
"antialias" elsewhere) is another resize, and changes the score by percentage points.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CENTRAL_SHARE = {"detection": 1.0, "classification": 0.875}
"""The share of each side that is kept around the centre, by task."""

Box = tuple[int, int, int, int]


def model_input(
    picture: Image.Image, height: int, width: int, central_share: float
) -> NDArray[np.uint8]:
    """Return a picture as uint8 RGB of the shape (1, height, width, 3)."""
    centre = picture.convert("RGB").crop(central_box(*picture.size, central_share))
    scaled = centre.transform(
        (width, height),
        Image.Transform.EXTENT,
        (0, 0, *centre.size),
        Image.Resampling.BILINEAR,
    )
    return np.asarray(scaled, dtype=np.uint8)[None]


def central_box(width: int, height: int, share: float) -> Box:
    """Return left, top, right and bottom of the central part, as the SDK rounds them.

    Half a pixel rounds up. The same number of pixels goes on the left and on the right.
    """
    left, top = _cut(width, share), _cut(height, share)
    return left, top, width - left, height - top


def _cut(side: int, share: float) -> int:
    return math.floor((side - side * share) / 2 + 0.5)
