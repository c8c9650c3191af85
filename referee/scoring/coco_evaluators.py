# SPDX-License-Identifier: Apache-2.0
"""The programs that compute COCO's numbers: hotcoco, or pycocotools where it is not installed.

Neither changes what belongs to the whole process, such as its standard output or its filters of
warnings: other threads use them too.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.core.arguments import is_one_of, told
from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.errors import InputError
from referee.scoring.live import Mapped
from referee.scoring.truth_index import Positions

EVALUATORS = ("hotcoco", "pycocotools")
"""Programs that compute the numbers, fastest first, by the names of their distributions."""

# A block's boxes take hotcoco much more memory than their outcomes, which it keeps.
_IMAGES_AT_A_TIME = 1000

# The processes, a parent and then its copy, that have started hotcoco's threads.
_hotcoco_began_in: set[int] = set()


def installed_evaluators() -> tuple[str, ...]:
    """Return which of `EVALUATORS` are installed, fastest first; pycocotools always is."""
    installed = []
    for name in EVALUATORS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(name)
            installed.append(name)
    return tuple(installed)


def chosen_evaluator(name: str | None) -> str:
    """Return the name of the evaluator to use: this one, or the fastest that this process may use.

    A copy of a process (`os.fork`) has none of hotcoco's threads, and hotcoco would wait for them
    for ever. So a copy of a process that has used hotcoco uses pycocotools. Raises InputError for
    an evaluator that is not installed, and for hotcoco in such a copy.
    """
    installed = installed_evaluators()
    if name is not None and not is_one_of(name, installed):
        named = name if isinstance(name, str) else told(name)
        raise InputError(
            f"the evaluator {named} is not installed: pip install hotcoco (the extra 'fast')"
        )
    if not _hotcoco_began_in or os.getpid() in _hotcoco_began_in:
        return name or installed[0]
    if name == "hotcoco":
        raise InputError(
            "hotcoco cannot run here: this process is a copy (fork) of one that has used it, and"
            " has no copy of its threads. Start processes with 'spawn' or 'forkserver', or leave"
            " the evaluator out: pycocotools gives the same numbers"
        )
    return "pycocotools"


def hand_over(
    name: str,
    truth: CocoTruth,
    results: CocoResults,
    mapped: Mapped = map,
    ious: Sequence[float] | None = None,
) -> Callable[[], Any]:
    """Hand ground truth and results to a program, which copies what it needs of them.

    Returns a function that gives the program's evaluation, every image matched at these IoUs, or at
    COCO's ten. `mapped` hands over two halves; hotcoco alone uses it.
    """
    if name == "hotcoco":
        _hotcoco_began_in.add(os.getpid())
        hotcoco = importlib.import_module("hotcoco")  # An extra brings it.
        parameters = hotcoco.Params("bbox")
        if ious is not None:
            parameters.iou_thrs = list(ious)
        matched_blocks = _matched_in_blocks(hotcoco, truth, results, mapped, parameters)
        finish: Callable[[], Any] = matched_blocks.finalize
        return finish
    datasets = _from_objects(_silent("coco").COCO, truth, results)

    def matched() -> Any:
        evaluation = _silent("cocoeval").COCOeval(*datasets, "bbox")
        if ious is not None:
            evaluation.params.iouThrs = np.array(ious)
        evaluation.evaluate()
        return evaluation

    return matched


def precision_and_recall(evaluation: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the arrays of which COCO's numbers are means, -1 where there is no object.

    Precision is by IoU, recall level, category, size and limit of detections; recall by the same
    without the level. Both programs' own summaries print, and one warns.
    """
    evaluation.accumulate()
    return np.asarray(evaluation.eval["precision"]), np.asarray(evaluation.eval["recall"])


@cache
def _silent(name: str) -> ModuleType:
    """Load a module of pycocotools for this library alone, with a `print` that says nothing.

    pycocotools prints its progress, and has no switch for it. A redirected standard output would be
    taken from all threads, and a change of pycocotools' own module would silence it for others.
    """
    spec = importlib.util.find_spec(f"pycocotools.{name}")
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"pycocotools has no module {name}")
    module = importlib.util.module_from_spec(spec)
    vars(module)["print"] = lambda *_, **__: None
    spec.loader.exec_module(module)
    return module


def _matched_in_blocks(
    module: ModuleType, truth: CocoTruth, results: CocoResults, mapped: Mapped, parameters: Any
) -> Any:
    """Let hotcoco match block after block of images, of which it keeps the outcomes alone.

    Images and categories are numbered from 1 in ascending order of their ids, because hotcoco
    takes no negative id, and results as doubles hold no id above 2^53.
    """
    truth, results = _numbered_by_image(truth, results)
    categories = [{"id": number, "name": str(number)} for number in truth.category_ids.tolist()]
    edges = np.append(truth.image_ids[::_IMAGES_AT_A_TIME], len(truth.image_ids) + 1).tolist()

    def matching(blocks: list[tuple[int, int]]) -> Any:
        outcomes = module.StreamingEval(categories, "bbox", params=parameters)
        for first, end in blocks:
            outcomes.update(*_block(truth, results, first, end))
        return outcomes

    # hotcoco matches on all cores, but between its parallel steps one works alone.
    blocks = list(itertools.pairwise(edges))
    half = len(blocks) // 2
    return module.StreamingEval.merge(mapped(matching, (blocks[:half], blocks[half:])))


def _block(
    truth: CocoTruth, results: CocoResults, first: int, end: int
) -> tuple[list[dict[str, int]], list[dict[str, object]], NDArray[np.float64]]:
    """Return images, annotations and results of the images from `first` to before `end`."""
    rows = slice(*np.searchsorted(truth.image_id, (first, end)))
    result_rows = slice(*np.searchsorted(results.image_id, (first, end)))
    return (
        [{"id": number} for number in range(first, end)],
        _annotations(truth, rows),
        np.column_stack(
            (
                results.image_id[result_rows],
                results.box[result_rows],
                results.score[result_rows],
                results.category_id[result_rows],
            )
        ),
    )


def _numbered_by_image(truth: CocoTruth, results: CocoResults) -> tuple[CocoTruth, CocoResults]:
    """Return both with ids that count from 1, sorted by image; the order within one stays."""
    images, categories = Positions(truth.image_ids), Positions(truth.category_ids)
    image = images(truth.image_id) + 1
    order = np.argsort(image, kind="stable")
    numbered = CocoTruth(
        image_ids=np.arange(1, len(truth.image_ids) + 1),
        category_ids=np.arange(1, len(truth.category_ids) + 1),
        image_id=image[order],
        category_id=categories(truth.category_id[order]) + 1,
        box=truth.box[order],
        area=truth.area[order],
        crowd=truth.crowd[order],
    )
    results = replace(
        results,
        image_id=images(results.image_id) + 1,
        category_id=categories(results.category_id) + 1,
    )
    if (np.diff(results.image_id) < 0).any():
        results = results.select(np.argsort(results.image_id, kind="stable"))
    return numbered, results


def _from_objects(coco: Any, truth: CocoTruth, results: CocoResults) -> tuple[Any, Any]:
    """Build the data sets of pycocotools from one object for each annotation."""
    return (
        _dataset(coco(), truth, _annotations(truth, slice(None))),
        _dataset(coco(), truth, _result_annotations(results)),
    )


def _dataset(dataset: Any, truth: CocoTruth, annotations: list[dict[str, object]]) -> Any:
    """Fill a data set of pycocotools, without a file."""
    dataset.dataset = {
        "images": [{"id": own} for own in truth.image_ids.tolist()],
        "categories": [{"id": own, "name": str(own)} for own in truth.category_ids.tolist()],
        "annotations": annotations,
    }
    dataset.createIndex()
    return dataset


def _annotations(truth: CocoTruth, rows: slice) -> list[dict[str, object]]:
    columns = (
        column[rows].tolist()
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


def _result_annotations(results: CocoResults) -> list[dict[str, object]]:
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
