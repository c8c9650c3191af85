# SPDX-License-Identifier: Apache-2.0
"""The privacy of a contest's files: the folder has mode 700 and its files have mode 600."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.errors import InputError

_OTHERS = 0o077
# The files that the referee writes into a contest's folder. It leaves other files alone.
_OURS = tuple(
    "referee.db* contest.toml meter.jsonl* *.lock logs logs/*.log* signing.key* "
    "contest_tls.key* contest_ca.key* models models/*".split()
)


def make_private(folder: Path) -> None:
    """Make a contest's folder if it is missing; make it and the referee's files in it private.

    Raises `InputError` if the folder cannot be made.
    """
    make_folder(folder)
    close_to_others(folder)
    for pattern in _OURS:
        for path in folder.glob(pattern):
            close_to_others(path)


def make_folder(folder: Path) -> None:
    """Make a contest's folder if it is missing; raise `InputError` if that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except FileExistsError as error:
        why = "there is a file of this name"
        raise InputError(f"{folder}: the folder cannot be made: {why}.") from error
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be made: {error.strerror}.") from error


def close_to_others(path: Path) -> None:
    """Remove other users' permissions from a file or folder of this user, but not from a link."""
    try:
        status = path.lstat()
        if not path.is_symlink() and status.st_mode & _OTHERS and status.st_uid == os.getuid():
            path.chmod(status.st_mode & 0o700)
    except FileNotFoundError:  # A short-lived file, such as the database's journal, has gone.
        return


@contextmanager
def private_from_the_start() -> Iterator[None]:
    """Make every file private that this process and its children create during the block."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)
