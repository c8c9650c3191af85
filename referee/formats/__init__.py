# SPDX-License-Identifier: Apache-2.0
"""Readers of the files that people bring: ground truth, blacklists, detections."""

from referee.formats.detections_file import read_coco_results, read_detections
from referee.formats.ground_truth import read_ground_truth
from referee.formats.image_ids import (
    contest_image_ids,
    in_own_ids,
    own_image_ids,
    renumber,
    renumber_detections,
)
from referee.formats.truth_file import GroundTruthFile

__all__ = [
    "GroundTruthFile",
    "contest_image_ids",
    "in_own_ids",
    "own_image_ids",
    "read_coco_results",
    "read_detections",
    "read_ground_truth",
    "renumber",
    "renumber_detections",
]
