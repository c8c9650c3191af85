# SPDX-License-Identifier: Apache-2.0
"""A disk that is full for a while: the kernel limits the size of a file."""

from __future__ import annotations

import resource
from pathlib import Path


class FullDisk:
    """The limit on the size of every file that this process writes; `free` removes it.

    A write beyond the limit fails as on a full disk: the bytes that fit are written, and the rest
    raises OSError.
    """

    def __init__(self) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self, path: Path, room: int = 0) -> None:
        """Leave room for this many more bytes in this file, and none in larger files."""
        size = path.stat().st_size if path.exists() else 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, self._before[1]))

    def free(self) -> None:
        """Make room again."""
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


def fill_up(path: Path) -> None:
    """Write until the file system has no room for one byte more."""
    with path.open("wb", buffering=0) as file:
        for size in (2**20, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
