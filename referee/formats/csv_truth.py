# SPDX-License-Identifier: Apache-2.0
"""Ground truth as CSV: boxes, the list of images, the blacklist, the clusters of images."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from referee.core.counts import counted
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.class_lists import ILSVRC_IDS
from referee.formats.fast_reading import fast_or_slow
from referee.formats.faults import quoted
from referee.formats.number_table import are_whole, parse_numbers
from referee.formats.numbers import TooLarge, number, whole_number
from referee.formats.text import Read, cells, parse_cell, plain_file, read_bytes, require_width
from referee.formats.truth_file import NO_BLACKLIST, GroundTruthFile, known_sizes

BOX_FIELDS = ("image_id", "class_id", "xmin", "ymin", "xmax", "ymax")
"""Columns of a ground-truth CSV without a header; corners are inclusive pixels."""

MAX_CLASS = 100_000
"""Highest class id in CSV: the class list is 1 to the highest, and each class costs memory."""

_IMAGE_FIELDS = ("image_id", "width", "height")
_BLACKLIST_FIELDS = ("image_id", "class_id")
_CLUSTER_FIELDS = ("image_id", "cluster")
_PICTURES = (".jpg", ".jpeg", ".png")

Floats = NDArray[np.float64]
Sizes = dict[int, tuple[int, int]]


def read_csv_truth(
    path: Path, content: bytes, images: Path | None, read: Read = read_bytes
) -> GroundTruthFile:
    """Read lines `image_id,class_id,xmin,ymin,xmax,ymax`, and the list of images from `images`.

    Without `images`, the images are those with a box. The class list is 1…highest class of a box.
    """
    content = plain_file(path, content, BOX_FIELDS)
    table = fast_or_slow(partial(_fast_boxes, content), partial(_slow_boxes, path, content))
    image_id, class_id = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    listed, sizes = _listed_images(images, image_id, read)
    unknown = np.flatnonzero(~np.isin(image_id, listed))
    if len(unknown):
        line, row = _line_of_row(path, content, int(unknown[0]))
        raise InputError(
            f"{path}, line {line}, image_id: image {row[0]} is not in {images}:"
            " list it there, or leave its boxes out"
        )
    truth = GroundTruth(
        image_ids=listed,
        class_ids=np.arange(1, int(class_id.max(initial=0)) + 1, dtype=np.int64),
        box_image_id=image_id,
        box_class_id=class_id,
        box=table[:, 2:].copy(),
        blacklist=NO_BLACKLIST,
        class_names={},
    )
    return GroundTruthFile(truth, sizes=sizes)


def _fast_boxes(content: bytes) -> Floats | None:
    """Return the table of boxes if `_require_box` accepts every row, else None."""
    table = parse_numbers(content, len(BOX_FIELDS))
    if table is None:
        return None
    sound = (
        are_whole(table[:, :2])
        and (table[:, 1] >= 1).all()
        and (table[:, 1] <= MAX_CLASS).all()
        and np.isfinite(table).all()
        and (table[:, 4] >= table[:, 2]).all()
        and (table[:, 5] >= table[:, 3]).all()
    )
    return table if sound else None


def _slow_boxes(path: Path, content: bytes) -> Floats:
    """Read boxes line by line and name the first fault."""
    rows = []
    for line, row in cells(path, content):
        require_width(path, line, row, BOX_FIELDS)
        ids = [
            parse_cell(path, line, field, text, _box_id, "a whole number")
            for field, text in zip(BOX_FIELDS[:2], row, strict=False)
        ]
        corners = [
            parse_cell(path, line, field, text, number, "a number")
            for field, text in zip(BOX_FIELDS[2:], row[2:], strict=True)
        ]
        _require_box(path, line, ids, corners)
        rows.append([*ids, *corners])
    return np.array(rows, dtype=np.float64).reshape(-1, len(BOX_FIELDS))


def _box_id(text: str) -> int:
    """Read an id below 2^53: rows of boxes are doubles, which hold only such ids exactly."""
    box_id = whole_number(text)
    if abs(box_id) >= 2**53:
        raise TooLarge("is too large: an id in CSV is below 2^53")
    return box_id


def _line_of_row(path: Path, content: bytes, row: int) -> tuple[int, list[str]]:
    """Return line number and cells of a row; rows count from 0."""
    return next(itertools.islice(cells(path, content), row, None))


def read_image_list(path: Path, read: Read = read_bytes) -> Sizes:
    """Read lines `image_id,width,height` and return sizes by image id.

    If `path` is a folder, its pictures `1.jpg`, `2.jpg`… are the images. Their sizes are unknown
    and given as (0, 0).
    """
    if path.is_dir():
        return {number: (0, 0) for number in _numbered_pictures(path)}
    content = plain_file(path, read(path), _IMAGE_FIELDS)
    return fast_or_slow(partial(_fast_sizes, content), partial(_slow_sizes, path, content))


def _fast_sizes(content: bytes) -> Sizes | None:
    """Return the sizes if all cells are whole numbers and no image is listed twice, else None."""
    table = parse_numbers(content, len(_IMAGE_FIELDS))
    if table is None or not are_whole(table):
        return None
    ids, *size = table.astype(np.int64).T.tolist()
    sizes = dict(zip(ids, zip(*size, strict=True), strict=True))
    return sizes if len(sizes) == len(table) > 0 else None


def _slow_sizes(path: Path, content: bytes) -> Sizes:
    """Read sizes line by line and name the first fault."""
    sizes: Sizes = {}
    for line, row in cells(path, content):
        require_width(path, line, row, _IMAGE_FIELDS)
        image_id, width, height = (
            parse_cell(path, line, field, text, whole_number, "a whole number")
            for field, text in zip(_IMAGE_FIELDS, row, strict=True)
        )
        if image_id in sizes:
            raise InputError(f"{path}, line {line}, image_id: image {image_id} is listed twice")
        sizes[image_id] = (width, height)
    if not sizes:
        raise InputError(f"{path} lists no images: give lines image_id,width,height")
    return sizes


def read_blacklist(path: Path, truth: GroundTruth, read: Read = read_bytes) -> NDArray[np.int64]:
    """Read lines `image_id,class_id` into an array of shape (k, 2).

    A class may also be the WordNet id of an ILSVRC detection synset, as in the development kit's
    own blacklist. An image or a class that is not in the ground truth is an error: the list most
    likely uses another numbering.
    """
    known, classes = set(truth.image_ids.tolist()), set(truth.class_ids.tolist())
    pairs, strange = [], []
    for line, row in cells(path, plain_file(path, read(path), _BLACKLIST_FIELDS)):
        require_width(path, line, row, _BLACKLIST_FIELDS)
        image_id = _image_of_truth(path, line, row[0], known)
        klass = ILSVRC_IDS.get(row[1])
        if klass is None:
            klass = parse_cell(path, line, "class_id", row[1], whole_number, "a class id")
        if klass not in classes:
            strange.append((line, row[1]))
        pairs.append((image_id, klass))
    for line, text in strange[:1]:
        raise InputError(
            f"{path}, line {line}, class_id: the ground truth has no class {quoted(text)};"
            " use its own class ids, or say how many classes there are"
        )
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def read_clusters(path: Path, truth: GroundTruth, read: Read = read_bytes) -> dict[int, str]:
    """Read lines `image_id,cluster` and return the cluster of each image of the ground truth.

    A cluster is a number or a name without blanks; 1 and 01 are two names. Raises InputError unless
    each image has one line.
    """
    known = set(truth.image_ids.tolist())
    clusters: dict[int, str] = {}
    for line, row in cells(path, plain_file(path, read(path), _CLUSTER_FIELDS)):
        require_width(path, line, row, _CLUSTER_FIELDS)
        image_id = _image_of_truth(path, line, row[0], known)
        if image_id in clusters:
            raise InputError(f"{path}, line {line}, image_id: image {image_id} is listed twice")
        if not row[1]:
            raise InputError(f"{path}, line {line}, cluster: image {image_id} has none: name one")
        clusters[image_id] = row[1]
    missing = sorted(known - clusters.keys())
    if missing:
        others = f" and {counted(len(missing) - 1, 'other')}" if len(missing) > 1 else ""
        raise InputError(
            f"{path} has no line for image {missing[0]}{others}: name the cluster of each image of"
            " the ground truth"
        )
    return clusters


def _image_of_truth(path: Path, line: int, text: str, known: Container[int]) -> int:
    """Read the id of one of the `known` images."""
    image_id = parse_cell(path, line, "image_id", text, whole_number, "a whole number")
    if image_id not in known:
        raise InputError(
            f"{path}, line {line}, image_id: the ground truth has no image {image_id};"
            " use its own image ids"
        )
    return image_id


def _listed_images(
    images: Path | None, with_boxes: NDArray[np.int64], read: Read
) -> tuple[NDArray[np.int64], Sizes]:
    """Return the ids of all images, ascending, and the sizes that are known."""
    if images is None:
        return np.unique(with_boxes), {}
    sizes = read_image_list(images, read)
    known = known_sizes((own, *size) for own, size in sizes.items())
    return np.array(sorted(sizes), dtype=np.int64), known


def _numbered_pictures(folder: Path) -> list[int]:
    """Return the numbers of the pictures `1.jpg`, `2.jpg`… of a folder."""
    numbers: dict[int, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() not in _PICTURES or file.name.startswith("."):
            continue
        if not (file.stem.isascii() and file.stem.isdigit()):
            raise InputError(
                f"{file} is not named by a number, as 1.jpg is:"
                " give a list image_id,width,height instead of the folder"
            )
        other = numbers.setdefault(int(file.stem), file)
        if other != file:
            raise InputError(
                f"{folder} has {other.name} and {file.name}: keep one file for each image"
            )
    if not numbers:
        raise InputError(f"{folder} has no pictures 1.jpg, 2.jpg …: name the folder that has them")
    return list(numbers)


def _require_box(path: Path, line: int, ids: list[int], corners: list[float]) -> None:
    """Refuse a truth box that no detection could ever match."""
    for field, value in zip(BOX_FIELDS[2:], corners, strict=True):
        if not math.isfinite(value):
            raise InputError(f"{path}, line {line}, {field}: {value} is not a finite number")
    if ids[1] < 1:
        raise InputError(f"{path}, line {line}, class_id: {ids[1]} is not 1 or more")
    if ids[1] > MAX_CLASS:
        raise InputError(
            f"{path}, line {line}, class_id: {ids[1]} is above {MAX_CLASS}, and the class list is"
            " 1 to the highest: number the classes from 1, or give COCO JSON, which lists them"
        )
    for low, high in (("xmin", "xmax"), ("ymin", "ymax")):
        a, b = (corners[BOX_FIELDS.index(name) - 2] for name in (low, high))
        if b < a:
            raise InputError(
                f"{path}, line {line}, {high}: {b:g} is less than {low} {a:g};"
                " a box is xmin,ymin,xmax,ymax in inclusive pixels"
            )
