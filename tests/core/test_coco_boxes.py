# SPDX-License-Identifier: Apache-2.0
"""COCO's annotations inside a ground truth: what COCO's metric gets of it."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from referee.core.coco_boxes import CocoTruth, unlike_coco
from referee.core.ground_truth import GroundTruth
from referee.formats.image_ids import renumber
from referee.scoring import (
    evaluate,
    evaluate_coco,
    load_coco_results,
    load_coco_truth,
    load_detections,
    load_ground_truth,
)
from referee.scoring.coco import NUMBERS

PUBLISHED = (0.505, 0.697, 0.573, 0.586, 0.519, 0.501, 0.387, 0.594, 0.595, 0.640, 0.566, 0.564)


@pytest.fixture
def path(tmp_path):
    """Return a file with a crowd region, an area of its own, and a box that is no whole pixels."""
    annotations = [
        {"image_id": 7, "category_id": 3, "bbox": [0.1, 0.2, 40.3, 30.7], "area": 900.5},
        {"image_id": 9, "category_id": 3, "bbox": [5, 5, 200, 100], "iscrowd": 1, "area": 1234.0},
        {"image_id": 9, "category_id": 90, "bbox": [1, 2, 30, 40]},
    ]
    content = {
        "images": [{"id": 7}, {"id": 9}],
        "categories": [{"id": 3, "name": "cat"}, {"id": 90, "name": "dog"}],
        "annotations": annotations,
    }
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_ground_truth_keeps_crowd_regions_and_areas(path):
    """COCO's metric gets the annotations to the bit, and ILSVRC's has no crowd region."""
    truth = load_ground_truth(path)
    coco = CocoTruth.from_ground_truth(truth)
    assert [900.5, 1234.0, 1200.0] == coco.area.tolist()
    assert [False, True, False] == coco.crowd.tolist()
    assert [0.1, 0.2, 40.3, 30.7] == coco.box[0].tolist()
    assert 2 == len(truth.box)


def test_a_pickled_ground_truth_is_the_same(path):
    """Another process gets crowd regions and areas too."""
    coco = CocoTruth.from_ground_truth(pickle.loads(pickle.dumps(load_ground_truth(path))))
    assert [900.5, 1234.0, 1200.0] == coco.area.tolist()
    assert [False, True, False] == coco.crowd.tolist()


def test_renumbered_images_keep_their_regions(path):
    """A crowd region follows its image to the number that the contest gives it."""
    truth = renumber(load_ground_truth(path), {7: 2, 9: 1})
    coco = CocoTruth.from_ground_truth(truth)
    assert ([1, 2], [2, 1, 1]) == (coco.image_ids.tolist(), coco.image_id.tolist())
    assert [] == unlike_coco(truth)


def test_images_and_classes_are_those_of_the_ground_truth(path):
    """A list that was replaced, as by --classes, counts for COCO's metric too."""
    truth = replace(load_ground_truth(path), class_ids=np.arange(1, 91))
    assert 90 == len(CocoTruth.from_ground_truth(truth).category_ids)


def test_what_coco_cannot_hear_is_told(path):
    """A blacklist, difficult objects and changed boxes are warnings, each with its count."""
    truth = load_ground_truth(path)
    assert [] == unlike_coco(truth)
    with pytest.warns(UserWarning, match="no blacklist: its 1 pairs"):
        evaluate_coco(replace(truth, blacklist=np.array([[7, 3]])), load_coco_results_of(path))
    with pytest.warns(UserWarning, match="no difficult objects: the 1 that"):
        evaluate_coco(replace(truth, difficult=np.array([True, False])), load_coco_results_of(path))


def test_boxes_that_were_changed_are_those_that_count(path):
    """Who replaces the boxes of a ground truth gets a score of these, and is told."""
    truth = load_ground_truth(path)
    fewer = replace(
        truth,
        box=truth.box[:1],
        box_image_id=truth.box_image_id[:1],
        box_class_id=truth.box_class_id[:1],
    )
    with pytest.warns(UserWarning, match="no longer those that were read"):
        result = evaluate_coco(fewer, load_coco_results_of(path))
    assert (1, 0) == (result.truth_boxes, result.crowd_regions)


def load_coco_results_of(path):
    """Return one result for the first annotation of the file."""
    results = path.with_name("results.json")
    results.write_text(
        json.dumps([{"image_id": 7, "category_id": 3, "bbox": [0, 0, 40, 31], "score": 0.5}])
    )
    return load_coco_results(results)


@pytest.mark.slow
def test_published_numbers_through_the_usual_loaders(shared_data):
    """The twelve published numbers come out of `load_ground_truth` and `load_detections`."""
    folder = shared_data / "cocoapi"
    truth = load_ground_truth(folder / "instances_val2014_100.json")
    detections = load_detections(
        folder / "instances_val2014_fakebbox100_results.json", truth, image_ids="own"
    )
    numbers = evaluate_coco(truth, detections).numbers
    assert PUBLISHED == tuple(round(numbers[name], 3) for name in NUMBERS)


@pytest.mark.parametrize(
    ("detector", "ap", "ap50", "mean_ap"),
    [
        ("detections_ssd_mobilenet_v1.json", 0.203656, 0.337438, 0.335107299485),
        ("detections_efficientdet_lite0.json", 0.301501, 0.448528, 0.448089373355),
    ],
)
def test_both_loaders_agree_on_real_detectors(shared_data, detector, ap, ap50, mean_ap):
    """Both loaders give COCO's known numbers, and ILSVRC's mAP knows no crowd region."""
    folder = shared_data / "coco-tiny"
    truth = load_ground_truth(folder / "annotations.json")
    found = load_detections(folder / detector, truth, image_ids="own")
    usual = evaluate_coco(truth, found)
    own = evaluate_coco(
        load_coco_truth(folder / "annotations.json"), load_coco_results(folder / detector)
    )
    assert (ap, ap50) == (round(usual.numbers["AP"], 6), round(usual.numbers["AP50"], 6))
    assert own.numbers == pytest.approx(usual.numbers, abs=1e-12)
    assert (804, 11) == (usual.truth_boxes, usual.crowd_regions)
    assert mean_ap == pytest.approx(evaluate(truth, found).mean_ap, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_ground_truth_without_annotations_has_the_areas_of_its_boxes(seed):
    """Other sources have no crowd regions, an object's area is that of its box, and all agree."""
    chance = np.random.default_rng(seed)
    box = np.sort(chance.uniform(0, 300, (20, 2, 2)), axis=1).reshape(20, 4)
    truth = GroundTruth.from_arrays(chance.integers(1, 5, 20), chance.integers(1, 4, 20), box)
    assert [] == unlike_coco(truth)
    coco = CocoTruth.from_ground_truth(truth)
    sides = box[:, 2:] - box[:, :2] + 1
    assert np.allclose(coco.area, sides[:, 0] * sides[:, 1])
    assert not coco.crowd.any()
