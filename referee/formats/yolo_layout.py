# SPDX-License-Identifier: Apache-2.0
"""Which label file of a YOLO data set belongs to which image.

The tools lay a data set out in their own ways: `images/train` beside `labels/train`,
`train/images` beside `train/labels`, label files beside the images. In all of them the path of a
label file is that of its image, but for the suffix and a folder named `labels` or `images`.
"""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from referee.errors import InputError
from referee.formats.yolo_names import LISTS

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
"""Suffixes of the files that count as images."""

_LABELS, _IMAGES = "labels", "images"
_SUFFIX = ".txt"
# Files that tools put beside the labels; a label file may have one of these names too.
_LISTS_OF_IMAGES = ("train", "val", "valid", "validation", "test")
_READ_ME = "readme"
_LISTED = 5
_MOST_FILES = 1_000_000


@dataclass(frozen=True)
class Pairing:
    """The label files that belong to images, by the path of the image; and the other `.txt`."""

    label_of: Mapping[str, str]
    others: int


def files_under(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """Return the files with one of the suffixes as paths within a folder, ascending.

    Hidden files do not count, nor what a Mac adds to an archive. A link to a folder is followed,
    and each folder is read once. Raises InputError for a folder of more files than any data set.
    """
    found: list[str] = []
    seen = {_identity(folder)}
    start = len(os.path.join(folder, ""))
    count = 0
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if _is_new(os.path.join(place, name), seen)]
        count += len(files)
        if count > _MOST_FILES:
            raise InputError(f"{folder} holds more than {_MOST_FILES} files: give one data set")
        for name in files:
            if not name.startswith(".") and name.lower().endswith(suffixes):
                found.append(os.path.join(place, name)[start:].replace(os.sep, "/"))
    return sorted(found)


def _is_new(folder: str, seen: set[tuple[int, int]]) -> bool:
    """Tell whether a folder counts and was not read before, and note that it is read."""
    name = os.path.basename(folder)
    if name.startswith(".") or name == "__MACOSX":
        return False
    identity = _identity(Path(folder))
    if identity in seen:
        return False
    seen.add(identity)
    return True


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def label_texts(folder: Path) -> list[str]:
    """Return the `.txt` files of a folder that may have labels, as paths within it."""
    texts = files_under(folder, (_SUFFIX,))
    return [text for text in texts if PurePosixPath(text).name.lower() not in LISTS]


def pictures_under(folder: Path, labels: Iterable[str]) -> list[str]:
    """Return the images of a folder; those in folders of it count where labels are in folders."""
    pictures = files_under(folder, PICTURES)
    above = [picture for picture in pictures if "/" not in picture]
    flat = all("/" not in key_of(label) for label in labels)
    return above if above and flat else pictures


def images_beside(labels: Path) -> Path | None:
    """Return the folder of the images of a folder of labels, as the tools lay it out, or None."""
    if files_under(labels, PICTURES):
        return labels
    parts = labels.absolute().parts
    for place in reversed(range(len(parts))):
        if parts[place].lower() == _LABELS:
            for name in (_IMAGES, _IMAGES.title()):
                folder = Path(*parts[:place], name, *parts[place + 1 :])
                if folder.is_dir():
                    return folder
    return None


def key_of(path: str) -> str:
    """Return what a label file and its image have in common: the path without suffix."""
    *folders, name = unicodedata.normalize("NFC", path).split("/")
    kept = [part for part in folders if part.lower() not in (_LABELS, _IMAGES)]
    return "/".join([*kept, os.path.splitext(name)[0]])


def paired(
    labels: Iterable[str],
    pictures: Iterable[str],
    where: str,
    images: str,
    holds_rows: Callable[[str], bool] = lambda label: True,
) -> Pairing:
    """Match label files with images; each label file must belong to exactly one image.

    `holds_rows` tells whether a `.txt` without an image holds labels at all: notes do not.
    `where` and `images` name the folders in a message. Raises InputError, which names the files
    that do not fit.
    """
    labels = list(labels)
    label_of = matched(labels, pictures, where, images)
    taken = set(label_of.values())
    left = [label for label in labels if label not in taken and not _is_list(label)]
    strange = [label for label in left if not taken or holds_rows(label)]
    if strange:
        raise InputError(_strange(strange, len(labels), len(taken), where, images))
    return Pairing(label_of, len(labels) - len(taken))


def matched(
    labels: Iterable[str], pictures: Iterable[str], where: str, images: str
) -> dict[str, str]:
    """Return the label file of each image that has one: by their paths, else by their names alone.

    Raises InputError for two files of one path.
    """
    of_labels = _one_each(labels, where, "label file")
    of_pictures = _one_each(pictures, images, "image")
    found = {of_pictures[key]: label for key, label in of_labels.items() if key in of_pictures}
    label_stems, picture_stems = _by_stem(of_labels), _by_stem(of_pictures)
    for key, label in of_labels.items():
        stem = key.rpartition("/")[2]
        alone = len(label_stems[stem]) == len(picture_stems.get(stem, ())) == 1
        if key not in of_pictures and alone:
            found[picture_stems[stem][0]] = label
    return found


def _by_stem(paths: Mapping[str, str]) -> dict[str, list[str]]:
    by_stem: dict[str, list[str]] = defaultdict(list)
    for key, path in paths.items():
        by_stem[key.rpartition("/")[2]].append(path)
    return by_stem


def _one_each(paths: Iterable[str], where: str, what: str) -> dict[str, str]:
    """Return paths by key; refuse two of one key, as they would be for one image."""
    found: dict[str, str] = {}
    for path in paths:
        other = found.setdefault(key_of(path), path)
        if other != path:
            raise InputError(
                f"{where}: {other} and {path} have one name: keep one {what} for each image"
            )
    return found


def _is_list(label: str) -> bool:
    """Tell whether a `.txt` has a name under which tools keep lists of images, or a read-me."""
    stem = PurePosixPath(label).stem.lower()
    return stem in _LISTS_OF_IMAGES or stem.startswith(_READ_ME)


def _strange(strange: list[str], count: int, taken: int, where: str, images: str) -> str:
    listed = ", ".join(strange[:_LISTED])
    more = f" and {len(strange) - _LISTED} more" if len(strange) > _LISTED else ""
    cure = (
        "add the images, or leave these files out"
        if taken
        else "give the folder of the images of these labels"
    )
    return (
        f"{where}: {len(strange)} of {count} label files belong to no image of {images}:"
        f" {listed}{more}. A label file is named like its image; {cure}"
    )


def holds_labels(folder: Path) -> bool:
    """Tell whether a folder holds YOLO labels; otherwise it holds XML.

    Raises InputError for a folder with both of one image, and for one with neither.
    """
    texts = label_texts(folder)
    annotations = {path.stem for path in folder.iterdir() if path.suffix.lower() == ".xml"}
    both = [text for text in texts if text.removesuffix(_SUFFIX) in annotations]
    if both:
        stem = both[0].removesuffix(_SUFFIX)
        raise InputError(
            f"{folder} has {stem}.xml and {both[0]}: give a folder with annotations of one kind"
        )
    if not annotations and not texts:
        raise InputError(
            f"{folder} has neither .xml files nor YOLO labels (.txt): name the folder that has them"
        )
    return not annotations
