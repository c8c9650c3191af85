# SPDX-License-Identifier: Apache-2.0
"""The forms of boxes that programs have, by name, and their conversion.

| name | the four numbers of a box |
| --- | --- |
| `corners` | xmin, ymin, xmax, ymax: inclusive pixels, so a box of one pixel has xmin == xmax |
| `xyxy` | left, top, right, bottom: edges, so the width is right - left |
| `xywh` | left, top, width, height, as in COCO's files |
| `cxcywh` | the centre, width, height, as YOLO and Core ML give them |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from referee.core.arguments import is_one_of, told
from referee.core.columns import Floats, numbers
from referee.errors import ArgumentError

BOX_FORMATS = ("corners", "xyxy", "xywh", "cxcywh")
"""The names of the forms."""

Sizes = Mapping[int, Sequence[float]] | ArrayLike
"""Width and height in pixels: of each image by its id, or one row for each box."""


def in_pixels(box: Floats, image_id: NDArray[np.int64], sizes: Sizes, box_format: str) -> Floats:
    """Return boxes (n, 4) that are fractions of their images as the same form in pixels.

    Raises ArgumentError for an image without a size, a size that is not above 0, and for the form
    `corners`: inclusive corners are pixels, and fractions have edges.
    """
    if _known(box_format) == "corners":
        raise ArgumentError(
            "sizes are for boxes in fractions of the image, which have edges: give"
            " box_format='xyxy', 'xywh' or 'cxcywh' too"
        )
    return box * np.tile(_size_of_each(image_id, sizes), 2)


def to_corners(box: Floats, box_format: str) -> Floats:
    """Return boxes (n, 4) of this form with inclusive corners: xmax = left + width - 1.

    Raises ArgumentError for the name of no form.
    """
    if _known(box_format) == "corners":
        return box
    # Detections may have infinite corners. Infinity minus infinity is NaN: no error here.
    with np.errstate(invalid="ignore", over="ignore"):
        if box_format == "xyxy":
            return box - (0.0, 0.0, 1.0, 1.0)
        corners = to_xywh(box, box_format)
        corners[:, 2:] += corners[:, :2] - 1
    return corners


def to_xywh(box: Floats, box_format: str) -> Floats:
    """Return boxes (n, 4) of this form as left, top, width, height, in a new array.

    Raises ArgumentError for the name of no form.
    """
    result = box.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        if _known(box_format) == "cxcywh":
            result[:, :2] -= box[:, 2:] / 2
        elif box_format == "xyxy":
            result[:, 2:] -= box[:, :2]
        elif box_format == "corners":
            result[:, 2:] -= box[:, :2] - 1
    return result


def require_extent(box: Floats, box_format: str) -> None:
    """Raise ArgumentError for a box (n, 4) that no object has; a file of such boxes is refused too.

    Such a box is not finite or inverted, or has a width or height below 0.
    """
    if _known(box_format) in ("corners", "xyxy"):
        ends = "xmax < xmin or ymax < ymin"
        negative, what_is_wrong = box[:, 2:] < box[:, :2], f"is inverted: {ends}"
    else:
        negative, what_is_wrong = box[:, 2:] < 0, "has a width or height below 0"
    for faulty, what in (
        (~np.isfinite(box).all(axis=1), "has a corner that is not finite"),
        (negative.any(axis=1), what_is_wrong),
    ):
        if faulty.any():
            row = int(np.argmax(faulty))
            raise ArgumentError(f"box [{row}] of the ground truth {what}: {box[row].tolist()}")


def _size_of_each(image_id: NDArray[np.int64], sizes: Sizes) -> Floats:
    """Return width and height of each box's image, (n, 2)."""
    if isinstance(sizes, Mapping):
        images, row = np.unique(image_id, return_inverse=True)
        missing = [image for image in images.tolist() if image not in sizes]
        if missing:
            raise ArgumentError(f"sizes have no width and height of image {missing[0]}")
        listed = numbers([sizes[image] for image in images.tolist()], "sizes")
        size_of_each = listed[row] if len(images) else np.empty((0, 2))
    else:
        size_of_each = numbers(sizes, "sizes")
    if size_of_each.shape != (len(image_id), 2):
        raise ArgumentError(
            "sizes must be a mapping from image ids to width and height, or have a row of both for"
            f" each of the {len(image_id)} boxes, not the shape {size_of_each.shape}"
        )
    if not bool((np.isfinite(size_of_each) & (size_of_each > 0)).all()):
        raise ArgumentError("sizes must be widths and heights in pixels, finite and above 0")
    return size_of_each


def _known(box_format: str) -> str:
    if not is_one_of(box_format, BOX_FORMATS):
        raise ArgumentError(
            f"box_format is {told(box_format)}: give one of {', '.join(map(repr, BOX_FORMATS))}"
        )
    return box_format
