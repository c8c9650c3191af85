# SPDX-License-Identifier: Apache-2.0
"""The camera demo's detector looks at pixels, and nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from referee.demo.camera_device import coco_rows, learn

RED, GREY = (220, 20, 30), (90, 90, 90)


def picture(x, y, size=40):
    """Return a grey picture with a red square."""
    pixels = np.full((120, 160, 3), GREY, dtype=np.uint8)
    pixels[y : y + size, x : x + size] = RED
    return pixels


@pytest.fixture
def detector(tmp_path):
    """Return a detector that has learnt red squares, and a class that it never saw."""
    truth = {"categories": [{"id": 3, "name": "red"}, {"id": 9, "name": "unseen"}]}
    truth["images"] = [{"id": 1, "file_name": "1.png"}]
    truth["annotations"] = [{"image_id": 1, "category_id": 3, "bbox": [20, 30, 40, 40]}]
    Image.fromarray(picture(20, 30)).save(tmp_path / "1.png")
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    return learn(tmp_path, tmp_path / "truth.json")


def test_a_learnt_colour_is_found_where_it_is(detector):
    """A red square in another place gets one box around it, with its class."""
    ((class_id, sure, *box),) = detector(picture(70, 50))
    assert 3 == class_id
    assert 0.3 < sure <= 1.0
    assert np.allclose([70, 50, 109, 89], box, atol=4)


def test_nothing_is_found_in_a_plain_picture(detector):
    """Colours of the background are no detections."""
    assert [] == detector(np.full((120, 160, 3), GREY, dtype=np.uint8))


def test_corners_become_coco_boxes():
    """Inclusive corners become COCO's width and height."""
    (row,) = coco_rows(7, [(3, 0.5, 10, 20, 19, 24)])
    assert {"image_id": 7, "category_id": 3, "bbox": [10, 20, 10, 5], "score": 0.5} == row
