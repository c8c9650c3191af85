# SPDX-License-Identifier: Apache-2.0
"""Ground truth of any format: COCO JSON, a folder of XML, or CSV."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from referee.core.ground_truth import GroundTruth
from referee.core.written_text import storable
from referee.errors import InputError
from referee.formats.csv_truth import MAX_CLASS, read_blacklist, read_csv_truth
from referee.formats.text import STANDARD_INPUT, Read, read_bytes
from referee.formats.truth_file import GroundTruthFile


def read_ground_truth(
    path: Path,
    *,
    images: Path | None = None,
    blacklist: Path | None = None,
    classes: int | None = None,
    read: Read = read_bytes,
) -> GroundTruthFile:
    """Read ground truth: a folder is XML, a file that begins with `{` is COCO, others are CSV.

    `images` lists the images for CSV or XML, see `csv_truth` and `xml_truth`; it may be a folder
    of pictures. Without it, a CSV source has only the images with a box. `blacklist` is CSV
    `image_id,class_id`. With `classes` the class list is 1…classes, otherwise the source's own.
    Image ids stay the source's own. A class name is text that files and databases can hold. `read`
    reads each file. Raises InputError naming file, line and
    field.
    """
    if path is not STANDARD_INPUT and not path.exists():
        raise InputError(f"{path} does not exist: name the ground truth's file or folder")
    if path.is_dir():
        # The readers of JSON and XML are loaded by whom they serve: CSV needs neither.
        from referee.formats.xml_truth import read_xml_truth

        source = read_xml_truth(path, images, read)
    else:
        content = read(path)
        start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if start == b"[":
            raise InputError(
                f"{path} is a JSON list, as COCO results are: ground truth is an object"
            )
        if start == b"{":
            from referee.formats.coco_truth import read_coco_truth

            _require_folder(path, images)
            source = read_coco_truth(path, content)
        else:
            source = read_csv_truth(path, content, images, read)
    if not len(source.truth.box):
        raise InputError(f"{path} has no boxes: there is nothing to score against")
    truth = source.truth if classes is None else _with_classes(path, source.truth, classes)
    if blacklist is not None:
        truth = replace(truth, blacklist=read_blacklist(blacklist, truth, read))
    names = {key: storable(name) for key, name in truth.class_names.items()}
    return replace(source, truth=replace(truth, class_names=names))


def _require_folder(path: Path, images: Path | None) -> None:
    """Refuse a list of images for a source that lists its images itself."""
    if images is not None and not images.is_dir():
        raise InputError(f"{images} is not needed: {path} lists its images itself")


def _with_classes(path: Path, truth: GroundTruth, classes: int) -> GroundTruth:
    """Replace the class list by 1…classes."""
    if classes < 1:
        raise InputError(f"{classes} is not a number of classes: give 1 or more")
    if classes > MAX_CLASS:
        raise InputError(f"{classes} classes are too many: give {MAX_CLASS} or fewer")
    if int(truth.box_class_id.max()) > classes or int(truth.box_class_id.min()) < 1:
        odd = truth.box_class_id[(truth.box_class_id > classes) | (truth.box_class_id < 1)]
        raise InputError(f"{path} has boxes of class {odd[0]}, which is outside 1 to {classes}")
    names = {key: name for key, name in truth.class_names.items() if 1 <= key <= classes}
    return replace(truth, class_ids=np.arange(1, classes + 1, dtype=np.int64), class_names=names)
