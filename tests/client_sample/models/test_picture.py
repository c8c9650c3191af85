# SPDX-License-Identifier: Apache-2.0
"""A photograph's place in an input, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from client_sample.models.picture import as_numbers, place


@pytest.mark.parametrize("photograph", [(131, 77), (77, 131), (1, 999), (640, 480), (33, 33)])
@pytest.mark.parametrize("size", [(64, 64), (65, 33), (640, 384)])
@pytest.mark.parametrize("fit", ["letterbox", "corner", "stretch"])
def test_the_way_back_undoes_the_way_there(photograph, size, fit):
    """The whole photograph's corners come back exactly, at every size."""
    placed = place(photograph, size, fit)
    left, top = placed.left, placed.top
    assert placed.width + left <= size[0] and placed.height + top <= size[1]
    there = np.array([[left, top, left + placed.width, top + placed.height]], np.float32)
    assert placed.back(there)[0] == pytest.approx([0, 0, *photograph], rel=1e-5)


def test_the_larger_half_of_an_odd_rest_is_below():
    """Of 27 rows of grey 13 are above, of 27 columns 13 are left, as in YOLO's own letterbox."""
    assert (64, 37, 0, 13) == place((640, 371), (64, 64), "letterbox")[1:]
    assert (37, 64, 13, 0) == place((371, 640), (64, 64), "letterbox")[1:]


@pytest.mark.parametrize(
    ("pixels", "black", "white"),
    [
        ("0-1", (0, 0, 0), (1, 1, 1)),
        ("0-255", (0, 0, 0), (255, 255, 255)),
        ("-1-1", (-1, -1, -1), (1, 1, 1)),
        ("imagenet", (-2.1179, -2.0357, -1.8044), (2.2489, 2.4286, 2.64)),
    ],
)
def test_black_and_white_are_the_ends_of_the_range(pixels, black, white):
    """The largest byte is the range's end exactly, not the 256th part below it."""
    image = np.array([[[0, 0, 0], [255, 255, 255]]], np.uint8)
    ((low, high),) = as_numbers(image, pixels, "rgb")
    assert (low, high) == (pytest.approx(black, abs=1e-4), pytest.approx(white, abs=1e-4))
