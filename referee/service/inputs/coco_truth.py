# SPDX-License-Identifier: Apache-2.0
"""Ground truth as COCO instances JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.service.inputs.json_fields import number, object_at, objects, whole
from referee.service.inputs.text import load_json
from referee.service.inputs.truth_file import NO_BLACKLIST, GroundTruthFile

__all__ = ["read_coco_truth"]


def read_coco_truth(path: Path, content: bytes) -> GroundTruthFile:
    """Read `images`, `categories` and `annotations` of COCO instances.

    A box [x, y, w, h] has the inclusive corners x, y, x+w-1, y+h-1. Crowd regions (`iscrowd` 1)
    are left out of the ground truth. The class list is that of the categories.
    """
    content_json = load_json(path, content)
    images = {
        whole(path, place, image, "id"): image
        for place, image in objects(path, content_json, "images")
    }
    categories = {
        whole(path, place, category, "id"): str(category.get("name", ""))
        for place, category in objects(path, content_json, "categories")
    }
    rows = []
    for place, annotation in objects(path, content_json, "annotations"):
        image_id, class_id, box = _annotation(path, place, annotation)
        if image_id not in images:
            raise InputError(
                f"{path}, {place}, image_id: image {image_id} is not among the images listed"
            )
        if class_id not in categories:
            raise InputError(
                f"{path}, {place}, category_id: {class_id} is not among the categories listed"
            )
        if not annotation.get("iscrowd"):
            rows.append((image_id, class_id, box))
    boxes = np.array([box for _, _, box in rows], dtype=np.float64).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2] - 1
    truth = GroundTruth(
        image_ids=np.array(sorted(images), dtype=np.int64),
        class_ids=np.array(sorted(categories), dtype=np.int64),
        box_image_id=np.array([image_id for image_id, _, _ in rows], dtype=np.int64),
        box_class_id=np.array([class_id for _, class_id, _ in rows], dtype=np.int64),
        box=boxes,
        blacklist=NO_BLACKLIST,
        class_names=categories,
    )
    return GroundTruthFile(truth, file_names=_file_names(images), sizes=_sizes(images))


def _annotation(path: Path, place: str, annotation: dict[str, Any]) -> tuple[int, int, list[float]]:
    """Return image id, category id and [x, y, w, h] of one annotation."""
    box = object_at(path, place, annotation, "bbox")
    if not isinstance(box, list) or len(box) != 4:
        raise InputError(f"{path}, {place}, bbox: give four numbers [x, y, width, height]")
    numbers = [number(path, place, "bbox", value) for value in box]
    if not all(map(math.isfinite, numbers)) or min(numbers[2:]) < 0:
        raise InputError(
            f"{path}, {place}, bbox: {box} has a width or height below 0, or is not finite"
        )
    return (
        whole(path, place, annotation, "image_id"),
        whole(path, place, annotation, "category_id"),
        numbers,
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
