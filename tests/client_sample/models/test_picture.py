# SPDX-License-Identifier: Apache-2.0
"""A photograph's place in an input, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from client_sample.models.picture import place


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
    """Of 27 rows of grey 13 are above, as in YOLO's own letterbox."""
    assert (64, 37, 0, 13) == place((640, 371), (64, 64), "letterbox")[1:]
