# SPDX-License-Identifier: Apache-2.0
"""The detections that `referee score` was given, under the ground truth's own image ids."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from referee.core.coco_boxes import CocoResults
from referee.core.columns import fractions_fault
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.formats.detections_file import (
    begin_coco_results,
    begin_detections_and_form,
)
from referee.formats.image_ids import Numbering, fits_both, in_own_ids, own_image_ids
from referee.formats.text import STANDARD_INPUT
from referee.formats.truth_file import GroundTruthFile
from referee.formats.yolo_counts import FolderCounts, folder_warnings

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Given:
    """Detections under the source's own image ids, and how the file named the images.

    `as_coco` tells whether boxes came as x, y, width, height. `files` counts those of a folder.
    """

    detections: Detections
    numbering: Numbering
    warnings: list[str]
    as_coco: bool = False
    files: FolderCounts | None = None


@dataclass(frozen=True, eq=False)
class GivenResults:
    """The same with COCO's boxes, which COCO's metric gets to the bit."""

    results: CocoResults
    numbering: Numbering
    warnings: list[str]
    files: FolderCounts | None = None


def begin_given(path: Path, args: argparse.Namespace) -> Callable[[GroundTruthFile], Given]:
    """Begin to read detections; the function ends it with the ground truth, which is read after.

    Detections take longest to read, so they begin first. Call the function once.
    """
    if _is_folder(path):
        return lambda truth_file: _of_folder(path, truth_file, args)
    finish = [begin_detections_and_form(path)]

    def given(truth_file: GroundTruthFile) -> Given:
        posted, as_coco = finish.pop()()  # It holds the text, which is let go.
        warnings = of_image_ids(posted.image_id, truth_file.truth, args.image_ids)
        warnings += of_boxes(posted.box, truth_file.truth)
        detections, numbering = in_own_ids(posted, truth_file.truth, args.image_ids)
        return Given(detections, numbering, warnings, as_coco)

    return given


def begin_given_results(
    path: Path, args: argparse.Namespace
) -> Callable[[GroundTruthFile], GivenResults]:
    """Do as `begin_given` does, with COCO's boxes."""
    if _is_folder(path):

        def of_folder(truth_file: GroundTruthFile) -> GivenResults:
            found = _of_folder(path, truth_file, args)
            results = CocoResults.from_detections(found.detections)
            return GivenResults(results, found.numbering, found.warnings, found.files)

        return of_folder
    finish = [begin_coco_results(path)]

    def given(truth_file: GroundTruthFile) -> GivenResults:
        results = finish.pop()()
        warnings = of_image_ids(results.image_id, truth_file.truth, args.image_ids)
        warnings += of_boxes(results.box, truth_file.truth)
        image_id, numbering = own_image_ids(results.image_id, truth_file.truth, args.image_ids)
        return GivenResults(replace(results, image_id=image_id), numbering, warnings)

    return given


def _is_folder(path: Path) -> bool:
    return path is not STANDARD_INPUT and path.is_dir()


def _of_folder(path: Path, truth_file: GroundTruthFile, args: argparse.Namespace) -> Given:
    # It loads the library of images, which the other formats do without.
    from referee.formats.yolo_detections import ImagesOfTruth, read_yolo_detections

    folders = [one for one in (args.images, args.pictures) if one is not None and _is_folder(one)]
    images = ImagesOfTruth(
        truth_file.truth, truth_file.file_names, truth_file.sizes, folders[0] if folders else None
    )
    detections, counts = read_yolo_detections(path, images, args.image_ids)
    return Given(detections, "own", folder_warnings(counts), files=counts)


def of_image_ids(image_id: Ints, truth: GroundTruth, chosen: Numbering | None) -> list[str]:
    """Warn if the ids fit both numberings and nobody chose one; `image_id` is as in the file."""
    if chosen is not None or not fits_both(image_id, truth):
        return []
    return [
        "the detections' image ids fit two numberings, the ground truth's own ids and 1 to"
        f" {len(truth.image_ids)} of a contest, and are read as own ids: say which they are with"
        " --image-ids own or --image-ids contest"
    ]


def of_boxes(box: Floats, truth: GroundTruth) -> list[str]:
    """Warn if all boxes lie between 0 and 1, as fractions of an image do."""
    pairs = ((truth.box, "ground truth"), (box, "detections"))
    faults = [fractions_fault(corners, whose) for corners, whose in pairs]
    return [fault for fault in faults if fault][:1]
