# SPDX-License-Identifier: Apache-2.0
"""Which file of the folder is which image: every image of the truth one file, every file one image.

The rule knows the paths of the folder and the names in the ground truth, and no disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from referee.core.counts import counted
from referee.errors import InputError
from referee.formats.image_ids import contest_image_ids
from referee.service.setup.image_names import ImageNames, composed, without_suffix

_NUMBERED = re.compile(r"[1-9][0-9]*")
_IMAGE_NAME = re.compile(r"\.(jpe?g|png)$", re.IGNORECASE)
_LISTED = 5


@dataclass(frozen=True)
class ListedImage:
    """An image of the ground truth: its name there, or None, and where the source speaks of it."""

    name: str | None
    place: str


@dataclass(frozen=True)
class MatchedImage:
    """An image of the contest: its number, its id in the ground truth, and its file's path."""

    image_id: int
    source_id: int
    file: str


@dataclass(frozen=True)
class ImageMatching:
    """The images of the contest, and how many of them the ground truth lists."""

    images: tuple[MatchedImage, ...]
    listed: int


def match_images(
    folder: str,
    files: Sequence[str],
    listed: Mapping[int, ListedImage],
    others: Sequence[str] = (),
) -> ImageMatching:
    """Return the file of each image, in ascending order of image ids.

    `files` are the paths of the images below the folder, with slashes, and `others` those of all
    other files there. `listed` goes by the ground truth's own ids.

    Files named 1.jpg to N.jpg keep their numbers as image ids, and an image that a ground truth
    without names omits has no box. Otherwise image id k is the k-th image of the ground truth, in
    ascending order of its own ids. Raises `InputError` for an image without a file, for an image
    that several files could be, and for a file of several images.
    """
    own_of = one_file_each(folder, files, listed, others)
    numbered = _numbered_files(folder, files, own_of)
    if numbered:
        named = any(image.name for image in listed.values())
        return ImageMatching(_with_own_numbers(folder, numbered, own_of, named=named), len(own_of))
    ids = contest_image_ids(listed)
    images = (MatchedImage(ids[own], own, file) for file, own in own_of.items())
    return ImageMatching(tuple(sorted(images, key=lambda image: image.image_id)), len(own_of))


def one_file_each(
    folder: str,
    files: Sequence[str],
    listed: Mapping[int, ListedImage],
    others: Sequence[str] = (),
) -> dict[str, int]:
    """Return the key in `listed` of each file that is used, in the order of `listed`.

    Arguments and errors are those of `match_images`.
    """
    names = ImageNames(files)
    found = {
        image_id: names.files_of(image.name)
        if image.name
        else names.files_without_suffix(str(image_id))
        for image_id, image in listed.items()
    }
    missing = {image_id: image for image_id, image in listed.items() if not found[image_id]}
    if missing:
        _require_no_other_kind(folder, list(missing.values()), others)
        _require_no_other_suffix(folder, list(missing.values()), names)
        names_missing = [image.name or f"{image_id}.jpg" for image_id, image in missing.items()]
        _require_none_missing(folder, names_missing, len(names_missing), len(listed))
    for image_id, candidates in found.items():
        if len(candidates) > 1:
            raise _of_several_files(folder, image_id, listed[image_id], candidates)
    return _one_image_each(folder, found, listed)


def _require_no_other_kind(
    folder: str, missing: Sequence[ListedImage], others: Sequence[str]
) -> None:
    """Say of an image that is there under the name of another kind that it cannot be used."""
    names = ImageNames(others)
    for name in (image.name for image in missing if image.name):
        for file in names.files_of(name):
            # Labels have the stems of images, and are no images.
            if composed(name).endswith(composed(file.rpartition("/")[2])):
                raise InputError(
                    f"{folder}: {file} is named as neither JPEG nor PNG. The contest sends these"
                    " alone: convert it, and name the new file in the ground truth."
                )


def _require_no_other_suffix(
    folder: str, missing: Sequence[ListedImage], names: ImageNames
) -> None:
    """Name the file that differs from a name by the suffix alone; whether it is the image is open.

    Somebody may have converted it, and with other sides its boxes would not fit.
    """
    for name in (image.name for image in missing if image.name):
        files = names.files_of(without_suffix(name)) if _IMAGE_NAME.search(name) else ()
        if files:
            raise InputError(
                f"{folder}: {name} is not there, but {files[0]} is. If this is the image, correct"
                " its name in the ground truth."
            )


def _require_none_missing(folder: str, names: Sequence[str], count: int, total: int) -> None:
    if names:
        listed = ", ".join(names[:_LISTED])
        more = f" and {count - _LISTED} more" if count > _LISTED else ""
        raise InputError(
            f"{folder}: {count} of {counted(total, 'image is', 'images are')} not there: "
            f"{listed}{more}. Give the folder that holds the images of this ground truth."
        )


def _of_several_files(
    folder: str, own_id: int, image: ListedImage, files: Sequence[str]
) -> InputError:
    more = f" and {len(files) - 2} more" if len(files) > 2 else ""
    return InputError(
        f"{folder}: holds {files[0]} and {files[1]}{more}, and {_entry(own_id, image)} could be"
        " each of them. Keep one file for each image, or write its folder in front of the name in"
        " the ground truth."
    )


def _one_image_each(
    folder: str, found: Mapping[int, Sequence[str]], listed: Mapping[int, ListedImage]
) -> dict[str, int]:
    """Return the ground truth's own id of each file that is used."""
    own_of: dict[str, int] = {}
    for image_id, (file,) in found.items():
        other = own_of.setdefault(file, image_id)
        if other != image_id:
            raise InputError(
                f"{folder}: {file} is the only file for two images of the ground truth, "
                f"{_entry(other, listed[other])} and {_entry(image_id, listed[image_id])}. "
                "Give the folder in which each has a file of its own, or correct their names."
            )
    return own_of


def _entry(own_id: int, image: ListedImage) -> str:
    return f"'{image.name}' ({image.place})" if image.name else f"image {own_id}"


def _numbered_files(folder: str, files: Sequence[str], own_of: Mapping[str, int]) -> dict[int, str]:
    """Return the files by their numbers, or nothing if they count as names.

    Numbers with gaps count as names, if the ground truth lists each of them. The folder is the one
    in which the images of the ground truth lie.
    """
    homes = {file.rpartition("/")[0] for file in own_of}
    if len(homes) != 1:
        return {}
    beside = [file for file in files if file.rpartition("/")[0] in homes]
    stems = [without_suffix(file.rpartition("/")[2]) for file in beside]
    if not all(_NUMBERED.fullmatch(stem) for stem in stems):
        return {}
    numbers: dict[int, str] = {}
    for stem, file in zip(stems, beside, strict=True):
        other = numbers.setdefault(int(stem), file)
        if other != file:
            raise InputError(f"{folder}: holds {other} and {file}. Keep one file for each image.")
    own_numbers = max(numbers) == len(numbers) or len(own_of) < len(numbers)
    return numbers if own_numbers else {}


def _with_own_numbers(
    folder: str, numbered: Mapping[int, str], own_of: Mapping[str, int], *, named: bool
) -> tuple[MatchedImage, ...]:
    """Use the files' numbers as image ids; an image that the ground truth omits has no box."""
    count = max(numbered)
    gaps = (f"{k}.jpg" for k in range(1, count + 1) if k not in numbered)
    _require_none_missing(folder, list(islice(gaps, _LISTED)), count - len(numbered), count)
    unnamed = [file for file in numbered.values() if file not in own_of]
    if unnamed and named:
        raise InputError(
            f"{folder}: the ground truth does not list {', '.join(unnamed[:_LISTED])}"
            f"{' and others' if len(unnamed) > _LISTED else ''}; it must list every image."
        )
    return tuple(
        MatchedImage(number, own_of.get(file, number), file)
        for number, file in sorted(numbered.items())
    )
