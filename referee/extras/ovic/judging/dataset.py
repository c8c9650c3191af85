# SPDX-License-Identifier: Apache-2.0
"""The images that a model is measured and scored on, with their ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.text import Read, cells, parse_cell, read_bytes, require_width
from referee.formats.truth_file import GroundTruthFile
from referee.service.setup.image_entries import listed_images
from referee.service.setup.image_folder import list_folder
from referee.service.setup.image_matching import ListedImage, one_file_each

_SUFFIXES = {".jpg", ".jpeg", ".png"}
_LABEL_FIELDS = ("file", "label")


@dataclass(frozen=True)
class Dataset:
    """A folder of images and the file of their ground truth; `read` reads that file.

    The ground truth of detection is COCO instances JSON or YOLO labels, and that of classification
    is lines `file,label`.
    """

    images: Path
    ground_truth: Path
    read: Read = read_bytes


@dataclass(frozen=True)
class LabelledImage:
    """A file with its class in the numbering of 1001: 0 is the background, 1 the first class."""

    path: Path
    label: int


def images_in(folder: Path) -> list[Path]:
    """Return the images of a folder by name; raise InputError if there is none."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: give the folder of the images")
    images = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
    if not images:
        raise InputError(f"{folder} holds no image: the files must be JPEG or PNG")
    return images


def labelled_images(dataset: Dataset) -> list[LabelledImage]:
    """Read lines `file,label` with an optional header; each file must be in the folder."""
    labels = dataset.ground_truth
    lines: dict[int, ListedImage] = {}
    classes: dict[int, int] = {}
    for place, row in cells(labels, dataset.read(labels)):
        if tuple(row) == _LABEL_FIELDS:
            continue
        require_width(labels, place, row, _LABEL_FIELDS)
        label = parse_cell(labels, place, "label", row[1], int, "a whole number")
        if not 0 <= label <= 1000:
            raise InputError(f"{labels}, line {place}, label: {label} is not 0 to 1000")
        lines[place], classes[place] = ListedImage(row[0], f"line {place}"), label
    if not lines:
        raise InputError(f"{labels} has no line file,label")
    found = _files_of(dataset.images, lines)
    return [LabelledImage(found[place], label) for place, label in classes.items()]


def images_of_truth(dataset: Dataset) -> tuple[GroundTruthFile, dict[int, Path]]:
    """Return ground truth, and the file of each of its images by image id."""
    truth, folder = dataset.ground_truth, dataset.images
    truth_file = read_ground_truth(truth, pictures=folder, read=dataset.read)
    return truth_file, _files_of(folder, listed_images(truth_file))


def _files_of(folder: Path, listed: Mapping[int, ListedImage]) -> dict[int, Path]:
    """Return the file of each listed image; each has one of its own."""
    files = list_folder(folder)
    own_of = one_file_each(str(folder), files.images, listed, files.others)
    return {own: folder / file for file, own in own_of.items()}
