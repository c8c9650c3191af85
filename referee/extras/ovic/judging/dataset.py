# SPDX-License-Identifier: Apache-2.0
"""The images that a model is measured and scored on, with their ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.text import Read, cells, parse_cell, read_bytes, require_width
from referee.formats.truth_file import GroundTruthFile

_SUFFIXES = {".jpg", ".jpeg", ".png"}
_LABEL_FIELDS = ("file", "label")
_LISTED = 5


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


def labelled_images(folder: Path, labels: Path, read: Read = read_bytes) -> list[LabelledImage]:
    """Read lines `file,label` with an optional header; each file must be in the folder."""
    images = []
    for place, row in cells(labels, read(labels)):
        if tuple(row) == _LABEL_FIELDS:
            continue
        require_width(labels, place, row, _LABEL_FIELDS)
        label = parse_cell(labels, place, "label", row[1], int, "a whole number")
        if not 0 <= label <= 1000:
            raise InputError(f"{labels}, line {place}, label: {label} is not 0 to 1000")
        images.append(LabelledImage(folder / Path(row[0]).name, label))
    if not images:
        raise InputError(f"{labels} has no line file,label")
    _require_all(folder, [labelled.path for labelled in images])
    return images


def images_of_truth(
    folder: Path, truth: Path, read: Read = read_bytes
) -> tuple[GroundTruthFile, dict[int, Path]]:
    """Return ground truth, and the file of each of its images by image id."""
    truth_file = read_ground_truth(truth, pictures=folder, read=read)
    names = {
        own: truth_file.file_names.get(own, f"{own}.jpg")
        for own in truth_file.truth.image_ids.tolist()
    }
    # The names of labels' images were found in this folder; other files may name any path.
    found = truth_file.labels is not None
    paths = {own: folder / (name if found else Path(name).name) for own, name in names.items()}
    _require_all(folder, list(paths.values()))
    return truth_file, paths


def _require_all(folder: Path, paths: Sequence[Path]) -> None:
    images_in(folder)
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        raise InputError(
            f"{folder}: {len(missing)} of {len(paths)} images are not there:"
            f" {', '.join(missing[:_LISTED])}{more}"
        )
