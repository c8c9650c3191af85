# SPDX-License-Identifier: Apache-2.0
"""An image becomes a model's input exactly as the rules' own program makes it."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from referee.extras.ovic.rules.model_rules import CENTRAL_SHARE
from referee.extras.ovic.rules.preprocessing import central_box, model_input


def bilinear(pixels: np.ndarray, height: int, width: int):
    """Scale by the definition: mix the four pixels around each pixel's own centre, no smoothing."""
    ys = (np.arange(height) + 0.5) * pixels.shape[0] / height - 0.5
    xs = (np.arange(width) + 0.5) * pixels.shape[1] / width - 0.5
    whole = pixels.astype(np.float64)
    last_y, last_x = pixels.shape[0] - 1, pixels.shape[1] - 1
    y0, x0 = np.floor(ys).astype(int), np.floor(xs).astype(int)
    wy, wx = (ys - y0)[:, None, None], (xs - x0)[None, :, None]

    def at(y, x):
        return whole[np.clip(y, 0, last_y)][:, np.clip(x, 0, last_x)]

    upper = at(y0, x0) * (1 - wx) + at(y0, x0 + 1) * wx
    lower = at(y0 + 1, x0) * (1 - wx) + at(y0 + 1, x0 + 1) * wx
    return upper * (1 - wy) + lower * wy


@pytest.mark.parametrize("task", ["detection", "classification"])
@pytest.mark.parametrize(("width", "height"), [(40, 30), (33, 64), (8, 8), (5, 3)])
def test_the_resize_is_bilinear_without_smoothing(task, width, height):
    """Each value is within one of the definition's, larger and smaller, for both tasks."""
    pixels = np.random.default_rng(5).integers(0, 256, (height, width, 3), dtype=np.uint8)
    share = CENTRAL_SHARE[task]
    found = model_input(Image.fromarray(pixels), 12, 10, share)
    left, top, right, bottom = central_box(width, height, share)
    expected = bilinear(pixels[top:bottom, left:right], 12, 10)
    assert ((1, 12, 10, 3), np.uint8) == (found.shape, found.dtype)
    assert np.abs(expected - found[0]).max() <= 1


@pytest.mark.parametrize(("width", "height"), [(640, 480), (333, 500), (17, 9)])
def test_opencv_resizes_alike(width, height):
    """OpenCV's INTER_LINEAR gives the same bytes, enlarging and reducing."""
    cv2 = pytest.importorskip("cv2", reason="needs the extra [camera]")
    pixels = np.random.default_rng(5).integers(0, 256, (height, width, 3), dtype=np.uint8)
    expected = cv2.resize(pixels, (320, 300), interpolation=cv2.INTER_LINEAR).astype(int)
    found = model_input(Image.fromarray(pixels), 300, 320, 1.0)[0]
    assert np.array_equal(expected, found)


def test_an_image_of_the_input_size_stays_as_it_is():
    """Without a cut and without a change of size the pixels pass unchanged."""
    pixels = np.random.default_rng(5).integers(0, 256, (7, 9, 3), dtype=np.uint8)
    assert np.array_equal(pixels[None], model_input(Image.fromarray(pixels), 7, 9, 1.0))


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGBA", "CMYK"])
def test_any_image_becomes_rgb(mode):
    """Grey, palette, transparent and print images all become three colours from 0 to 255."""
    picture = Image.new("RGB", (6, 6), (255, 255, 255)).convert(mode)
    assert np.array_equal(np.full((1, 4, 4, 3), 255, np.uint8), model_input(picture, 4, 4, 1.0))


@pytest.mark.parametrize(
    ("side", "cut"), [(224, 14), (227, 14), (256, 16), (500, 31), (8, 1), (3, 0), (1, 0)]
)
def test_the_centre_is_cut_as_the_sdk_rounds(side, cut):
    """Half a pixel rounds up: 8 keeps 7/8, half a pixel on each side, and loses a whole one."""
    assert (cut, cut, side - cut, side - cut) == central_box(side, side, 0.875)


def test_detection_takes_the_whole_image():
    """A mark in the corner of the image reaches a detector, and is cut away for a classifier."""
    picture = Image.new("RGB", (80, 80))
    picture.paste((255, 0, 0), (0, 0, 4, 4))
    whole = model_input(picture, 80, 80, CENTRAL_SHARE["detection"])
    centre = model_input(picture, 80, 80, CENTRAL_SHARE["classification"])
    assert (255, 0) == (whole.max(), centre.max())
