# SPDX-License-Identifier: Apache-2.0
"""The twelve COCO numbers, and the traps in computing them."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.errors import ArgumentError, InputError
from referee.formats.detections_file import begin_coco_results
from referee.formats.ground_truth import read_ground_truth
from referee.scoring import coco_evaluators
from referee.scoring.coco import IOUS, NUMBERS, SIZES, evaluate, evaluate_coco
from referee.scoring.coco_evaluators import EVALUATORS, installed_evaluators

PUBLISHED = (0.505, 0.697, 0.573, 0.586, 0.519, 0.501, 0.387, 0.594, 0.595, 0.640, 0.566, 0.564)

needs = {
    name: pytest.mark.skipif(
        name not in installed_evaluators(), reason=f"{name} is not installed: extra 'fast'"
    )
    for name in EVALUATORS
}
each_evaluator = pytest.mark.parametrize(
    "evaluator", [pytest.param(name, marks=needs[name]) for name in EVALUATORS]
)


def make_truth(*annotations, images=(1, 2), categories=(1, 2)):
    """Build from `(image, category, box)` or `(image, category, box, area, crowd)`."""
    full = [(*a, a[2][2] * a[2][3], False) if len(a) == 3 else a for a in annotations]
    return CocoTruth(
        image_ids=np.array(images, dtype=np.int64),
        category_ids=np.array(categories, dtype=np.int64),
        image_id=np.array([a[0] for a in full], dtype=np.int64),
        category_id=np.array([a[1] for a in full], dtype=np.int64),
        box=np.array([a[2] for a in full], dtype=np.float64).reshape(-1, 4),
        area=np.array([a[3] for a in full], dtype=np.float64),
        crowd=np.array([a[4] for a in full], dtype=np.bool_),
    )


def make_results(*rows):
    """Build from `(image, category, score, box)`."""
    return CocoResults(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.float64).reshape(-1, 4),
    )


def nasty(seed):
    """Draw crowds, ties, exact overlaps, flat and inverted boxes, and areas unlike their boxes."""
    chance = np.random.default_rng(seed)
    pair = lambda: (int(chance.integers(1, 4)), int(chance.integers(1, 4)))  # noqa: E731
    annotations = []
    for _ in range(chance.integers(0, 15)):
        box = chance.integers(0, 40, 4).astype(float)
        area = float(box[2] * box[3] * chance.choice([1.0, 1.0, 0.5, 30.0]))
        annotations.append((*pair(), box.tolist(), area, bool(chance.random() < 0.2)))
    rows = []
    for _ in range(chance.choice([0, 5, 40, 400])):
        box = chance.integers(-5, 40, 4).astype(float)
        if annotations and chance.random() < 0.6:
            near = annotations[chance.integers(len(annotations))][2]
            box = np.array(near) + chance.integers(-2, 3, 4)
        rows.append((*pair(), float(chance.integers(0, 10)) / 10, box.tolist()))
    return make_truth(*annotations, images=(1, 2, 3), categories=(1, 2, 3)), make_results(*rows)


@pytest.mark.slow
@each_evaluator
def test_published_numbers(shared_data, evaluator):
    """COCO API's fake detections on 100 images give the published numbers."""
    folder = shared_data / "cocoapi"
    found = read_ground_truth(folder / "instances_val2014_100.json")
    results = begin_coco_results(folder / "instances_val2014_fakebbox100_results.json")()
    numbers = evaluate(CocoTruth.from_ground_truth(found.truth), results, evaluator).numbers
    assert PUBLISHED == tuple(round(numbers[name], 3) for name in NUMBERS)


@pytest.mark.parametrize(
    ("detector", "ap", "ap50"),
    [
        ("detections_ssd_mobilenet_v1.json", 0.203656, 0.337438),
        ("detections_efficientdet_lite0.json", 0.301501, 0.448528),
    ],
)
def test_real_detectors(shared_data, detector, ap, ap50):
    """Two real detectors on real photographs give the known numbers, crowd regions included."""
    folder = shared_data / "coco-tiny"
    found = read_ground_truth(folder / "annotations.json")
    truth = CocoTruth.from_ground_truth(found.truth)
    result = evaluate(truth, begin_coco_results(folder / detector)())
    assert (ap, ap50) == (round(result.numbers["AP"], 6), round(result.numbers["AP50"], 6))
    assert (804, 11) == (result.truth_boxes, result.crowd_regions)


@pytest.mark.slow
@needs["hotcoco"]
@pytest.mark.parametrize("seed", range(20))
def test_hotcoco_has_the_digits_of_pycocotools(seed, monkeypatch):
    """hotcoco computes the same bits as pycocotools and may stand in for it, in several blocks."""
    monkeypatch.setattr(coco_evaluators, "_IMAGES_AT_A_TIME", 1 + seed % 3)
    truth, results = nasty(seed)
    slow, fast = (evaluate(truth, results, name) for name in ("pycocotools", "hotcoco"))
    assert dataclasses.replace(slow, evaluator="") == dataclasses.replace(fast, evaluator="")


@needs["hotcoco"]
def test_hotcoco_takes_any_ids():
    """Negative ids and ids above 2^53, which its columns cannot hold, give the same numbers."""
    images, categories = (-7, 2**60), (-(2**62), 3)
    truth = make_truth(
        *[(image, category, [1, 2, 30, 40]) for image in images for category in categories],
        images=images,
        categories=categories,
    )
    rows = [(-7, 3, 0.5, [1, 2, 30, 40]), (2**60, -(2**62), 0.5, [1, 2, 30, 38])]
    for results in (make_results(), make_results(*rows), make_results(*rows, (1, 3, 1, [0] * 4))):
        slow, fast = (evaluate(truth, results, name) for name in ("pycocotools", "hotcoco"))
        assert dataclasses.replace(slow, evaluator="") == dataclasses.replace(fast, evaluator="")


@each_evaluator
def test_first_annotation_counts(evaluator):
    """A perfect detection scores 1, because no annotation has the number 0 (it means unmatched)."""
    truth = make_truth((1, 1, [0, 0, 50, 50]), categories=(1,))
    result = evaluate(truth, make_results((1, 1, 0.9, [0, 0, 50, 50])), evaluator)
    assert pytest.approx(1.0, abs=1e-12) == result.mean_ap


def test_annotation_number_zero_would_cost_the_match():
    """pycocotools alone scores a perfect detection 0 if its annotation is number 0."""
    dataset = {
        "images": [{"id": 1}],
        "categories": [{"id": 1}],
        "annotations": [
            {"id": 0, "image_id": 1, "category_id": 1, "bbox": [0, 0, 50, 50], "area": 2500.0}
            | {"iscrowd": 0, "score": 0.9}
        ],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        truth, results = COCO(), COCO()
        for coco in (truth, results):
            coco.dataset = dataset
            coco.createIndex()
        run = COCOeval(truth, results, "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    assert 0.0 == run.stats[0]


@each_evaluator
def test_empty_classes_have_no_ap(evaluator):
    """A category without truth has AP None, stays out of the mean, and is not -1."""
    truth = make_truth((1, 1, [0, 0, 50, 50]))
    rows = make_results((1, 1, 0.9, [0, 0, 50, 50]), (1, 2, 0.9, [0, 0, 50, 50]))
    result = evaluate(truth, rows, evaluator)
    assert None is result.ap[2]
    assert pytest.approx(1.0, abs=1e-12) == result.mean_ap
    assert None is result.numbers["AP_small"]


@each_evaluator
def test_nothing_at_all(evaluator):
    """No results score 0; without truth there is no score."""
    truth = make_truth((1, 1, [0, 0, 50, 50]))
    assert 0.0 == evaluate(truth, make_results(), evaluator).mean_ap
    assert None is evaluate(make_truth(), make_results(), evaluator).mean_ap


@each_evaluator
def test_crowd_regions_take_detections_away(evaluator):
    """Any number of detections in a crowd region count for nothing."""
    truth = make_truth(
        (1, 1, [0, 0, 50, 50], 2500.0, False), (1, 1, [100, 0, 90, 90], 8100.0, True)
    )
    inside = [(1, 1, 0.95, [110.0 + k, 10, 20, 20]) for k in range(5)]
    rows = make_results(*inside, (1, 1, 0.9, [0, 0, 50, 50]))
    assert pytest.approx(1.0, abs=1e-12) == evaluate(truth, rows, evaluator).mean_ap


@each_evaluator
def test_inverted_boxes_are_ignored(evaluator):
    """COCO ignores an inverted box that matches nothing, unlike ILSVRC."""
    truth = make_truth((1, 1, [0, 0, 50, 50]))
    inverted = (1, 1, 0.95, [100, 0, -50, 50])
    rows = make_results(inverted, (1, 1, 0.9, [0, 0, 50, 50]))
    assert pytest.approx(1.0, abs=1e-12) == evaluate(truth, rows, evaluator).mean_ap


def test_rows_that_coco_would_drop_are_counted():
    """Unknown images and classes, broken numbers and rows beyond 100 are counted and reported."""
    box = [0, 0, 50, 50]
    rows = make_results(
        *[(1, 1, 0.5, box)] * 103,
        (9, 1, 0.9, box),
        (1, 9, 0.9, box),
        (1, 1, math.nan, box),
        (1, 1, 0.9, [0, 0, math.inf, 50]),
    )
    result = evaluate(make_truth((1, 1, box)), rows)
    expected = {
        "unknown_image": 1,
        "class_out_of_range": 1,
        "not_finite": 2,
        "beyond_100_per_image_and_class": 3,
    }
    assert (expected, 107) == (result.ignored, result.detections)


def test_unlisted_annotations_are_refused():
    """An annotation of an unlisted image or class is refused; pycocotools would drop it."""
    with pytest.raises(InputError, match="an annotation is of image 9, which is not listed"):
        evaluate(make_truth((9, 1, [0, 0, 5, 5])), make_results())
    with pytest.raises(InputError, match="an annotation is of category 9"):
        evaluate(make_truth((1, 9, [0, 0, 5, 5])), make_results())


def test_unknown_evaluator_is_refused():
    """An evaluator that is not installed is refused by name."""
    with pytest.raises(InputError, match="the evaluator slowcoco is not installed"):
        evaluate(make_truth(), make_results(), "slowcoco")


def test_corners_and_sizes_are_two_views():
    """Inclusive corners become width and height, and return unchanged."""
    results = make_results((1, 2, 0.5, [10.0, 20.0, 1.0, 5.0]))
    detections = results.to_detections()
    assert [[10.0, 20.0, 10.0, 24.0]] == detections.box.tolist()
    assert results.box.tolist() == CocoResults.from_detections(detections).box.tolist()


def test_nothing_is_printed(capsys):
    """A scorer prints nothing, although the library underneath prints its progress."""
    evaluate(make_truth((1, 1, [0, 0, 50, 50])), make_results())
    assert ("", "") == capsys.readouterr()


def by_pycocotools(truth, results, ious=None):
    """Return pycocotools' own evaluation of these boxes, through its own three calls."""
    dataset = COCO()
    dataset.dataset = {
        "images": [{"id": own} for own in truth.image_ids.tolist()],
        "categories": [{"id": own} for own in truth.category_ids.tolist()],
        "annotations": [
            {
                **{"id": number, "image_id": int(truth.image_id[row]), "bbox": [*truth.box[row]]},
                **{"category_id": int(truth.category_id[row]), "area": truth.area[row]},
                "iscrowd": int(truth.crowd[row]),
            }
            for number, row in enumerate(range(len(truth.box)), start=1)
        ],
    }
    rows = [
        {
            **{"image_id": int(results.image_id[row]), "score": results.score[row]},
            **{"category_id": int(results.category_id[row]), "bbox": [*results.box[row]]},
        }
        for row in range(len(results))
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        dataset.createIndex()
        evaluation = COCOeval(dataset, dataset.loadRes(rows), "bbox")
        if ious is not None:
            evaluation.params.iouThrs = np.array(ious)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation


@each_evaluator
@pytest.mark.parametrize("seed", [1, 2, 3, 5])
@pytest.mark.parametrize("ious", [None, (0.3, 0.5, 0.85)], ids=["all", "three"])
def test_the_function_gives_the_numbers_of_pycocotools(seed, ious, evaluator):
    """The twelve numbers, and AP by IoU, size and category, are those of pycocotools' own calls."""
    truth, results = nasty(seed)
    theirs = by_pycocotools(truth, results, ious)
    told = evaluate_coco(truth, results, ious=ious, evaluator=evaluator)
    assert [None if it == -1 else it for it in theirs.stats] == list(told.numbers.values())
    assert (IOUS if ious is None else ious) == told.ious
    for size, name in enumerate(SIZES):
        for place, iou in enumerate(told.ious):
            precision = theirs.eval["precision"][place, :, :, size, -1]
            known = precision[precision > -1]
            expected = pytest.approx(known.mean(), abs=1e-15) if known.size else None
            assert expected == told.average_precision(iou, name)
    assert told.ap == {own: told.average_precision(category_id=own) for own in (1, 2, 3)}


def test_the_function_takes_inclusive_corners():
    """Ground truth and detections of the library give the numbers of the same boxes in COCO's."""
    corners = [[10, 10, 109, 59], [200, 40, 215, 51]]
    found = [[12, 8, 111, 57], [198, 38, 213, 51]]
    told = evaluate_coco(
        GroundTruth.from_arrays([1, 1], [1, 1], corners),
        Detections.from_arrays([1, 1], [1, 1], [0.9, 0.8], found),
    )
    as_coco = evaluate(
        make_truth(
            (1, 1, [10, 10, 100, 50]), (1, 1, [200, 40, 16, 12]), images=(1,), categories=(1,)
        ),
        make_results((1, 1, 0.9, [12, 8, 100, 50]), (1, 1, 0.8, [198, 38, 16, 14])),
    )
    assert as_coco == told
    assert told.average_precision(0.5) == told.numbers["AP50"]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda told: told.average_precision(0.51), "iou 0.51 was not evaluated: give one of"),
        (
            lambda told: told.average_precision(size="tiny"),
            "size is 'tiny': give one of all, small",
        ),
        (lambda told: told.average_precision(category_id=9), "category_id 9 was not evaluated"),
        (lambda _: evaluate_coco(*nasty(1), ious=[]), r"ious are \[\]: give IoUs"),
        (lambda _: evaluate_coco(*nasty(1), ious=[0.5, 1.5]), "above 0 and at most 1"),
    ],
)
def test_what_was_not_evaluated_is_told(ask, words):
    """An IoU, a size or a category that the result has not is refused with those that it has."""
    with pytest.raises(ArgumentError, match=words):
        ask(evaluate_coco(*nasty(1)))
