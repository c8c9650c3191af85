# SPDX-License-Identifier: Apache-2.0
"""The programs that compute COCO's numbers: hotcoco, faster-coco-eval and pycocotools."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import io
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.scoring.truth_index import Positions

EVALUATORS = ("hotcoco", "faster-coco-eval", "pycocotools")
"""Programs that compute the numbers, fastest first, by the names of their distributions."""

_MODULES = {
    "hotcoco": ("hotcoco", "hotcoco", "COCOeval"),
    "faster-coco-eval": ("faster_coco_eval", "faster_coco_eval", "COCOeval_faster"),
    "pycocotools": ("pycocotools.coco", "pycocotools.cocoeval", "COCOeval"),
}


def installed_evaluators() -> tuple[str, ...]:
    """Return which of `EVALUATORS` are installed, fastest first; pycocotools always is."""
    found = []
    for name in EVALUATORS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(name)
            found.append(name)
    return tuple(found)


def datasets_of(name: str, truth: CocoTruth, results: CocoResults) -> tuple[Any, Any]:
    """Return the program's own data sets of ground truth and results; it copies both."""
    data = importlib.import_module(_MODULES[name][0])
    datasets = _from_columns if name == "hotcoco" else _from_objects
    with _silence():
        return datasets(data, truth, results)


def run(name: str, datasets: tuple[Any, Any]) -> tuple[list[float], NDArray[Any]]:
    """Return the twelve numbers and the precision array (IoU, recall, category, area, limit)."""
    _, eval_module, eval_class = _MODULES[name]
    evaluation = getattr(importlib.import_module(eval_module), eval_class)
    with _silence():
        evaluated = evaluation(*datasets, "bbox")
        evaluated.evaluate()
        evaluated.accumulate()
        evaluated.summarize()
    numbers = [float(value) for value in evaluated.stats]
    return numbers, np.asarray(evaluated.eval["precision"])


def _silence() -> contextlib.redirect_stdout[io.StringIO]:
    """Keep off the standard output, on which all of these programs report their progress."""
    return contextlib.redirect_stdout(io.StringIO())


def _from_columns(module: ModuleType, truth: CocoTruth, results: CocoResults) -> tuple[Any, Any]:
    """Build hotcoco's data sets from whole columns.

    Images and categories are numbered from 1 in ascending order of their ids, because hotcoco
    takes no negative id, and results as doubles hold no id above 2^53.
    """
    images, categories = Positions(truth.image_ids), Positions(truth.category_ids)
    data = module.COCO.from_arrays(
        [{"id": number} for number in range(1, len(truth.image_ids) + 1)],
        [{"id": number, "name": str(number)} for number in range(1, len(truth.category_ids) + 1)],
        images(truth.image_id) + 1,
        categories(truth.category_id) + 1,
        truth.box,
        area=truth.area,
        iscrowd=truth.crowd,
    )
    table = np.empty((len(results), 7))
    table[:, 0] = images(results.image_id) + 1
    table[:, 1:5] = results.box
    table[:, 5] = results.score
    table[:, 6] = categories(results.category_id) + 1
    return data, data.load_res(table)


def _from_objects(module: ModuleType, truth: CocoTruth, results: CocoResults) -> tuple[Any, Any]:
    """Build the data sets of the other programs from one object for each annotation."""
    return (
        _dataset(module, truth, _annotations(truth)),
        _dataset(module, truth, _result_annotations(results)),
    )


def _dataset(module: ModuleType, truth: CocoTruth, annotations: list[dict[str, Any]]) -> Any:
    """Build the program's data set around annotations, without a file."""
    content = {
        "images": [{"id": own} for own in truth.image_ids.tolist()],
        "categories": [{"id": own, "name": str(own)} for own in truth.category_ids.tolist()],
        "annotations": annotations,
    }
    dataset = module.COCO()
    dataset.dataset = content
    dataset.createIndex()
    return dataset


def _annotations(truth: CocoTruth) -> list[dict[str, Any]]:
    columns = (
        column.tolist()
        for column in (truth.image_id, truth.category_id, truth.box, truth.area, truth.crowd)
    )
    return [
        {
            "id": number,
            "image_id": image_id,
            "category_id": category_id,
            "bbox": box,
            "area": area,
            "iscrowd": int(crowd),
        }
        for number, (image_id, category_id, box, area, crowd) in enumerate(
            zip(*columns, strict=True), start=1
        )
    ]


def _result_annotations(results: CocoResults) -> list[dict[str, Any]]:
    columns = (
        column.tolist()
        for column in (results.image_id, results.category_id, results.box, results.score)
    )
    return [
        {
            "id": number,
            "image_id": image_id,
            "category_id": category_id,
            "bbox": box,
            "area": box[2] * box[3],
            "iscrowd": 0,
            "score": score,
        }
        for number, (image_id, category_id, box, score) in enumerate(
            zip(*columns, strict=True), start=1
        )
    ]
