# SPDX-License-Identifier: Apache-2.0
"""The folder of a contest's images: the files in it and in its subfolders, within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.errors import InputError
from referee.service.setup.image_names import MOST_FOLDERS

_SUFFIXES = {".jpg", ".jpeg", ".png"}
_MOST_FILES = 1_000_000


@dataclass(frozen=True)
class FolderFiles:
    """The paths below a folder, with slashes, in order: JPEG and PNG by their suffix, and others.

    What begins with a dot is hidden and in neither list. So are the copies `._1.jpg` that a Mac
    puts beside each file of a zip.
    """

    images: tuple[str, ...]
    others: tuple[str, ...]


def list_folder(folder: Path) -> FolderFiles:
    """List a folder and its subfolders; raise `InputError` if it cannot be read, or has no image.

    A link to a folder is followed, and each folder is read once.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder. Give the folder of the contest's images.")
    images: list[str] = []
    others: list[str] = []
    for path in _files(folder):
        (images if Path(path).suffix.lower() in _SUFFIXES else others).append(path)
        if len(images) + len(others) > _MOST_FILES:
            raise InputError(
                f"{folder}: holds more than {_MOST_FILES} files. Give the folder of the images"
                " alone."
            )
    if not images:
        raise InputError(f"{folder}: holds no image. The files must be JPEG or PNG.")
    return FolderFiles(tuple(sorted(images)), tuple(sorted(others)))


def _files(folder: Path) -> Iterator[str]:
    """Yield the path of each file below a folder."""
    waiting, seen = [""], {_identity(folder)}
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(folder / below) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    # A link that leads nowhere is told when its image is read.
                    if entry.is_file() or (entry.is_symlink() and not entry.is_dir()):
                        yield below + entry.name
                    elif entry.is_dir() and _identity(Path(entry.path)) not in seen:
                        seen.add(_identity(Path(entry.path)))
                        waiting.append(f"{below}{entry.name}/")
        except OSError as error:
            raise InputError(f"{folder / below}: cannot be read: {error.strerror}.") from error
        if waiting and waiting[-1].count("/") > MOST_FOLDERS:
            raise InputError(
                f"{folder}: has folders in folders, more than {MOST_FOLDERS} deep. Give the folder"
                " of the images."
            )


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino
