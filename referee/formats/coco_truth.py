# SPDX-License-Identifier: Apache-2.0
"""Ground truth as COCO instances JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from referee.core.coco_boxes import CocoTruth
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.coco_truth_usual import Instances, usual_instances
from referee.formats.json_fields import load_json, number, object_at, objects, whole
from referee.formats.truth_file import NO_BLACKLIST, GroundTruthFile
from referee.formats.typed_json import collections_paused


def read_coco_truth(path: Path, content: bytes) -> GroundTruthFile:
    """Read `images`, `categories` and `annotations` of COCO instances.

    A box [x, y, w, h] has the inclusive corners x, y, x+w-1, y+h-1. Crowd regions (`iscrowd` 1)
    are not part of the ground truth; COCO's own metric gets them. The categories are the class
    list.
    """
    with collections_paused():
        instances = usual_instances(content) or _one_by_one(path, load_json(path, content))
    coco = instances.coco
    single = ~coco.crowd
    boxes = coco.box[single]
    boxes[:, 2:] += boxes[:, :2] - 1
    truth = GroundTruth(
        image_ids=coco.image_ids,
        class_ids=coco.category_ids,
        box_image_id=coco.image_id[single],
        box_class_id=coco.category_id[single],
        box=boxes,
        blacklist=NO_BLACKLIST,
        class_names=instances.class_names,
    )
    return GroundTruthFile(truth, instances.file_names, instances.sizes, coco)


def _one_by_one(path: Path, content: Any) -> Instances:
    """Read entry by entry, and name the first fault."""
    images = _by_id(path, content, "images")
    categories = _by_id(path, content, "categories")
    rows = []
    for place, annotation in objects(path, content, "annotations"):
        image_id, class_id, box, area = _annotation(path, place, annotation)
        if image_id not in images:
            raise InputError(
                f"{path}, {place}, image_id: image {image_id} is not among the images listed"
            )
        if class_id not in categories:
            raise InputError(
                f"{path}, {place}, category_id: {class_id} is not among the categories listed"
            )
        rows.append((image_id, class_id, box, area, _is_crowd(path, place, annotation)))
    return Instances(
        _coco_truth(sorted(images), sorted(categories), rows),
        {own: str(category.get("name", "")) for own, category in categories.items()},
        _file_names(images),
        _sizes(images),
    )


def _by_id(path: Path, content: Any, key: str) -> dict[int, dict[str, Any]]:
    """Return the objects of a list by their `id`; refuse an id that occurs twice."""
    found: dict[int, dict[str, Any]] = {}
    for place, entry in objects(path, content, key):
        own = whole(path, place, entry, "id")
        if own in found:
            raise InputError(f"{path}, {place}, id: {own} is listed twice")
        found[own] = entry
    return found


def _is_crowd(path: Path, place: str, annotation: dict[str, Any]) -> bool:
    value = annotation.get("iscrowd", 0)
    if value not in (0, 1):
        raise InputError(f"{path}, {place}, iscrowd: give 0 or 1")
    return bool(value)


def _coco_truth(
    image_ids: list[int],
    category_ids: list[int],
    rows: list[tuple[int, int, list[float], float, bool]],
) -> CocoTruth:
    return CocoTruth(
        image_ids=np.array(image_ids, dtype=np.int64),
        category_ids=np.array(category_ids, dtype=np.int64),
        image_id=np.array([row[0] for row in rows], dtype=np.int64),
        category_id=np.array([row[1] for row in rows], dtype=np.int64),
        box=np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 4),
        area=np.array([row[3] for row in rows], dtype=np.float64),
        crowd=np.array([row[4] for row in rows], dtype=np.bool_),
    )


def _annotation(
    path: Path, place: str, annotation: dict[str, Any]
) -> tuple[int, int, list[float], float]:
    """Return image id, category id, [x, y, w, h] and area of one annotation.

    Without the field `area`, the area is width times height of the box.
    """
    box = object_at(path, place, annotation, "bbox")
    if not isinstance(box, list) or len(box) != 4:
        raise InputError(f"{path}, {place}, bbox: give four numbers [x, y, width, height]")
    numbers = [number(path, place, "bbox", value) for value in box]
    if not all(map(math.isfinite, numbers)) or min(numbers[2:]) < 0:
        raise InputError(
            f"{path}, {place}, bbox: {box} has a width or height below 0, or is not finite"
        )
    area = number(path, place, "area", annotation.get("area", numbers[2] * numbers[3]))
    if not (math.isfinite(area) and area >= 0):
        raise InputError(f"{path}, {place}, area: {area} is below 0, or is not finite")
    return (
        whole(path, place, annotation, "image_id"),
        whole(path, place, annotation, "category_id"),
        numbers,
        area,
    )


def _file_names(images: dict[int, dict[str, Any]]) -> dict[int, str]:
    return {own: str(image["file_name"]) for own, image in images.items() if "file_name" in image}


def _sizes(images: dict[int, dict[str, Any]]) -> dict[int, tuple[int, int]]:
    sizes = {}
    for own, image in images.items():
        width, height = image.get("width"), image.get("height")
        if isinstance(width, int) and isinstance(height, int):
            sizes[own] = (width, height)
    return sizes
