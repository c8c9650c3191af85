# SPDX-License-Identifier: Apache-2.0
"""Ground truth as parallel arrays: the images of a contest and the boxes in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from referee.core.box_formats import Sizes, in_pixels, require_extent, to_corners
from referee.core.coco_annotations import CocoAnnotations
from referee.core.columns import (
    array_of,
    four_columns,
    require_arrays,
    warn_of_fractions,
    whole_numbers,
)
from referee.core.shown import Shown
from referee.errors import ArgumentError


@dataclass(frozen=True, eq=False, repr=False)
class GroundTruth(Shown):
    """The images, classes, boxes and blacklist against which detections are scored.

    `image_ids` (int64, ascending, unique) lists every image, also those without a box.
    `class_ids` (int64, ascending, unique) lists the classes; a detection of any other class is
    out of range. `box` (float64, shape (m, 4)) has xmin, ymin, xmax, ymax in file order, as
    inclusive pixels of the annotated image. `box_image_id` and `box_class_id` (int64, (m,)) name
    each box's image and class. `blacklist` (int64, shape (k, 2)) holds pairs (image id, class id)
    that count neither way. `class_names` maps class ids to names where the source has names.
    `difficult` (bool, (m,)) flags the boxes that PASCAL VOC's rules leave out. It is None if no box
    is flagged. `coco` holds the annotations of a COCO source as COCO's metric needs them: with
    their own areas, and with the crowd regions, which are no boxes here. `file_names` and `sizes`
    (width, height in pixels) are those of the images that the source has them of, by image id.
    """

    image_ids: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    box_image_id: NDArray[np.int64]
    box_class_id: NDArray[np.int64]
    box: NDArray[np.float64]
    blacklist: NDArray[np.int64]
    class_names: dict[int, str]
    difficult: NDArray[np.bool_] | None = None
    coco: CocoAnnotations | None = None
    file_names: dict[int, str] = field(default_factory=dict)
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_arrays(self, "image_ids", "class_ids", "box_image_id", "box_class_id", "box")
        require_arrays(self, "blacklist")

    def _facts(self) -> Mapping[str, object]:
        """Return what a notebook shows."""
        flagged = 0 if self.difficult is None else int(self.difficult.sum())
        return {
            "images": len(self.image_ids),
            "classes": len(self.class_ids),
            "boxes": len(self.box),
            **({"difficult": flagged} if flagged else {}),
            **({"blacklisted pairs": len(self.blacklist)} if len(self.blacklist) else {}),
        }

    @classmethod
    def from_arrays(
        cls,
        image_id: ArrayLike,
        class_id: ArrayLike,
        box: ArrayLike,
        *,
        images: ArrayLike | None = None,
        classes: ArrayLike | Mapping[int, str] | None = None,
        blacklist: ArrayLike = (),
        difficult: ArrayLike | None = None,
        box_format: str = "corners",
        sizes: Sizes | None = None,
    ) -> GroundTruth:
        """Build from boxes, (m,), (m,) and (m, 4), of anything that numpy makes arrays of.

        `images` and `classes` list all ids, in any order, also those without a box; without them
        the lists are those of the boxes. `classes` may be a mapping from all ids to names.
        `blacklist` is (k, 2), `difficult` (m,) of true and false. `box_format` and `sizes` are as
        in `Detections.from_arrays`. The arrays are copied. Raises ArgumentError for other shapes,
        for ids that are not whole numbers of 64 bits, for a box that is inverted or not finite, and
        for one of an image or class that is not listed. Without `sizes`, warns of boxes in
        fractions of the image.
        """
        box_image = whole_numbers(image_id, "image_id")
        box_class = whole_numbers(class_id, "class_id")
        boxes = four_columns(box)
        if not len(box_image) == len(box_class) == len(boxes):
            raise ArgumentError(
                f"image_id, class_id and box must be as long: they have {len(box_image)},"
                f" {len(box_class)} and {len(boxes)} rows"
            )
        require_extent(boxes, box_format)
        if sizes is None:
            warn_of_fractions(boxes, "ground truth")
        else:
            boxes = in_pixels(boxes, box_image, sizes, box_format)
        ids, names = _listed_classes(classes)
        return cls(
            image_ids=listed_ids(images, box_image, "image"),
            class_ids=listed_ids(ids, box_class, "class"),
            box_image_id=box_image,
            box_class_id=box_class,
            box=to_corners(boxes, box_format),
            blacklist=_pairs(blacklist),
            class_names=names,
            difficult=None if difficult is None else _flags(difficult, len(boxes)),
        )


def named_classes(class_names: object) -> dict[int, str]:
    """Return names by class id as a dict; raise ArgumentError for what maps nothing."""
    if class_names is None:
        return {}
    if not hasattr(class_names, "keys"):
        raise ArgumentError(
            f"class_names is {type(class_names).__name__}: give a mapping from class ids to names"
        )
    return dict(class_names)  # type: ignore[call-overload, no-any-return]


def _listed_classes(
    classes: ArrayLike | Mapping[int, str] | None,
) -> tuple[ArrayLike | None, dict[int, str]]:
    """Return the ids of a list of classes, None if there is none, and the names that it gives."""
    if isinstance(classes, Mapping):
        return [*classes], {**classes}
    return classes, {}


def _pairs(blacklist: ArrayLike) -> NDArray[np.int64]:
    listed = array_of(blacklist, "blacklist")
    if not listed.size:
        return np.empty((0, 2), dtype=np.int64)
    if listed.ndim != 2 or listed.shape[1] != 2:
        raise ArgumentError(
            f"blacklist must have pairs of image and class, (k, 2), not the shape {listed.shape}"
        )
    return whole_numbers(listed.ravel(), "blacklist").reshape(-1, 2)


def _flags(values: ArrayLike, boxes: int) -> NDArray[np.bool_] | None:
    """Return a flag for each box, or None if none is set."""
    flags = array_of(values, "difficult")
    if flags.shape != (boxes,) or not np.isin(flags, (0, 1)).all():
        raise ArgumentError(f"difficult must be true or false for each of the {boxes} boxes")
    return flags.astype(np.bool_) if flags.any() else None


def listed_ids(ids: ArrayLike | None, of_boxes: NDArray[np.int64], what: str) -> NDArray[np.int64]:
    """Return the list of ids, ascending and unique, which must hold those of the boxes."""
    listed = np.unique(of_boxes if ids is None else whole_numbers(ids, f"{what} ids"))
    strange = np.setdiff1d(of_boxes, listed)
    if len(strange):
        raise ArgumentError(f"a box is of {what} {strange[0]}, which is not listed")
    return listed
