# SPDX-License-Identifier: Apache-2.0
"""The images of a contest as they are stored: found in the folder, read once, hashed and looked at.

Thousands of images are read by two processes. In a thread Pillow would wait for the interpreter.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from referee.core.counts import counted
from referee.errors import InputError
from referee.formats.fast_reading import share
from referee.formats.image_file import read_sound_image
from referee.formats.truth_file import GroundTruthFile
from referee.service.setup.image_folder import FolderFiles, list_folder
from referee.service.setup.image_matching import (
    ImageMatching,
    ListedImage,
    MatchedImage,
    match_images,
)
from referee.service.setup.program import stop_with_parent
from referee.store.images import ImageCounts, ImageEntry

Progress = Callable[[int, int], None]
"""A function of (done, total) that shows progress."""

# So many files take longer to read than a second process takes to begin.
_MANY = 500
_TELL_EACH = 20
_MEDIA_TYPES = ("", "image/jpeg", "image/png")
_LOOK = np.dtype(
    [
        ("done", "u1"),
        ("media_type", "u1"),
        ("width", "i4"),
        ("height", "i4"),
        ("size_bytes", "i8"),
        ("modified_ns", "i8"),
        ("sha256", "V32"),
    ]
)


@dataclass(frozen=True)
class FoundImages:
    """The images of the ground truth in their folder, by name; no file was opened."""

    folder: Path
    files: FolderFiles
    matching: ImageMatching

    def counts(self, inputs: Iterable[Path]) -> ImageCounts:
        """Count what came and what is used; an input that lies in the folder is used, too."""
        used = {image.file for image in self.matching.images}
        unused = {*self.files.images, *self.files.others} - used
        real = _RealPaths()
        read = {real.of(path) for path in inputs}
        return ImageCounts(
            listed=self.matching.listed,
            used=len(used),
            used_listed=self.matching.listed,
            other_files=sum(real.of(self.folder / file) not in read for file in unused),
        )


class _RealPaths:
    """Paths without links in their folders; each folder is looked up once."""

    def __init__(self) -> None:
        self._folders: dict[Path, str] = {}

    def of(self, path: Path) -> str:
        """Return a path under its folder's real name."""
        if path.parent not in self._folders:
            self._folders[path.parent] = os.path.realpath(path.parent)
        return os.path.join(self._folders[path.parent], path.name)


def find_images(folder: Path, truth: GroundTruthFile) -> FoundImages:
    """Return which file is which image; raise `InputError` as `list_folder` and `match_images`."""
    files = list_folder(folder)
    matching = match_images(str(folder), files.images, listed_images(truth), files.others)
    return FoundImages(folder, files, matching)


def prepared_images(folder: Path, prepared: Sequence[ImageEntry]) -> FoundImages:
    """Return the files of images that were prepared before, wherever their folder lies now.

    Raises `InputError` as `list_folder` does, and for an image that is not there.
    """
    files = list_folder(folder)
    paths = [Path(entry.path) for entry in prepared]
    stays = all(path.is_relative_to(folder) for path in paths)
    root = str(folder) if stays else os.path.commonpath([path.parent for path in paths])
    names = [Path(os.path.relpath(path, root)).as_posix() for path in paths]
    missing = set(names).difference(files.images)
    if missing:
        some = f"{len(missing)} of {counted(len(names), 'image is', 'images are')} not there"
        raise InputError(
            f"{folder}: {some}, for example {min(missing)}. Give the folder that holds the images "
            "of this contest."
        )
    images = (
        MatchedImage(entry.image_id, entry.source_id, name)
        for entry, name in zip(prepared, names, strict=True)
    )
    return FoundImages(folder, files, ImageMatching(tuple(images), len(names)))


def listed_images(truth: GroundTruthFile) -> dict[int, ListedImage]:
    """Return what a ground truth says of each image's file, by its own ids."""
    return {
        image_id: ListedImage(
            truth.file_names.get(image_id), truth.places.get(image_id, f"image {image_id}")
        )
        for image_id in truth.truth.image_ids.tolist()
    }


def read_images(
    found: FoundImages,
    sizes: Mapping[int, tuple[int, int]],
    *,
    known: Sequence[ImageEntry] = (),
    progress: Progress = lambda done, total: None,
) -> tuple[ImageEntry, ...]:
    """Return the images' entries in ascending order of image id.

    `sizes` has width and height by the ground truth's own ids, where it says them. An image in
    `known` is not read again if its file has the same size and time. Raises `InputError` for an
    image that is damaged, or of another size than the ground truth says.
    """
    images = found.matching.images
    paths = [found.folder / image.file for image in images]
    for path in paths:
        _require_text(path)
    stored = {entry.path: entry for entry in known}
    kept = [_known(*pair, stored) for pair in zip(images, paths, strict=True)]
    looks = _Looks(
        [path for path, entry_before in zip(paths, kept, strict=True) if entry_before is None]
    )
    looks.read(lambda done: progress(len(images) - len(looks) + done, len(images)))
    entries = []
    fresh = iter(range(len(looks)))
    for image, path, entry_before in zip(images, paths, kept, strict=True):
        entry = entry_before or looks.entry(next(fresh), image)
        _require_size(path, sizes.get(image.source_id), (entry.width, entry.height))
        entries.append(entry)
    progress(len(images), len(images))
    return tuple(entries)


class _Looks:
    """What was found in each file, in memory that a second process shares."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._owner = os.getpid()
        self._tied = False
        self._tell: Callable[[int], None] = lambda done: None
        memory = mmap.mmap(-1, max(1, len(paths) * _LOOK.itemsize))
        self._rows = np.frombuffer(memory, _LOOK, len(paths))

    def __len__(self) -> int:
        return len(self._paths)

    def read(self, tell: Callable[[int], None]) -> None:
        """Look into all files, and `tell` how many are done."""
        self._tell = tell
        tell(0)
        if len(self) < _MANY:
            for place in range(len(self)):
                self._look(place)
        else:
            share(len(self), self._look)()

    def entry(self, place: int, image: MatchedImage) -> ImageEntry:
        """Return the entry of an image; raise `InputError` if its file is not sound."""
        path, row = self._paths[place], self._rows[place]
        if not row["done"]:
            self._fill(place)
        media_type = _MEDIA_TYPES[row["media_type"]]
        if not media_type:
            raise InputError(f"{path}: is neither JPEG nor PNG.")
        return ImageEntry(
            image_id=image.image_id,
            source_id=image.source_id,
            path=str(path),
            media_type=media_type,
            size_bytes=int(row["size_bytes"]),
            modified_ns=int(row["modified_ns"]),
            sha256=bytes(row["sha256"]).hex(),
            width=int(row["width"]),
            height=int(row["height"]),
        )

    def _look(self, place: int) -> None:
        """Look into a file; what is wrong with it is told afterwards, in the order of images."""
        in_copy = os.getpid() != self._owner
        if in_copy and not self._tied:
            # The copy has the lock of the contest's folder, so it must not outlive its owner.
            stop_with_parent(self._owner, by=signal.SIGKILL)
            self._tied = True
        try:
            self._fill(place)
        except InputError:
            return
        if not in_copy and place % _TELL_EACH == 0:
            self._tell(int(np.count_nonzero(self._rows["done"])))

    def _fill(self, place: int) -> None:
        path = self._paths[place]
        # The time is that of before the reading, so a file that changes meanwhile is found.
        try:
            modified_ns = path.stat().st_mtime_ns
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
        content, facts = read_sound_image(path)
        row: Any = self._rows[place]
        row["media_type"] = _MEDIA_TYPES.index(facts.media_type or "")
        row["width"], row["height"] = facts.width, facts.height
        row["size_bytes"], row["modified_ns"] = len(content), modified_ns
        row["sha256"] = sha256(content).digest()
        row["done"] = True


def _known(image: MatchedImage, path: Path, stored: Mapping[str, ImageEntry]) -> ImageEntry | None:
    """Return the stored entry of a file that is as it was."""
    entry = stored.get(str(path))
    if entry is None or (entry.image_id, entry.source_id) != (image.image_id, image.source_id):
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    same = (entry.size_bytes, entry.modified_ns) == (status.st_size, status.st_mtime_ns)
    return entry if same else None


def _require_text(path: Path) -> None:
    """Refuse a path whose bytes are no text: the database holds text."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        name = str(path).encode("utf-8", "backslashreplace").decode()
        raise InputError(f"{name}: its name is not text in UTF-8. Rename it.") from None


def _require_size(path: Path, listed: tuple[int, int] | None, actual: tuple[int, int]) -> None:
    if listed is not None and listed != actual:
        raise InputError(
            f"{path}: is {actual[0]}x{actual[1]} pixels, but the ground truth says "
            f"{listed[0]}x{listed[1]}. The boxes would not fit: use the original image."
        )
