# SPDX-License-Identifier: Apache-2.0
"""Generated pictures are like photographs to a program, and their truth is right."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from referee.demo.scenes import SceneSet, compose, generate
from referee.demo.shapes import KINDS
from referee.demo.textures import Textures

pytestmark = pytest.mark.slow

COUNT = 48


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> SceneSet:
    """Generate pictures once for all tests."""
    return generate(tmp_path_factory.mktemp("scenes"), count=COUNT, seed=2015)


@pytest.fixture(scope="module")
def truth(scenes) -> dict:
    """Read the ground truth of the generated pictures."""
    return json.loads(scenes.ground_truth.read_text())


@pytest.fixture(scope="module")
def textures() -> Textures:
    """Make the noise once for the tests that compose single pictures."""
    return Textures(7)


def test_the_folder_holds_numbered_pictures_and_their_truth(scenes, truth):
    """Pictures are 1.jpg to N.jpg, and the truth lists each with its size."""
    names = [f"{image_id}.jpg" for image_id in range(1, COUNT + 1)]
    assert sorted(names) == sorted(path.name for path in scenes.images.iterdir())
    assert list(range(1, COUNT + 1)) == [image["id"] for image in truth["images"]]
    for image in truth["images"]:
        with Image.open(scenes.images / image["file_name"]) as picture:
            assert ("JPEG", "RGB") == (picture.format, picture.mode)
            assert (image["width"], image["height"]) == picture.size
    assert (COUNT, len(truth["annotations"])) == (scenes.count, scenes.objects)


def test_pictures_are_as_heavy_as_photographs_on_the_wire(scenes):
    """Pictures have the file size of photographs."""
    sizes = [path.stat().st_size for path in scenes.images.iterdir()]
    assert 50_000 < min(sizes)
    assert max(sizes) < 150_000


def test_boxes_are_whole_pixels_inside_their_picture(truth):
    """Each box has whole numbers, a size, a known class and lies within its image."""
    frames = {image["id"]: (image["width"], image["height"]) for image in truth["images"]}
    known = {category["id"] for category in truth["categories"]}
    assert len(truth["annotations"]) >= len(frames)
    for annotation in truth["annotations"]:
        x, y, width, height = annotation["bbox"]
        assert all(isinstance(number, int) for number in (x, y, width, height))
        assert 0 <= x < x + width <= frames[annotation["image_id"]][0]
        assert 0 <= y < y + height <= frames[annotation["image_id"]][1]
        assert annotation["category_id"] in known
        assert width * height == annotation["area"]


def test_there_is_something_for_every_rule_of_the_score(truth):
    """Small, thin and large objects, several of one class in an image, and empty images."""
    boxes = np.array([annotation["bbox"] for annotation in truth["annotations"]])
    longer, shorter = boxes[:, 2:].max(axis=1), boxes[:, 2:].min(axis=1)
    assert 5 <= (longer <= 25).sum()
    assert 1 <= (shorter <= 10).sum()
    assert 5 <= (longer >= 150).sum()
    pairs = [(a["image_id"], a["category_id"]) for a in truth["annotations"]]
    assert len(set(pairs)) < len(pairs)
    assert {image["id"] for image in truth["images"]} - {image_id for image_id, _ in pairs}
    assert {kind.name for kind in KINDS.values()} == {c["name"] for c in truth["categories"]}
    assert set(KINDS) == {class_id for _, class_id in pairs}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(scenes, tmp_path):
    """A picture depends only on seed and number, so a smaller set begins a larger one."""
    again = generate(tmp_path / "again", count=3, seed=2015)
    other = generate(tmp_path / "other", count=3, seed=2016)
    for name in ("1.jpg", "2.jpg", "3.jpg"):
        assert (scenes.images / name).read_bytes() == (again.images / name).read_bytes()
        assert (scenes.images / name).read_bytes() != (other.images / name).read_bytes()
    assert again.ground_truth.read_bytes() != other.ground_truth.read_bytes()


def test_the_truth_of_a_seed_is_known(truth):
    """The truth of a seed is the same on each machine, up to a pixel."""
    expected = [
        (2, [204, 18, 26, 26]),
        (9, [65, 64, 31, 20]),
        (9, [101, 94, 13, 9]),
        (9, [298, 165, 14, 11]),
        (9, [179, 276, 113, 74]),
        (11, [149, 30, 24, 30]),
        (5, [0, 110, 100, 140]),
        (2, [417, 334, 42, 42]),
        (9, [155, 314, 126, 86]),
    ]
    first = [a for a in truth["annotations"] if a["image_id"] <= 2]
    assert [box[0] for box in expected] == [a["category_id"] for a in first]
    difference = np.array([box[1] for box in expected]) - [a["bbox"] for a in first]
    assert np.abs(difference).max() <= 2


def test_a_box_is_tight_around_the_pixels_that_are_seen(textures):
    """A box loses a pixel of its object if it shrinks by one row or column."""
    for number in range(12):
        scene = compose(textures, random.Random(number))
        for owner, (x, y, width, height) in enumerate(scene.boxes(), 1):
            inside = scene.owner[y : y + height, x : x + width] == owner
            assert (scene.owner == owner).sum() == inside.sum()
            for edge in (inside[0], inside[-1], inside[:, 0], inside[:, -1]):
                assert edge.any()


def test_progress_is_told_after_every_picture(tmp_path):
    """The caller hears the number of written pictures after each one."""
    told: list[tuple[int, int]] = []
    generate(tmp_path, count=2, progress=lambda done, count: told.append((done, count)))
    assert [(1, 2), (2, 2)] == told


def test_no_pictures_are_a_truth_without_images(tmp_path):
    """A count of zero writes a valid ground truth without images."""
    empty = generate(Path(tmp_path), count=0)
    assert (0, 0) == (empty.count, empty.objects)
    assert [] == json.loads(empty.ground_truth.read_text())["images"]
