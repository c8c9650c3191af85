# SPDX-License-Identifier: Apache-2.0
"""The files of the images while a contest runs: each must be the file that was prepared."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from referee.errors import InputError, RefereeError, Unavailable
from referee.service.setup.scarcity import scarcity
from referee.service.setup.sentences_of_1_0 import subject_of_1_0
from referee.store.images import ImageEntry
from referee.store.notices import Notice

_INSTRUCTION = (
    "Change nothing while the session runs: this image alone gets 500. Then put the same file back "
    "from the backup."
)


def read_image(entry: ImageEntry) -> bytes:
    """Return an image's bytes; raise `InputError` if its file is missing or has changed.

    Raises `Unavailable` if the machine lacks what it needs to open any file.
    A file of the same size and time is the same. One with another time, as a copy has, is the same
    if its SHA-256 is.
    """
    try:
        # Without a buffer: one system call reads the file, and nothing is copied.
        with open(entry.path, "rb", buffering=0) as file:
            modified_ns = os.fstat(file.fileno()).st_mtime_ns
            content = file.readall()
    except OSError as error:
        raise _unreadable(entry, error) from error
    if len(content) != entry.size_bytes:
        raise InputError(f"{entry.path} has changed in size.")
    if modified_ns != entry.modified_ns and sha256(content).hexdigest() != entry.sha256:
        raise InputError(f"{entry.path} is another image now.")
    return content


def require_unchanged(entry: ImageEntry) -> None:
    """Raise `InputError` as `read_image` does, and read the file only if its time has changed."""
    try:
        status = Path(entry.path).stat()
    except OSError as error:
        raise _unreadable(entry, error) from error
    if (status.st_size, status.st_mtime_ns) != (entry.size_bytes, entry.modified_ns):
        read_image(entry)


def lacking(what: str) -> Unavailable:
    """Return the error for an image that nothing is known of, because a file cannot be opened."""
    return Unavailable(
        f"no file can be opened ({what}): the image is not missing, so ask for it again."
    )


def image_alarm(entry: ImageEntry, fault: InputError) -> str:
    """Return the text of the alarm about an image that a contestant could not get."""
    return f"Image {entry.image_id}: {fault} {_INSTRUCTION}"


def missing_images(notices: Iterable[Notice]) -> list[int]:
    """Return the ids of the images that a session's team could not get, in order."""
    subjects = [notice.subject or subject_of_1_0(notice) for notice in notices]
    return sorted({one.image_id for one in subjects if one.image_id is not None})


def _unreadable(entry: ImageEntry, error: OSError) -> RefereeError:
    lack = scarcity(error)
    if lack is not None:
        return lacking(lack)
    return InputError(f"{entry.path} cannot be read: {error.strerror}.")
