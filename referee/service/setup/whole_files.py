# SPDX-License-Identifier: Apache-2.0
"""Small files that appear whole or not at all, and survive a power cut once they are there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from referee.errors import InputError


def write_once(path: Path, content: bytes) -> None:
    """Write a new file with mode 600, unless the path exists.

    Several processes may do so together; one of them makes the file. Raises `InputError` if it
    cannot be written.
    """
    new = _written(path, content)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
    finally:
        os.unlink(new)
    sync_folder(path.parent)


def replace_file(path: Path, content: bytes, mode: int) -> None:
    """Write a file, in the place of one that may be there; raise `InputError` if that fails."""
    new = _written(path, content)
    os.chmod(new, mode)
    os.replace(new, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names of a folder's files survive a power cut, as their contents do."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _written(path: Path, content: bytes) -> str:
    """Write to a new file beside the path, with mode 600, and return its name."""
    new = ""
    try:
        descriptor, new = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if new:
            os.unlink(new)
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    return new
