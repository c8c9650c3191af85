# SPDX-License-Identifier: Apache-2.0
"""Databases on a disk that takes no writes, such as a write-protected stick with a past event."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.errors import InputError, Unavailable
from referee.store import schema

# Another computer may write where this one must not. Each copy that it disturbs is made again.
_COPIES_MOST = 5
_HEADER = b"SQLite format 3\0"
# The versions of the file's format for writing and reading: 2 is a write-ahead log
# (https://sqlite.org/fileformat2.html#file_format_version_numbers).
_WAL_BYTES, _WAL = slice(18, 20), b"\2\2"
# Each of our databases has them, since the first release.
_OURS = {"migrations", "sessions", "materials"}


def refusal_of_writes(folder: Path) -> str | None:
    """Return why a folder takes no new files, or None if it takes them or does not exist."""
    if not folder.is_dir() or os.access(folder, os.W_OK):
        return None
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return f"the disk of {folder} is read-only"
    return f"this user may not write into {folder}"


def is_our_database(path: Path) -> bool:
    """Tell whether a file is a database with the referee's tables; no file is made beside it.

    What only its write-ahead log holds does not count.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            if file.read(len(_HEADER)) != _HEADER:
                return False
        with closing(_unchanging(path)) as connection:
            names = connection.execute("select name from sqlite_master where type = 'table'")
            return {row[0] for row in names} >= _OURS
    except (OSError, sqlite3.Error):
        return False


def is_current(path: Path, rooms: Mapping[str, Path], *, in_use: bool) -> bool:
    """Tell whether a database of ours has every table of this version; nothing is changed.

    `rooms` are the folders of the guests that take part, by name. With `in_use` it must have been
    opened by a referee, too: opening it changes nothing then.
    """
    if not is_our_database(path):
        return False
    try:
        with path.open("rb") as file:
            is_wal = file.read(_WAL_BYTES.stop)[_WAL_BYTES] == _WAL
        with closing(_unchanging(path)) as connection:
            return not schema.lacking(connection, path, rooms) and (is_wal or not in_use)
    except (OSError, sqlite3.Error, InputError):
        return False


def _unchanging(path: Path) -> sqlite3.Connection:
    """Open a database so that SQLite makes no file beside it, and looks at no log."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def copy_to(path: Path, folder: Path) -> Path:
    """Copy a database and its log into a folder as they were at one moment; return the copy.

    Nothing is made beside the database. Raises OSError, or `Unavailable` if it is written to all
    the time.
    """
    copy = folder / path.name
    _copy(path, copy)
    return copy


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
        try:
            copy = copy_to(path, Path(name))
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
