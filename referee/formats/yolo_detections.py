# SPDX-License-Identifier: Apache-2.0
"""Detections as a folder of YOLO labels, one `.txt` for each image that has any.

A row is `class cx cy w h confidence`, as `yolo predict` writes with `save_txt` and `save_conf`;
without confidence in any row every confidence is 1.0. Files are named like the images of the ground
truth, or by their numbers. Class index k is the ground truth's class k+1 in ascending order of
their ids, which is COCO's own order of its 80 classes too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from referee.core.box_formats import in_pixels, to_corners
from referee.core.counts import counted
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.fast_reading import fast_or_slow
from referee.formats.faults import Faults, FormatError, quoted
from referee.formats.image_file import shown_size
from referee.formats.image_ids import NO_IMAGE, Numbering, own_image_ids
from referee.formats.number_table import are_whole, parse_numbers
from referee.formats.numbers import TooLarge, number, whole_number
from referee.formats.text import Read, cells, read_bytes
from referee.formats.yolo_counts import FolderCounts
from referee.formats.yolo_layout import key_of, label_texts, matched, pictures_under

Floats = NDArray[np.float64]
Sizes = dict[int, tuple[int, int]]

DETECTION_FIELDS = ("class", "cx", "cy", "w", "h", "confidence")
"""Fields of a row; a row without the last one has confidence 1.0."""

# Most boxes of a file of pixels are beyond it, and those of a model hardly ever.
_NO_FRACTION = 1.5


@dataclass(frozen=True)
class ImagesOfTruth:
    """The images of a ground truth: `file_names` and `sizes` as the source has them, by id.

    `folder` has the files, for sizes that the source does not have.
    """

    truth: GroundTruth
    file_names: Mapping[int, str]
    sizes: Mapping[int, tuple[int, int]]
    folder: Path | None = None


def read_yolo_detections(
    folder: Path, images: ImagesOfTruth, numbering: Numbering | None = None, read: Read = read_bytes
) -> tuple[Detections, FolderCounts]:
    """Return the detections of a folder under the ground truth's own image ids, in order of files.

    Files that are named by numbers, if none is named like an image, are numbered as `numbering`
    says, see `own_image_ids`. A row of a file that belongs to no image has an id of none. Raises
    InputError for a folder of which nothing can be used.
    """
    texts = label_texts(folder)
    if not texts:
        raise InputError(f"{folder} has no .txt files: give the folder of the detections' labels")
    image_of = _image_of(folder, texts, images, numbering)
    tables, confident = _tables(folder, texts, read)
    counts = [len(tables[text]) for text in texts]
    table = np.concatenate([np.empty((0, 6)), *(tables[text] for text in texts)])
    _require_fractions(folder, table[:, 1:5])
    image_id = np.repeat([image_of.get(text, NO_IMAGE) for text in texts], counts).astype(np.int64)
    sizes = _sizes(folder, set(image_of.values()), images) | {NO_IMAGE: (1, 1)}
    box = table[:, 1:5]
    if len(box):
        with np.errstate(invalid="ignore", over="ignore"):
            box = to_corners(in_pixels(box, image_id, sizes, "cxcywh"), "cxcywh")
    detections = Detections(image_id, _class_ids(table[:, 0], images.truth), table[:, 5], box)
    strange = tuple(text for text in texts if text not in image_of)
    empty = sum(not rows and text in image_of for text, rows in zip(texts, counts, strict=True))
    return detections, FolderCounts(len(texts), len(detections), strange, confident, empty)


def _image_of(
    folder: Path, texts: list[str], images: ImagesOfTruth, numbering: Numbering | None
) -> dict[str, int]:
    """Return the own image id of each file that belongs to an image."""
    ids = images.truth.image_ids.tolist()
    named = {_name(own, images): own for own in ids}
    by_name = matched(texts, named, str(folder), "the ground truth")
    if by_name:
        return {text: named[name] for name, text in by_name.items()}
    stems = [PurePosixPath(text).stem for text in texts]
    if all(stem.isascii() and stem.isdigit() and len(stem) < 19 for stem in stems):
        numbers = np.array([int(stem) for stem in stems], dtype=np.int64)
        own_ids, _ = own_image_ids(numbers, images.truth, numbering)
        known = set(ids)
        found = {
            text: own for text, own in zip(texts, own_ids.tolist(), strict=True) if own in known
        }
        if found:
            return found
    raise InputError(
        f"{folder}: none of {counted(len(texts), 'file')} is named like an image of the ground"
        f" truth. The first file is {texts[0]}, and the first image {next(iter(named), 'none')}"
    )


def _name(image_id: int, images: ImagesOfTruth) -> str:
    """Return the path of an image, which Windows may have written, or the name of its number."""
    return images.file_names.get(image_id, f"{image_id}.jpg").replace("\\", "/")


def _tables(folder: Path, texts: list[str], read: Read) -> tuple[dict[str, Floats], bool]:
    """Return the rows of each file, and whether they have confidences; all have, or none."""
    faults = Faults()
    tables: dict[str, Floats] = {}
    width = 0
    for text in texts:
        path = folder / text
        content = read(path)
        table = fast_or_slow(
            partial(_fast, content, width), partial(_slow, path, content, width, faults)
        )
        width = width or (table.shape[1] if len(table) else 0)
        tables[text] = table
    try:
        faults.raise_if_any()
    except FormatError as error:
        raise InputError(str(error)) from None
    confident = width != len(DETECTION_FIELDS) - 1
    return {text: _with_confidence(table) for text, table in tables.items()}, confident


def _with_confidence(table: Floats) -> Floats:
    """Return rows (n, 6)."""
    if table.shape[1] == len(DETECTION_FIELDS):
        return table
    return np.column_stack([table, np.ones(len(table))])


def _fast(content: bytes, width: int) -> Floats | None:
    """Return the rows of a usual file of the width that the others have, 0 for none yet."""
    for columns in (len(DETECTION_FIELDS), len(DETECTION_FIELDS) - 1):
        if width in (0, columns):
            table = parse_numbers(content, columns)
            if table is not None:
                sound = are_whole(table[:, :1]) and bool((table[:, 0] >= 0).all())
                return table if sound else None
    return None


def _slow(path: Path, content: bytes, width: int, faults: Faults) -> Floats:
    """Read row by row, and note each fault."""
    rows: list[list[float]] = []
    for line, row in cells(path, content):
        width = width or len(row)
        try:
            rows.append(_numbers(row, width))
        except FormatError as error:
            faults.add(f"{path}, line {line}{error}")
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else 6)


def _numbers(row: list[str], width: int) -> list[float]:
    """Return the numbers of a row; raise `FormatError` for a row that is none."""
    if len(row) not in (len(DETECTION_FIELDS), len(DETECTION_FIELDS) - 1):
        raise FormatError(
            (
                f" has {counted(len(row), 'field')}: give {' '.join(DETECTION_FIELDS)}. Outlines,"
                " keypoints and tracks are no boxes: predict with a model for detection",
            )
        )
    if len(row) != width:
        raise FormatError((f" has {counted(len(row), 'field')}, and the rows before have {width}",))
    try:
        index = whole_number(row[0])
    except TooLarge:
        index = 2**52  # It is no class of any ground truth.
    except ValueError:
        index = -1
    if index < 0:
        raise FormatError((f", class: {quoted(row[0])} is not a class index, which comes first",))
    return [index, *(_number(text, field) for text, field in zip(row[1:], DETECTION_FIELDS[1:]))]


def _number(text: str, field: str) -> float:
    try:
        return number(text)
    except ValueError:
        raise FormatError((f", {field}: {quoted(text)} is not a number",)) from None


def _require_fractions(folder: Path, box: Floats) -> None:
    """Raise InputError where most boxes are no fractions of an image."""
    beyond = int((box > _NO_FRACTION).any(axis=1).sum())
    if 2 * beyond > len(box):
        raise InputError(
            f"{folder}: {beyond} of {counted(len(box), 'box has', 'boxes have')} numbers above 1:"
            " the numbers are fractions of the image's width and height, not pixels"
        )


def _sizes(folder: Path, wanted: set[int], images: ImagesOfTruth) -> Sizes:
    """Return the sizes of the images, from the source or from their files."""
    sizes = {image_id: images.sizes[image_id] for image_id in wanted if image_id in images.sizes}
    missing = {
        _name(image_id, images): image_id for image_id in wanted if image_id not in images.sizes
    }
    if missing and images.folder is None:
        raise InputError(
            f"{folder}: the ground truth does not say the size of {min(missing)}: give the folder"
            " of the images too"
        )
    if not missing or images.folder is None:
        return sizes
    of_keys = {key_of(path): path for path in pictures_under(images.folder, missing)}
    for name, image_id in missing.items():
        path = of_keys.get(key_of(name)) or of_keys.get(PurePosixPath(name).stem)
        if path is None:
            raise InputError(f"{images.folder} has no image {name}: its size is not known")
        shown = shown_size(images.folder / path)
        sizes[image_id] = (shown.width, shown.height)
    return sizes


def _class_ids(index: Floats, truth: GroundTruth) -> NDArray[np.int64]:
    """Return the class id of each index; one beyond the list names no class."""
    place = index.astype(np.int64)
    listed = np.append(truth.class_ids, NO_IMAGE)
    return listed[np.minimum(place, len(truth.class_ids))]
