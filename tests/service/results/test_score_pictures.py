# SPDX-License-Identifier: Apache-2.0
"""Boxes on a photograph have labels that can be read whole, in a hall too."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from referee.service.results.score_pictures import LabelledBox, draw_boxes

GREEN = "#00aa00"
SMALL = (300.0, 200.0, 324.0, 230.0)


def test_a_large_label_hides_no_small_object() -> None:
    """It stands above its box, whose inside is the photograph's."""
    file = io.BytesIO()
    draw_boxes(file, None, (640, 480), [LabelledBox(SMALL, "cone 1.00", GREEN)], "", 1 / 16)
    with Image.open(file) as picture:
        inside = np.asarray(picture.convert("RGB"))[206:224, 306:319]
    assert 1 == len(np.unique(inside.reshape(-1, 3), axis=0))


def rows_of_label(share: float) -> int:
    """Return how many rows of pixels the letters of a label near the right edge have."""
    file = io.BytesIO()
    box = LabelledBox((500.0, 100.0, 520.0, 300.0), "fire engine 0.97", GREEN)
    draw_boxes(file, None, (640, 480), [box], "", label_share=share)
    with Image.open(file) as picture:
        letters = np.asarray(picture.convert("RGB")) == (0, 0xAA, 0)
    shown = letters.all(axis=2)
    assert not shown[:, -1].any()  # Nothing is cut at the edge.
    beside = shown[:, 530:].any(axis=1)  # Only letters are right of the box.
    return int(beside.sum())


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 8, 15), (1 / 16, 18, 30)])
def test_a_label_at_the_edge_is_whole(share: float, least: int, most: int) -> None:
    """It moves to the left until it fits, and is as large as asked for."""
    assert least <= rows_of_label(share) <= most
