# SPDX-License-Identifier: Apache-2.0
"""The made-up detector makes mistakes like a real one."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest

from client_sample.client import parse_answers
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.demo.imperfect_answers import write_answers
from referee.scoring.ilsvrc import evaluate

IMAGES, CLASSES = 300, 10


@pytest.fixture(scope="module")
def truth_file(tmp_path_factory):
    """Write ground truth of 300 images without pictures; each tenth image is empty."""
    chance = random.Random(5)
    boxes = []
    for image_id in range(1, IMAGES + 1):
        for _ in range(0 if image_id % 10 == 0 else 5):
            size = chance.choice((12, 20, 40, 80, 160))
            box = [chance.randrange(300), chance.randrange(200), size, size]
            class_id = chance.randrange(1, CLASSES + 1)
            boxes.append({"image_id": image_id, "category_id": class_id, "bbox": box})
    images = [{"id": k, "width": 500, "height": 375} for k in range(1, IMAGES + 1)]
    crowd = {"image_id": 10, "category_id": 1, "bbox": [0, 0, 400, 300], "iscrowd": 1}
    categories = [{"id": class_id} for class_id in range(1, CLASSES + 1)]
    truth = {"images": images, "annotations": [*boxes, crowd], "categories": categories}
    path = tmp_path_factory.mktemp("truth") / "ground_truth.json"
    path.write_text(json.dumps(truth))
    return path


@pytest.fixture(scope="module")
def results(truth_file):
    """Write answers once and read them back."""
    out = truth_file.with_name("answers.json")
    count = write_answers(truth_file, out, seed=1)
    read = json.loads(out.read_text())
    assert count == len(read)
    return read


def pairs(truth_file, results):
    """Yield each true object with the detections that overlap it by half or more."""
    truth = json.loads(truth_file.read_text())["annotations"]
    by_image: dict[int, list[dict]] = {}
    for result in results:
        by_image.setdefault(result["image_id"], []).append(result)
    for annotation in truth:
        if "iscrowd" not in annotation:
            near = by_image.get(annotation["image_id"], [])
            yield annotation, [r for r in near if iou(r["bbox"], annotation["bbox"]) >= 0.5]


def iou(one, other):
    """Return intersection over union of two boxes x, y, width, height."""
    wide = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    tall = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    common = max(0, wide) * max(0, tall)
    return common / (one[2] * one[3] + other[2] * other[3] - common)


def test_the_score_is_that_of_a_middling_detector(truth_file, results):
    """The ILSVRC mAP lies between a half and seven tenths."""
    annotations = json.loads(truth_file.read_text())["annotations"][:-1]
    boxes = np.array([a["bbox"] for a in annotations], dtype=np.float64)
    truth = GroundTruth(
        image_ids=np.arange(1, IMAGES + 1),
        class_ids=np.arange(1, CLASSES + 1),
        box_image_id=np.array([a["image_id"] for a in annotations]),
        box_class_id=np.array([a["category_id"] for a in annotations]),
        box=np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:] - 1]),
        blacklist=np.empty((0, 2), dtype=np.int64),
        class_names={},
    )
    answers = parse_answers(json.dumps(results))
    rows = [(image_id, *row) for image_id, rows in answers.items() for row in rows]
    assert 0.5 <= evaluate(truth, Detections.from_rows(rows)).mean_ap <= 0.7


def test_the_same_seed_gives_the_same_answers(truth_file, tmp_path):
    """Answers depend only on truth and seed."""
    for name, seed in (("one", 3), ("again", 3), ("other", 4)):
        write_answers(truth_file, tmp_path / name, seed=seed)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "again").read_bytes()
    assert (tmp_path / "one").read_bytes() != (tmp_path / "other").read_bytes()


def test_small_objects_are_missed_more_often_than_large_ones(truth_file, results):
    """Small objects are missed more often than large ones, and both are missed sometimes."""
    found: dict[int, list[bool]] = {}
    for annotation, near in pairs(truth_file, results):
        found.setdefault(annotation["bbox"][2], []).append(bool(near))
    share = {size: np.mean(values) for size, values in found.items()}
    assert share[12] < share[40] < share[160] < 1
    assert 0.1 < share[12]


def test_some_objects_are_reported_twice_and_some_as_another_class(truth_file, results):
    """A few objects are reported twice, and a few under another class."""
    near = [
        (a["category_id"], [r["category_id"] for r in n]) for a, n in pairs(truth_file, results)
    ]
    twice = np.mean([max(Counter(classes).values(), default=0) > 1 for _, classes in near])
    confused = np.mean([bool(classes) and own not in classes for own, classes in near])
    assert 0.01 < twice < 0.2
    assert 0.01 < confused < 0.2


def test_things_are_seen_where_nothing_is(results):
    """Empty images get detections too, and a crowd region gets none."""
    empty = [result for result in results if result["image_id"] % 10 == 0]
    assert 5 < len(empty) < 3 * IMAGES / 10


def test_confidence_tells_right_from_wrong_on_the_whole(truth_file, results):
    """Right detections have the higher mean confidence, and the two ranges overlap."""
    right = {
        id(result)
        for annotation, near in pairs(truth_file, results)
        for result in near
        if result["category_id"] == annotation["category_id"]
    }
    scores = {True: [], False: []}
    for result in results:
        scores[id(result) in right].append(result["score"])
        assert 0 < result["score"] < 1
    assert np.mean(scores[True]) > np.mean(scores[False]) + 0.2
    assert max(scores[False]) > min(scores[True])
