# SPDX-License-Identifier: Apache-2.0
"""Ground truth of any format: COCO JSON, a folder of XML or of YOLO labels, or CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from referee.core.ground_truth import GroundTruth
from referee.core.written_text import storable
from referee.errors import InputError, about_file
from referee.formats.csv_truth import MAX_CLASS, read_blacklist, read_csv_truth
from referee.formats.text import STANDARD_INPUT, Read, read_bytes
from referee.formats.truth_file import GroundTruthFile, KnownImage

# A label file has some rows; to look at a longer text would take time.
_ONE_FILE_OF_LABELS = 2**16


def read_ground_truth(
    path: Path,
    *,
    images: Path | None = None,
    blacklist: Path | None = None,
    classes: int | None = None,
    pictures: Path | Sequence[KnownImage] | None = None,
    class_names: Mapping[int, str] | None = None,
    read: Read = read_bytes,
) -> GroundTruthFile:
    """Read ground truth: a folder is XML or YOLO labels, a file that begins with `{` is COCO.

    Other files are CSV. `images` lists the images for CSV or XML, see `csv_truth` and `xml_truth`;
    it may be a folder of pictures. Without it, a CSV source has only the images with a box. For
    labels see `yolo_truth`: their images are `pictures`, or else `images`. `blacklist` is CSV
    `image_id,class_id`. With `classes` the class list is 1…classes, otherwise the source's own.
    Image ids stay the source's own. A class name is text that files and databases can hold. `read`
    reads each file. Raises InputError naming file, line and
    field.
    """
    if path is not STANDARD_INPUT and not path.exists():
        raise InputError(f"{path} does not exist: name the ground truth's file or folder")
    if path.is_dir():
        source = _of_folder(path, images, pictures or images, read, classes, class_names)
    else:
        source = _of_file(path, images, read)
    if not len(source.truth.box):
        raise InputError(f"{path} has no boxes: there is nothing to score against")
    truth = source.truth if classes is None else _with_classes(path, source.truth, classes)
    if blacklist is not None:
        with about_file(blacklist):
            truth = replace(truth, blacklist=read_blacklist(blacklist, truth, read))
    names = {key: storable(name) for key, name in truth.class_names.items()}
    return replace(source, truth=replace(truth, class_names=names))


def _of_folder(
    path: Path,
    images: Path | None,
    pictures: Path | Sequence[KnownImage] | None,
    read: Read,
    classes: int | None,
    class_names: Mapping[int, str] | None,
) -> GroundTruthFile:
    # The readers of JSON, XML and labels are loaded by whom they serve: CSV needs none.
    from referee.formats.yolo_layout import holds_labels

    if holds_labels(path):
        from referee.formats.yolo_truth import read_yolo_truth

        return read_yolo_truth(path, pictures, read, classes=classes, class_names=class_names)
    from referee.formats.xml_truth import read_xml_truth

    return read_xml_truth(path, None if images is None or images.is_dir() else images, read)


def _of_file(path: Path, images: Path | None, read: Read) -> GroundTruthFile:
    content = read(path)
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        raise InputError(f"{path} is a JSON list, as COCO results are: ground truth is an object")
    if start == b"{":
        from referee.formats.coco_truth import read_coco_truth

        _require_folder(path, images)
        return read_coco_truth(path, content)
    _require_no_part_of_labels(path, content)
    return read_csv_truth(path, content, images, read)


def _require_no_part_of_labels(path: Path, content: bytes) -> None:
    """Refuse one file of a data set of YOLO labels: its folder is the ground truth."""
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        raise InputError(f"{path} describes a data set: give the folder of its labels")
    if suffix != ".txt" or len(content) > _ONE_FILE_OF_LABELS or not content.strip():
        return
    from referee.formats.yolo_rows import is_label_text

    if is_label_text(path, content):
        raise InputError(
            f"{path} is a label file of one image: give the folder of the labels, and that of the"
            " images"
        )


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
