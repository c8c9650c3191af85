# SPDX-License-Identifier: Apache-2.0
"""From a photograph to a model's input, and from its boxes back to the photograph's pixels."""

from __future__ import annotations

import io
from typing import Any, NamedTuple, Tuple

import numpy as np
from PIL import Image

Size = Tuple[int, int]

# Grey around a letterbox, as YOLO's authors train.
_GREY = (114, 114, 114)
_MEAN = np.array((0.485, 0.456, 0.406), np.float32)
_DEVIATION = np.array((0.229, 0.224, 0.225), np.float32)


class Placed(NamedTuple):
    """Where a photograph lies in a model's input: its size there, and its left upper corner."""

    photograph: Size
    width: int
    height: int
    left: int = 0
    top: int = 0

    def back(self, corners: Any) -> Any:
        """Return corners of the input as corners of the photograph, cut off at its edges."""
        width, height = self.photograph
        moved = corners - np.array([self.left, self.top] * 2, np.float32)
        scaled = moved * np.array([width / self.width, height / self.height] * 2, np.float32)
        return np.clip(scaled, 0, np.array([width, height] * 2, np.float32))


def place(photograph: Size, size: Size, fit: str) -> Placed:
    """Return where a photograph lies in an input of a size."""
    if fit == "stretch":
        return Placed(photograph, *size)
    ratio = min(size[0] / photograph[0], size[1] / photograph[1])
    width, height = (max(1, min(round(side * ratio), most)) for side, most in zip(photograph, size))
    if fit == "corner":
        return Placed(photograph, width, height)
    # Of an odd rest the larger half is on the right and below, as with YOLO's authors.
    return Placed(photograph, width, height, (size[0] - width) // 2, (size[1] - height) // 2)


def opened(jpeg_bytes: bytes) -> Any:
    """Return a photograph as RGB, as it is stored: ground truth is in the stored pixels."""
    with Image.open(io.BytesIO(jpeg_bytes)) as picture:
        return picture.convert("RGB")


def drawn(picture: Any, placed: Placed, size: Size) -> Any:
    """Return the input's picture as an array of bytes, height x width x 3."""
    width, height = placed.photograph
    # Bilinear without smoothing, as YOLO's and SSD's authors resize: OpenCV's way.
    small = picture
    if (placed.width, placed.height) != placed.photograph:
        small = picture.transform(
            (placed.width, placed.height),
            Image.Transform.EXTENT,
            (0, 0, width, height),
            Image.Resampling.BILINEAR,
        )
    if small.size == size:
        return np.asarray(small)
    ground = Image.new("RGB", size, _GREY)
    ground.paste(small, (placed.left, placed.top))
    return np.asarray(ground)


def as_numbers(image: Any, pixels: str, colours: str) -> Any:
    """Return an array of bytes as the numbers that a model was trained with."""
    if colours == "bgr":
        image = image[:, :, ::-1]
    numbers = image.astype(np.float32)
    if pixels == "0-255":
        return numbers
    if pixels == "-1-1":
        return (numbers - 127.5) / 127.5
    numbers /= 255
    if pixels == "imagenet":
        mean, deviation = _MEAN, _DEVIATION
        if colours == "bgr":
            mean, deviation = mean[::-1], deviation[::-1]
        numbers = (numbers - mean) / deviation
    return numbers
