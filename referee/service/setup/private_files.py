# SPDX-License-Identifier: Apache-2.0
"""What a contest keeps is its owner's alone: a folder of mode 700 with files of mode 600."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OTHERS = 0o077
# What the referee itself writes into a contest's folder; anything else there is not ours to touch.
_OURS = ("referee.db*", "contest.toml", "meter.jsonl*", "*.lock", "logs", "logs/*.log*")


def make_private(folder: Path) -> None:
    """Make a contest's folder if need be, and take it and our files in it out of others' reach."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    close_to_others(folder)
    for pattern in _OURS:
        for path in folder.glob(pattern):
            close_to_others(path)


def close_to_others(path: Path) -> None:
    """Take a file or folder of this user out of others' reach; a link is left alone."""
    try:
        found = path.lstat()
        if not path.is_symlink() and found.st_mode & _OTHERS and found.st_uid == os.getuid():
            path.chmod(found.st_mode & 0o700)
    except FileNotFoundError:  # It was a file of a moment, such as the database's journal.
        return


@contextmanager
def private_from_the_start() -> Iterator[None]:
    """Have each file that this process and its children make in the block be its owner's alone."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)
