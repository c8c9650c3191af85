# SPDX-License-Identifier: Apache-2.0
"""COCO's twelve numbers of the library beside other programs: differences and time.

Programs that are not installed are named and left out. torchmetrics needs torch, which is large, so
no extra brings it: pip install torch torchvision torchmetrics.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import time
from pathlib import Path

import numpy as np

from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.scoring import evaluate_coco, load_coco_results, load_coco_truth
from referee.scoring.coco import NUMBERS
from tests.bench.scoring_data import generate

COCO_API = Path(__file__).resolve().parents[3] / "shared/data/cocoapi"
ROUNDS = 3
# A program that takes longer is measured once.
LONG_S = 5.0
_OF_TORCHMETRICS = tuple(
    "map map_50 map_75 map_small map_medium map_large mar_1 mar_10 mar_100 mar_small "
    "mar_medium mar_large".split()
)


def run():
    """Compare on COCO API's example and on a generated set of 2,000 images."""
    if COCO_API.is_dir():
        truth = load_coco_truth(COCO_API / "instances_val2014_100.json")
        results = load_coco_results(COCO_API / "instances_val2014_fakebbox100_results.json")
        _compare("COCO API's example", truth, results)
    truth, detections = generate(500_000)
    images = 2000
    kept = truth.box_image_id <= images
    truth = CocoTruth.from_arrays(
        truth.box_image_id[kept],
        truth.box_class_id[kept],
        truth.box[kept],
        images=range(1, images + 1),
        categories=truth.class_ids,
        box_format="corners",
    )
    found = CocoResults.from_detections(detections.select(detections.image_id <= images))
    _compare("generated", truth, found)


def _compare(name, truth, results):
    print(
        f"{name}: {len(truth.image_ids)} images, {len(truth.category_ids)} categories,"
        f" {len(truth.box)} annotations, {len(results)} detections"
    )
    programs = {
        "library, pycocotools": lambda: _library(truth, results, "pycocotools"),
        "library, hotcoco": lambda: _library(truth, results, "hotcoco"),
        "pycocotools": lambda: _pycocotools(truth, results),
        "faster-coco-eval": lambda: _faster(truth, results),
        "torchmetrics, pycocotools": lambda: _torchmetrics(truth, results, "pycocotools"),
        "torchmetrics, faster-coco-eval": lambda: _torchmetrics(truth, results, "faster_coco_eval"),
    }
    reference = None
    for label, prepared in programs.items():
        try:
            prepare = prepared()
        except (ImportError, importlib.metadata.PackageNotFoundError) as missing:
            print(f"  {label:<32} not installed: {missing}")
            continue
        seconds, numbers = _best(prepare)
        reference = numbers if reference is None else reference
        apart = np.max(np.abs(np.subtract(numbers, reference)))
        print(f"  {label:<32}{seconds:8.2f} s   AP {numbers[0]:.6f}   differs by {apart:.1e}")


def _best(prepare):
    """Return the least processor time of some rounds, and the twelve numbers."""
    seconds = []
    while len(seconds) < ROUNDS and not (seconds and seconds[0] > LONG_S):
        with contextlib.redirect_stdout(io.StringIO()):
            start = time.process_time()
            numbers = prepare()
            seconds.append(time.process_time() - start)
    return min(seconds), [-1.0 if value is None else float(value) for value in numbers]


def _library(truth, results, evaluator):
    importlib.metadata.version(evaluator)

    def numbers():
        found = evaluate_coco(truth, results, evaluator=evaluator).numbers
        return [found[name] for name in NUMBERS]

    return numbers


def _pycocotools(truth, results):
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    return _by_api(COCO, COCOeval, truth, results)


def _faster(truth, results):
    from faster_coco_eval import COCO
    from faster_coco_eval import COCOeval_faster as COCOeval

    return _by_api(COCO, COCOeval, truth, results)


def _by_api(coco, coco_eval, truth, results):
    """Return a function that does as COCO API's example does, from objects as JSON gives them."""
    dataset, found = json.loads(_instances(truth)), json.loads(_found(results))

    def numbers():
        ground = coco()
        ground.dataset = dataset
        ground.createIndex()
        # It writes into the entries that it is given.
        evaluation = coco_eval(ground, ground.loadRes([dict(one) for one in found]), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return evaluation.stats[: len(NUMBERS)]

    return numbers


def _torchmetrics(truth, results, backend):
    import torch
    from torchmetrics.detection import MeanAveragePrecision

    if backend == "faster_coco_eval":
        importlib.metadata.version("faster-coco-eval")
    targets, predictions = [], []
    for image in truth.image_ids.tolist():
        rows = np.flatnonzero(truth.image_id == image)
        targets.append(
            {
                "boxes": torch.tensor(truth.box[rows], dtype=torch.float32),
                "labels": torch.tensor(truth.category_id[rows]),
                "iscrowd": torch.tensor(truth.crowd[rows].astype(int)),
                "area": torch.tensor(truth.area[rows], dtype=torch.float32),
            }
        )
        rows = np.flatnonzero(results.image_id == image)
        predictions.append(
            {
                "boxes": torch.tensor(results.box[rows], dtype=torch.float32),
                "labels": torch.tensor(results.category_id[rows]),
                "scores": torch.tensor(results.score[rows], dtype=torch.float32),
            }
        )

    def numbers():
        metric = MeanAveragePrecision(box_format="xywh", iou_type="bbox", backend=backend)
        metric.warn_on_many_detections = False
        metric.update(predictions, targets)
        computed = metric.compute()
        return [computed[name] for name in _OF_TORCHMETRICS]

    return numbers


def _instances(truth):
    columns = (truth.image_id, truth.category_id, truth.box, truth.area, truth.crowd)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return json.dumps(
        {
            "images": [{"id": own} for own in truth.image_ids.tolist()],
            "categories": [{"id": own, "name": str(own)} for own in truth.category_ids.tolist()],
            "annotations": [
                {
                    **{"id": number, "image_id": image, "category_id": category, "bbox": box},
                    **{"area": area, "iscrowd": int(crowd)},
                }
                for number, (image, category, box, area, crowd) in enumerate(rows, start=1)
            ],
        }
    )


def _found(results):
    columns = (results.image_id, results.category_id, results.box, results.score)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    names = ("image_id", "category_id", "bbox", "score")
    return json.dumps([dict(zip(names, row, strict=True)) for row in rows])
