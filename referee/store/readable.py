# SPDX-License-Identifier: Apache-2.0
"""Databases on a disk that takes no writes, such as a write-protected stick with a past event."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.errors import Unavailable

# Another computer may write where this one must not. Each copy that it disturbs is made again.
_COPIES_MOST = 5


def refusal_of_writes(folder: Path) -> str | None:
    """Return why a folder takes no new files, or None if it takes them or does not exist."""
    if not folder.is_dir() or os.access(folder, os.W_OK):
        return None
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return f"the disk of {folder} is read-only"
    return f"this user may not write into {folder}"


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """Yield a file by which SQLite can read a database: the database, or a private copy of it.

    SQLite writes an index of the write-ahead log beside the database even to read it. So a folder
    that takes no writes needs a copy of database and log. (`immutable=1` needs none, but ignores
    the log, which has the newest facts.) The copy goes when the block ends. Raises `Unavailable` if
    it cannot be made.
    """
    refusal = refusal_of_writes(path.parent)
    if refusal is None or not path.exists():
        yield path
        return
    try:
        folder = TemporaryDirectory(prefix="referee-")
    except OSError as error:
        raise _no_copy(refusal, error) from error
    with folder as name:
        copy = Path(name) / path.name
        try:
            _copy(path, copy)
        except OSError as error:
            raise _no_copy(refusal, error) from error
        yield copy


def _copy(path: Path, copy: Path) -> None:
    """Copy a database and its log as they were at one moment."""
    for _ in range(_COPIES_MOST):
        before = _state(path)
        for source, target in zip(_parts(path), _parts(copy), strict=True):
            target.unlink(missing_ok=True)
            if source.exists():
                shutil.copyfile(source, target)
        if _state(path) == before:
            return
    raise Unavailable(f"{path} cannot be read: another computer writes to it all the time.")


def _parts(path: Path) -> tuple[Path, Path]:
    return path, path.with_name(f"{path.name}-wal")


def _state(path: Path) -> list[tuple[int, int] | None]:
    statuses = [part.stat() if part.exists() else None for part in _parts(path)]
    return [None if one is None else (one.st_size, one.st_mtime_ns) for one in statuses]


def _no_copy(refusal: str, error: OSError) -> Unavailable:
    return Unavailable(
        f"The database cannot be read: {refusal}, and the copy to read in its place cannot be made "
        f"({error.strerror}). Let TMPDIR name a folder with room for it."
    )
