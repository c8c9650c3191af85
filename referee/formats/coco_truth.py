# SPDX-License-Identifier: Apache-2.0
"""Ground truth as COCO instances JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from referee.core.coco_annotations import CocoAnnotations
from referee.core.coco_boxes import CocoTruth
from referee.core.garbage import collections_paused
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.fast_reading import fast_or_slow
from referee.formats.json_fields import load_json, number, object_at, objects, whole
from referee.formats.json_text import TypedDecoder, without_mark
from referee.formats.truth_file import NO_BLACKLIST, GroundTruthFile, known_sizes


@dataclass(frozen=True, eq=False)
class _Content:
    """The content of COCO instances: `class_names`, `file_names` and `sizes` go by id."""

    coco: CocoTruth
    class_names: dict[int, str]
    file_names: dict[int, str]
    sizes: dict[int, tuple[int, int]]


def read_coco_truth(path: Path, content: bytes) -> GroundTruthFile:
    """Read `images`, `categories` and `annotations` of COCO instances.

    A box [x, y, w, h] has the inclusive corners x, y, x+w-1, y+h-1. Crowd regions (`iscrowd` 1)
    are no boxes of the ground truth; COCO's own metric gets them. The categories are the class
    list.
    """
    with collections_paused():
        source = fast_or_slow(partial(_fast, content), partial(_slow, path, content))
    coco = source.coco
    annotations = CocoAnnotations(coco.image_id, coco.category_id, coco.box, coco.area, coco.crowd)
    image_id, class_id, boxes = annotations.objects()
    truth = GroundTruth(
        image_ids=coco.image_ids,
        class_ids=coco.category_ids,
        box_image_id=image_id,
        box_class_id=class_id,
        box=boxes,
        blacklist=NO_BLACKLIST,
        class_names=source.class_names,
        coco=annotations,
    )
    return GroundTruthFile(truth, source.file_names, source.sizes)


class _Image(msgspec.Struct, gc=False):
    id: int
    file_name: Any = msgspec.UNSET
    width: Any = None
    height: Any = None


class _Category(msgspec.Struct, gc=False):
    id: int
    name: Any = ""


class _Annotation(msgspec.Struct, gc=False):
    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    area: float | msgspec.UnsetType = msgspec.UNSET
    iscrowd: int = 0


class _Instances(msgspec.Struct, gc=False):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Annotation]


_USUAL = TypedDecoder(_Instances)


def _fast(content: bytes) -> _Content | None:
    """Return the content if every entry has the usual form and is sound, else None."""
    instances = _USUAL.decode(without_mark(content))
    if instances is None or any(entry.iscrowd not in (0, 1) for entry in instances.annotations):
        return None
    try:
        coco = _from_instances(instances)
    except OverflowError:  # An id has more than 64 bits.
        return None
    if not _is_sound(coco):
        return None
    return _Content(
        coco,
        {category.id: str(category.name) for category in instances.categories},
        {
            image.id: str(image.file_name)
            for image in instances.images
            if image.file_name is not msgspec.UNSET
        },
        known_sizes((image.id, image.width, image.height) for image in instances.images),
    )


def _from_instances(instances: _Instances) -> CocoTruth:
    entries = instances.annotations
    box = np.array([entry.bbox for entry in entries], dtype=np.float64).reshape(-1, 4)
    area = [
        width * height if entry.area is msgspec.UNSET else entry.area
        for entry, (width, height) in zip(entries, box[:, 2:].tolist(), strict=True)
    ]
    return CocoTruth(
        image_ids=np.sort(np.array([image.id for image in instances.images], dtype=np.int64)),
        category_ids=np.sort(
            np.array([category.id for category in instances.categories], dtype=np.int64)
        ),
        image_id=np.array([entry.image_id for entry in entries], dtype=np.int64),
        category_id=np.array([entry.category_id for entry in entries], dtype=np.int64),
        box=box,
        area=np.array(area, dtype=np.float64),
        crowd=np.array([entry.iscrowd for entry in entries], dtype=np.bool_),
    )


def _is_sound(coco: CocoTruth) -> bool:
    """Tell whether ids are unique and listed, and boxes and areas are finite and not negative."""
    return bool(
        (np.diff(coco.image_ids) > 0).all()
        and (np.diff(coco.category_ids) > 0).all()
        and np.isin(coco.image_id, coco.image_ids).all()
        and np.isin(coco.category_id, coco.category_ids).all()
        and np.isfinite(coco.box).all()
        and (coco.box[:, 2:] >= 0).all()
        and np.isfinite(coco.area).all()
        and (coco.area >= 0).all()
    )


def _slow(path: Path, content: bytes) -> _Content:
    """Read entry by entry, and name the first fault."""
    value = load_json(path, content)
    images = _by_id(path, value, "images")
    categories = _by_id(path, value, "categories")
    rows = []
    for place, annotation in objects(path, value, "annotations"):
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
    return _Content(
        _from_rows(sorted(images), sorted(categories), rows),
        {own: str(category.get("name", "")) for own, category in categories.items()},
        _file_names(images),
        known_sizes(
            (own, image.get("width"), image.get("height")) for own, image in images.items()
        ),
    )


def _by_id(path: Path, content: Any, key: str) -> dict[int, dict[str, object]]:
    """Return the objects of a list by their `id`; refuse an id that occurs twice."""
    entries: dict[int, dict[str, object]] = {}
    for place, entry in objects(path, content, key):
        entry_id = whole(path, place, entry, "id")
        if entry_id in entries:
            raise InputError(f"{path}, {place}, id: {entry_id} is listed twice")
        entries[entry_id] = entry
    return entries


def _is_crowd(path: Path, place: str, annotation: dict[str, object]) -> bool:
    value = annotation.get("iscrowd", 0)
    if value not in (0, 1):
        raise InputError(f"{path}, {place}, iscrowd: give 0 or 1")
    return bool(value)


def _from_rows(
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
    path: Path, place: str, annotation: dict[str, object]
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


def _file_names(images: dict[int, dict[str, object]]) -> dict[int, str]:
    return {own: str(image["file_name"]) for own, image in images.items() if "file_name" in image}
