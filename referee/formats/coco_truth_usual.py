# SPDX-License-Identifier: Apache-2.0
"""COCO instances of the usual form, decoded straight into their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from referee.core.coco_boxes import CocoTruth
from referee.formats.typed_json import Typed, without_mark


@dataclass(frozen=True, eq=False)
class Instances:
    """The content of COCO instances: `class_names`, `file_names` and `sizes` go by id."""

    coco: CocoTruth
    class_names: dict[int, str]
    file_names: dict[int, str]
    sizes: dict[int, tuple[int, int]]


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


_USUAL = Typed(_Instances)


def usual_instances(content: bytes) -> Instances | None:
    """Return the instances if every entry has the usual form and is sound, else None."""
    found = _USUAL.decode(without_mark(content))
    if found is None or any(entry.iscrowd not in (0, 1) for entry in found.annotations):
        return None
    try:
        coco = _coco_truth(found)
    except OverflowError:  # An id has more than 64 bits.
        return None
    if not _is_sound(coco):
        return None
    return Instances(
        coco,
        {category.id: str(category.name) for category in found.categories},
        {
            image.id: str(image.file_name)
            for image in found.images
            if image.file_name is not msgspec.UNSET
        },
        {
            image.id: (image.width, image.height)
            for image in found.images
            if isinstance(image.width, int) and isinstance(image.height, int)
        },
    )


def _coco_truth(found: _Instances) -> CocoTruth:
    entries = found.annotations
    box = np.array([entry.bbox for entry in entries], dtype=np.float64).reshape(-1, 4)
    area = [
        width * height if entry.area is msgspec.UNSET else entry.area
        for entry, (width, height) in zip(entries, box[:, 2:].tolist(), strict=True)
    ]
    return CocoTruth(
        image_ids=np.sort(np.array([image.id for image in found.images], dtype=np.int64)),
        category_ids=np.sort(np.array([it.id for it in found.categories], dtype=np.int64)),
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
