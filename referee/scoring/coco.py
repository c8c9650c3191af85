# SPDX-License-Identifier: Apache-2.0
"""The twelve COCO numbers for boxes, as pycocotools computes them.

Source: cocodataset/cocoapi, PythonAPI/pycocotools/cocoeval.py. That module needs three calls,
prints, and ignores some rows silently. Here one function does all, prints nothing, and counts the
ignored rows.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import io
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.errors import InputError
from referee.scoring.truth_index import Positions

NUMBERS = (
    "AP",
    "AP50",
    "AP75",
    "AP_small",
    "AP_medium",
    "AP_large",
    "AR1",
    "AR10",
    "AR100",
    "AR_small",
    "AR_medium",
    "AR_large",
)
"""Names of the twelve numbers, in COCO's order; AP is the mean over IoU .50:.05:.95."""

MAX_DETECTIONS = 100
"""Detections per image and category that COCO scores; it drops the weaker ones."""

EVALUATORS = ("hotcoco", "faster-coco-eval", "pycocotools")
"""Programs that compute the numbers, fastest first, by the names of their distributions."""

# Counting by a table of all pairs takes a tenth of the time of sorting; this table has 256 MiB.
_MOST_PAIRS = 2**25

_MODULES = {
    "hotcoco": ("hotcoco", "hotcoco", "COCOeval"),
    "faster-coco-eval": ("faster_coco_eval", "faster_coco_eval", "COCOeval_faster"),
    "pycocotools": ("pycocotools.coco", "pycocotools.cocoeval", "COCOeval"),
}


@dataclass(frozen=True)
class CocoResult:
    """COCO's numbers as fractions; None, where COCO prints -1, means nothing to average.

    `numbers` maps each of `NUMBERS` to its value. `ap` maps category ids to AP (.50:.95, all
    areas, 100 detections). `ignored` counts ignored rows by reason: unknown image, unlisted
    category, a score or box that is not finite, beyond `MAX_DETECTIONS`. `evaluator` names the
    program and its version.
    """

    numbers: dict[str, float | None]
    ap: dict[int, float | None]
    images: int
    truth_boxes: int
    crowd_regions: int
    detections: int
    ignored: dict[str, int]
    evaluator: str

    @property
    def mean_ap(self) -> float | None:
        """Return AP, the headline number."""
        return self.numbers["AP"]


def installed_evaluators() -> tuple[str, ...]:
    """Return which of `EVALUATORS` are installed, fastest first; pycocotools always is."""
    found = []
    for name in EVALUATORS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(name)
            found.append(name)
    return tuple(found)


def evaluate(truth: CocoTruth, results: CocoResults, evaluator: str | None = None) -> CocoResult:
    """Compute the twelve numbers and AP per category, see `prepare`."""
    return prepare(truth, results, evaluator).evaluate()


@dataclass(frozen=True, eq=False)
class Prepared:
    """An evaluator's own data sets of one ground truth and one set of results."""

    evaluator: str
    truth: CocoTruth
    datasets: tuple[Any, Any]
    detections: int
    ignored: dict[str, int]

    def evaluate(self) -> CocoResult:
        """Compute the twelve numbers and AP per category."""
        stats, precision = _run(self.evaluator, self.datasets)
        truth = self.truth
        return CocoResult(
            numbers={
                key: _known(value)
                for key, value in zip(NUMBERS, stats[: len(NUMBERS)], strict=True)
            },
            ap=_category_ap(truth, precision),
            images=len(truth.image_ids),
            truth_boxes=int((~truth.crowd).sum()),
            crowd_regions=int(truth.crowd.sum()),
            detections=self.detections,
            ignored=self.ignored,
            evaluator=f"{self.evaluator} {importlib.metadata.version(self.evaluator)}",
        )


def prepare(truth: CocoTruth, results: CocoResults, evaluator: str | None = None) -> Prepared:
    """Hand ground truth and results to an evaluator, which copies them.

    A caller that drops its results before it calls `evaluate` saves their memory.

    The default `evaluator` is the fastest one installed. hotcoco gives pycocotools' numbers bit
    for bit; faster-coco-eval differs by a few units of the last place.

    Rows of unknown images and rows that are not finite are set aside and counted, because
    pycocotools would stop at an unknown image. The `area` of a result is width times height. So a
    box inverted in one direction has a negative area, and COCO ignores it if it matches nothing.
    Annotations are numbered from 1, because pycocotools takes number 0 for "unmatched".

    Raises InputError if an annotation names an unlisted image or category, or if the evaluator is
    not installed.
    """
    name = evaluator or installed_evaluators()[0]
    if name not in installed_evaluators():
        raise InputError(f"the evaluator {name} is not installed: install the extra 'fast'")
    _require_listed(truth)
    kept, ignored = _sort_out(truth, results)
    data = importlib.import_module(_MODULES[name][0])
    datasets = _from_columns if name == "hotcoco" else _from_objects
    with _silence():
        return Prepared(name, truth, datasets(data, truth, kept), len(results), ignored)


def _require_listed(truth: CocoTruth) -> None:
    """Refuse annotations that pycocotools would ignore silently."""
    for ids, listed, what in (
        (truth.image_id, truth.image_ids, "image"),
        (truth.category_id, truth.category_ids, "category"),
    ):
        unknown = ids[~np.isin(ids, listed)]
        if len(unknown):
            raise InputError(f"an annotation is of {what} {unknown[0]}, which is not listed")


def _sort_out(truth: CocoTruth, results: CocoResults) -> tuple[CocoResults, dict[str, int]]:
    """Set bad rows aside and count each under its first reason; rows beyond the limit stay."""
    image = Positions(truth.image_ids)(results.image_id)
    category = Positions(truth.category_ids)(results.category_id)
    reasons = {
        "unknown_image": image < 0,
        "class_out_of_range": category < 0,
        "not_finite": ~(np.isfinite(results.score) & np.isfinite(results.box).all(axis=1)),
    }
    kept = np.ones(len(results), dtype=np.bool_)
    ignored = {}
    for name, applies in reasons.items():
        ignored[name] = int((kept & applies).sum())
        kept &= ~applies
    pair = (image * len(truth.category_ids) + category)[kept]
    few = len(truth.image_ids) * len(truth.category_ids) <= _MOST_PAIRS
    counts = np.bincount(pair) if few else np.unique(pair, return_counts=True)[1]
    ignored["beyond_100_per_image_and_class"] = int(np.maximum(counts - MAX_DETECTIONS, 0).sum())
    return results if kept.all() else results.select(kept), ignored


def _run(name: str, datasets: tuple[Any, Any]) -> tuple[list[float], NDArray[Any]]:
    """Return the twelve numbers and the precision array (IoU, recall, category, area, limit)."""
    _, eval_module, eval_class = _MODULES[name]
    evaluation = getattr(importlib.import_module(eval_module), eval_class)
    with _silence():
        run = evaluation(*datasets, "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    return [float(value) for value in run.stats], np.asarray(run.eval["precision"])


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


def _category_ap(truth: CocoTruth, precision: NDArray[Any]) -> dict[int, float | None]:
    """Average the precision of all areas and 100 detections over IoU and recall levels."""
    ap: dict[int, float | None] = {}
    for place, category_id in enumerate(truth.category_ids.tolist()):
        values = precision[:, :, place, 0, -1]
        known = values[values > -1]
        ap[category_id] = float(np.mean(known)) if len(known) else None
    return ap


def _known(value: float) -> float | None:
    return None if value == -1 else value
