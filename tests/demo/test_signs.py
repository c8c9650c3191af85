# SPDX-License-Identifier: Apache-2.0
"""The camera demo's pictures show signs that a detector of colours can tell apart."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from referee.demo.scenes import generate
from referee.demo.signs import SIGNS, compose
from referee.demo.textures import Textures


@pytest.fixture(scope="module")
def textures() -> Textures:
    """Return noise for the pictures."""
    return Textures(1)


@pytest.mark.parametrize("seed", range(6))
def test_signs_never_touch_and_are_whole(textures, seed):
    """Each sign has its own box within the picture, away from the others."""
    scene = compose(textures, random.Random(seed))
    height, width = scene.owner.shape
    taken = np.zeros((height, width), dtype=int)
    assert 1 <= len(scene.class_ids) <= 9
    for x, y, wide, tall in scene.boxes():
        assert 0 < x < x + wide < width
        assert 0 < y < y + tall < height
        taken[y : y + tall, x : x + wide] += 1
    assert 1 == taken.max()


def test_the_same_seed_gives_the_same_picture(textures):
    """Chance is decided by the seed."""
    one, again, other = (compose(textures, random.Random(seed)) for seed in (5, 5, 6))
    assert np.array_equal(one.pixels, again.pixels)
    assert one.pixels.shape != other.pixels.shape or not np.array_equal(one.pixels, other.pixels)


def test_the_truth_names_the_signs(tmp_path):
    """The ground truth's classes are the signs."""
    made = generate(tmp_path, count=2, subject=SIGNS)
    truth = json.loads(made.ground_truth.read_text())
    assert SIGNS.class_names == {one["id"]: one["name"] for one in truth["categories"]}
    assert {box["category_id"] for box in truth["annotations"]} <= set(SIGNS.class_names)
