# SPDX-License-Identifier: Apache-2.0
"""Ground truth and detections for a program of a researcher, in one call each."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

from referee.core.arguments import require
from referee.core.coco_boxes import CocoResults, CocoTruth, unlike_coco
from referee.core.columns import warn_of_fractions
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.errors import ArgumentError
from referee.formats.detections_file import begin_coco_results, read_detections
from referee.formats.ground_truth import read_ground_truth
from referee.formats.image_ids import Numbering, fits_both, in_own_ids
from referee.formats.truth_file import GroundTruthFile
from referee.formats.yolo_counts import folder_warnings, label_warnings

Name = str | os.PathLike[str]


def load_ground_truth(
    path: Name,
    *,
    images: Name | None = None,
    blacklist: Name | None = None,
    classes: int | None = None,
) -> GroundTruth:
    """Read COCO instances JSON, a folder of ILSVRC or PASCAL VOC XML or of YOLO labels, or CSV.

    The options are those of `referee score`: `images` lists the images of CSV or XML, or is the
    folder of the images of YOLO labels, `blacklist` is CSV `image_id,class_id`, and with `classes`
    the class list is 1…classes. Raises `InputError`, which names file, line and field.
    Warns of boxes in fractions of the image, as `load_detections` does, and of boxes that nobody
    can find, without width or height or wholly outside of their image, and of what is odd in YOLO
    labels.
    """
    source = read_ground_truth(
        _path(path, "path"),
        images=None if images is None else _path(images, "images"),
        blacklist=None if blacklist is None else _path(blacklist, "blacklist"),
        classes=classes,
    )
    _warn_of_unfindable(source, path)
    warn_of_fractions(source.truth.box, f"ground truth {path}")
    if source.labels is not None:
        _warn_all(label_warnings(source.labels))
    return replace(source.truth, file_names=source.file_names, sizes=source.sizes)


def load_detections(
    path: Name,
    truth: GroundTruth,
    *,
    image_ids: Numbering | None = None,
    images: Name | None = None,
) -> Detections:
    """Read COCO results JSON, lines, or a folder of YOLO labels.

    Returns the rows under the ground truth's own image ids. `image_ids` says how the file names
    images: "own", or "contest" for 1…N in ascending order of the own ids. Without it the numbering
    counts that fits more rows; where both fit as many, "own" counts and a UserWarning says so.
    A folder's files are named like the images of a `truth` that `load_ground_truth` has read;
    `images` is the folder of the images, for sizes that the ground truth does not have. Raises
    `InputError`, which names file, line and field.
    """
    path = _path(path, "path")
    require("truth", truth, GroundTruth)
    if path.is_dir():
        # It loads the library of images, which the other formats do without.
        from referee.formats.yolo_detections import ImagesOfTruth, read_yolo_detections

        of_truth = ImagesOfTruth(
            truth,
            truth.file_names,
            truth.sizes,
            None if images is None else _path(images, "images"),
        )
        detections, counts = read_yolo_detections(path, of_truth, image_ids)
        _warn_all(folder_warnings(counts))
        return detections
    posted = read_detections(path)
    if image_ids is None and fits_both(posted.image_id, truth):
        warnings.warn(
            f"{path}: the image ids fit both numberings, and are read as the ground truth's own:"
            " give image_ids='own' or image_ids='contest'",
            stacklevel=2,
        )
    warn_of_fractions(posted.box, f"detections {path}")
    return in_own_ids(posted, truth, image_ids)[0]


def _warn_all(sentences: list[str]) -> None:
    """Warn the caller of the function that was called."""
    for sentence in sentences:
        warnings.warn(sentence, stacklevel=3)


def load_coco_truth(path: Name, *, images: Name | None = None) -> CocoTruth:
    """Read what `load_ground_truth` does, as `evaluate_coco` takes it from there.

    Warns of what COCO's metric does not know, as `evaluate_coco` does.
    """
    truth = load_ground_truth(path, images=images)
    _warn_all(unlike_coco(truth))
    return CocoTruth.from_ground_truth(truth)


def load_coco_results(path: Name) -> CocoResults:
    """Read results for COCO's metric, as COCO's boxes; image ids are those of the ground truth.

    It reads what `load_detections` does. Raises `InputError`, which names file, line and field.
    """
    return begin_coco_results(_path(path, "path"))()


def _path(name: object, argument: str) -> Path:
    """Return the path that a caller names; raise ArgumentError for anything else than a name."""
    if not isinstance(name, (str, os.PathLike)):
        raise ArgumentError(
            f"{argument} is {type(name).__name__}: give the name of a file or folder"
        )
    return Path(name)


def _warn_of_unfindable(source: GroundTruthFile, path: Name) -> None:
    """Warn the caller of the library's function of truth boxes that nobody can find."""
    lost = source.unfindable()
    if lost:
        warnings.warn(f"{path}: {lost.words()}", stacklevel=3)
