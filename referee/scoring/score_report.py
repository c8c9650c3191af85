# SPDX-License-Identifier: Apache-2.0
"""A score as the plain values that `referee score --json` and `score.json` hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from referee.core.arguments import require
from referee.core.ground_truth import GroundTruth
from referee.scoring.lpirc import normalized_accuracy, score
from referee.scoring.result import IlsvrcResult

if TYPE_CHECKING:  # Importing pycocotools takes time that only its own metric needs.
    from referee.scoring.coco import CocoResult


Report = dict[str, Any]
"""Plain values by field, ready for JSON."""


def ilsvrc_report(result: IlsvrcResult) -> Report:
    """Return every number of an ILSVRC evaluation, ready for JSON.

    `ap` and `grouped_ap` map class ids, as strings, to AP, or to None for a class without ground
    truth. `ignored` maps every reason to its number of rows.
    """
    require("result", result, IlsvrcResult)
    return {
        "metric": "ilsvrc",
        "rules": result.rules.name,
        "rules_version": result.rules.version,
        "mean_ap": result.mean_ap,
        "grouped_mean_ap": result.grouped_mean_ap,
        "classes_with_ground_truth": result.classes_with_ground_truth,
        "classes": len(result.ap),
        "images": result.images,
        "truth_boxes": result.truth_boxes,
        "detections": result.detections,
        "scored": result.scored,
        "ignored": result.ignored,
        "true_positives": result.true_positives,
        "duplicates": result.duplicates,
        "inverted": result.inverted,
        "coordinate_not_finite": result.coordinate_not_finite,
        "ap": {str(class_id): ap for class_id, ap in result.ap.items()},
        "grouped_ap": {str(class_id): ap for class_id, ap in result.grouped_ap.items()},
    }


def coco_report(result: CocoResult) -> Report:
    """Return COCO's numbers, ready for JSON.

    Numbers with the same meaning have the same names as in `ilsvrc_report`. `mean_ap` is AP at
    IoU .50:.95. `coco` has all twelve numbers.
    """
    return {
        "metric": "coco",
        "evaluator": result.evaluator,
        "mean_ap": result.mean_ap,
        "coco": result.numbers,
        "classes_with_ground_truth": sum(ap is not None for ap in result.ap.values()),
        "classes": len(result.ap),
        "images": result.images,
        "truth_boxes": result.truth_boxes,
        "crowd_regions": result.crowd_regions,
        "detections": result.detections,
        "ignored": result.ignored,
        "ap": {str(category_id): ap for category_id, ap in result.ap.items()},
    }


def energy_report(
    mean_ap: float | None, images: int, energy_wh: float | None, images_processed: int
) -> Report:
    """Return the LPIRC figures: energy, mAP per watt-hour, normalised accuracy.

    `score` is None without a mAP or without a finite energy above 0. `images` is the number of
    images in the ground truth; it is the set size of the normalised accuracy. `images_processed`
    are the images answered, unless somebody knows better.
    """
    return {
        "energy_wh": energy_wh,
        "score": score(mean_ap, energy_wh),
        "images_processed": images_processed,
        "normalized_accuracy": normalized_accuracy(mean_ap, images_processed, images),
    }


def images_with_detections(image_id: NDArray[np.int64], truth: GroundTruth) -> int:
    """Count the images of the ground truth that have at least one detection, good or bad."""
    return len(np.intersect1d(image_id, truth.image_ids))
