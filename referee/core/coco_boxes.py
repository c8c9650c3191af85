# SPDX-License-Identifier: Apache-2.0
"""Ground truth and results in COCO's own terms: boxes as x, y, width, height, and crowd regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from referee.core.box_formats import Sizes, in_pixels, require_extent, to_xywh
from referee.core.coco_annotations import CocoAnnotations
from referee.core.columns import (
    array_of,
    four_columns,
    numbers,
    require_arrays,
    warn_of_fractions,
    whole_numbers,
)
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth, listed_ids
from referee.core.shown import Shown, distinct
from referee.errors import ArgumentError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class CocoTruth(Shown):
    """COCO ground truth: the listed images and categories, and m annotations of them.

    `image_id` and `category_id` (int64, (m,)) name each annotation's image and category. `box`
    (float64, (m, 4)) has columns x, y, width, height. `area` (float64, (m,)) is COCO's field
    `area`, which separates small boxes from large ones. `crowd` (bool, (m,)) marks crowd regions:
    they may be matched many times and count neither way.
    """

    image_ids: Ints
    category_ids: Ints
    image_id: Ints
    category_id: Ints
    box: Floats
    area: Floats
    crowd: NDArray[np.bool_]

    def __post_init__(self) -> None:
        require_arrays(self, "image_ids", "category_ids", "image_id", "category_id")
        require_arrays(self, "box", "area", "crowd")

    def _facts(self) -> Mapping[str, object]:
        """Return what a notebook shows."""
        return {
            "images": len(self.image_ids),
            "categories": len(self.category_ids),
            "boxes": int((~self.crowd).sum()),
            "crowd regions": int(self.crowd.sum()),
        }

    @classmethod
    def from_arrays(
        cls,
        image_id: ArrayLike,
        category_id: ArrayLike,
        box: ArrayLike,
        *,
        area: ArrayLike | None = None,
        crowd: ArrayLike | None = None,
        images: ArrayLike | None = None,
        categories: ArrayLike | None = None,
        box_format: str = "xywh",
        sizes: Sizes | None = None,
    ) -> CocoTruth:
        """Build from annotations, (m,), (m,) and (m, 4), of anything that numpy makes arrays of.

        `area` is (m,), without it width times height. `crowd` is (m,) of true and false. `images`
        and `categories` list all ids, also those without an annotation. `box_format` and `sizes`
        are as in `Detections.from_arrays`. The arrays are copied. Raises ArgumentError for other
        shapes, a box or area that is below 0 or not finite, and an id that is not listed.
        """
        of_image = whole_numbers(image_id, "image_id")
        of_category = whole_numbers(category_id, "category_id")
        boxes = four_columns(box)
        require_extent(boxes, box_format)
        if sizes is None:
            warn_of_fractions(boxes, "ground truth")
        else:
            boxes = in_pixels(boxes, of_image, sizes, box_format)
        boxes = to_xywh(boxes, box_format)
        areas = boxes[:, 2] * boxes[:, 3] if area is None else numbers(area, "area")
        crowds = np.zeros(len(boxes)) if crowd is None else array_of(crowd, "crowd")
        n = len(boxes)
        if not of_image.shape == of_category.shape == areas.shape == crowds.shape == (n,):
            raise ArgumentError("image_id, category_id, box, area and crowd must be as long")
        if not bool((np.isfinite(areas) & (areas >= 0)).all()):
            raise ArgumentError("area must be finite and not below 0")
        if not np.isin(crowds, (0, 1)).all():
            raise ArgumentError(f"crowd must be true or false for each of the {n} boxes")
        return cls(
            image_ids=listed_ids(images, of_image, "image"),
            category_ids=listed_ids(categories, of_category, "category"),
            image_id=of_image,
            category_id=of_category,
            box=boxes,
            area=areas,
            crowd=crowds.astype(np.bool_),
        )

    @classmethod
    def from_ground_truth(cls, truth: GroundTruth) -> CocoTruth:
        """Convert ground truth with inclusive corners, with its own lists of images and classes.

        Areas, crowd regions and exact boxes are those of its `coco`. Where it has none, or other
        boxes by now, a box's area is width times height, and there is no crowd region.
        """
        coco = truth.coco
        if coco is not None and _has_the_boxes(coco, truth):
            return cls(
                image_ids=truth.image_ids,
                category_ids=truth.class_ids,
                image_id=coco.image_id,
                category_id=coco.category_id,
                box=coco.box,
                area=coco.area,
                crowd=coco.crowd,
            )
        box = to_xywh(truth.box, "corners")
        return cls(
            image_ids=truth.image_ids,
            category_ids=truth.class_ids,
            image_id=truth.box_image_id,
            category_id=truth.box_class_id,
            box=box,
            area=box[:, 2] * box[:, 3],
            crowd=np.zeros(len(box), dtype=np.bool_),
        )


def _has_the_boxes(coco: CocoAnnotations, truth: GroundTruth) -> bool:
    """Tell whether the single annotations are the boxes of the ground truth, in their order."""
    boxes = (truth.box_image_id, truth.box_class_id, truth.box)
    return all(map(np.array_equal, coco.objects(), boxes))


def unlike_coco(truth: GroundTruth) -> list[str]:
    """Return a sentence for each thing that the ground truth says and COCO's metric cannot hear."""
    said = []
    if len(truth.blacklist):
        said.append(
            f"COCO's metric knows no blacklist: its {len(truth.blacklist)} pairs count like others"
        )
    if truth.difficult is not None:
        said.append(
            f"COCO's metric knows no difficult objects: the {int(truth.difficult.sum())} that are"
            " flagged count like others"
        )
    if truth.coco is not None and not _has_the_boxes(truth.coco, truth):
        said.append(
            "the boxes of the ground truth are no longer those that were read: its crowd regions"
            " and areas are left out, and the size of an object is that of its box"
        )
    return said


@dataclass(frozen=True, eq=False, repr=False)
class CocoResults(Shown):
    """COCO results: n detections in file order; `box` (n, 4) has x, y, width, height."""

    image_id: Ints
    category_id: Ints
    score: Floats
    box: Floats

    def __post_init__(self) -> None:
        require_arrays(self, "image_id", "category_id", "score", "box")

    def __len__(self) -> int:
        return len(self.image_id)

    def _facts(self) -> Mapping[str, object]:
        """Return what a notebook shows."""
        return {
            "rows": len(self),
            "images": distinct(self.image_id),
            "categories": distinct(self.category_id),
        }

    @classmethod
    def from_arrays(
        cls,
        image_id: ArrayLike,
        category_id: ArrayLike,
        score: ArrayLike,
        box: ArrayLike,
        *,
        box_format: str = "xywh",
        sizes: Sizes | None = None,
    ) -> CocoResults:
        """Build as `Detections.from_arrays` does; COCO's own boxes stay as they are, to the bit."""
        results = cls(
            whole_numbers(image_id, "image_id"),
            whole_numbers(category_id, "category_id"),
            numbers(score, "score"),
            four_columns(box),
        )
        n = len(results)
        if not results.category_id.shape == results.score.shape == (len(results.box),) == (n,):
            raise ArgumentError("image_id, category_id, score and box must be as long")
        given = results.box
        if sizes is None:
            warn_of_fractions(given, "results")
        else:
            given = in_pixels(given, results.image_id, sizes, box_format)
        return replace(results, box=to_xywh(given, box_format))

    @classmethod
    def from_detections(cls, detections: Detections) -> CocoResults:
        """Convert detections with inclusive corners: width = xmax - xmin + 1."""
        return cls(
            detections.image_id,
            detections.class_id,
            detections.confidence,
            to_xywh(detections.box, "corners"),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[CocoResults]) -> CocoResults:
        """Join the rows of one part or more, in the order given."""
        return cls(
            np.concatenate([part.image_id for part in parts]),
            np.concatenate([part.category_id for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.box for part in parts]),
        )

    def to_detections(self) -> Detections:
        """Return the results with inclusive corners: xmax = x + width - 1."""
        corners = self.box.copy()
        # A contestant may send infinite corners. Infinity minus infinity is NaN: no error here.
        with np.errstate(invalid="ignore", over="ignore"):
            corners[:, 2:] += corners[:, :2] - 1
        return Detections(self.image_id, self.category_id, self.score, corners)

    def select(self, chosen: NDArray[np.bool_] | Ints) -> CocoResults:
        """Return the rows that a mask or an index array selects, in its order."""
        return replace(
            self,
            image_id=self.image_id[chosen],
            category_id=self.category_id[chosen],
            score=self.score[chosen],
            box=self.box[chosen],
        )
