# SPDX-License-Identifier: Apache-2.0
"""A zip file that depends on its members alone: no clock, no user, no order of writing shows."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from referee.errors import InputError

# The first moment that a zip file can name.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_MODE = 0o100644
# Level 1 takes a third of the default's time.
_LEVEL = 1
# A million detections with all their digits are 102 MB, and 52 MB at level 1. That takes 2.2 s of a
# processor, more than all else in an export together, so they are stored as they are.
_STORED = ("detections.csv", "late_detections.csv")
# A thread waits up to 5 ms for its turn each time that it comes back from hashing or compressing.
_AT_ONCE_BYTES = 2**22


class ZipWriter:
    """A zip file under way; `digests` has the SHA-256 of each member in hex, by name.

    A thread hashes and compresses some megabytes while the caller makes the next ones. So three
    times as much at most is in memory, however long a member is.
    """

    def __init__(self, archive: zipfile.ZipFile, helper: ThreadPoolExecutor) -> None:
        self._archive = archive
        self._helper = helper
        self.digests: dict[str, str] = {}

    def add(self, name: str, blocks: Iterable[bytes]) -> None:
        """Write one member from its blocks in order."""
        digest = hashlib.sha256()
        with self._archive.open(_entry(name), "w", force_zip64=True) as member:
            under_way: Future[None] | None = None
            try:
                for part in _parts(blocks):
                    if under_way is not None:
                        under_way.result()
                    under_way = self._helper.submit(_take, member, digest.update, part)
            finally:
                if under_way is not None:
                    under_way.result()
        self.digests[name] = digest.hexdigest()

    def close(self) -> None:
        """List the members by name, whatever their order in the file."""
        self._archive.filelist.sort(key=lambda entry: entry.filename)


@contextmanager
def zip_written_whole(path: Path) -> Iterator[ZipWriter]:
    """Write a zip file that appears whole, and on the disk, or not at all.

    What a killed writer of the same file has left is removed. Raises `InputError` if the file
    cannot be written.
    """
    try:
        _remove_torn(path)
        number, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    part = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            with contextlib.suppress(OSError):  # Not every file system has locks.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield from _writer(file)
            file.flush()
            os.fsync(file.fileno())
            os.replace(part, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)


def _remove_torn(path: Path) -> None:
    """Remove the parts of a file whose writers are dead: the kernel has dropped their locks."""
    for part in path.parent.glob(f"{glob.escape(path.name)}.????????.part"):
        with contextlib.suppress(OSError), part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def _writer(file: IO[bytes]) -> Iterator[ZipWriter]:
    with (
        ThreadPoolExecutor(1, thread_name_prefix="bundle") as helper,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
    ):
        writer = ZipWriter(archive, helper)
        yield writer
        writer.close()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.compress_type = zipfile.ZIP_STORED if name in _STORED else zipfile.ZIP_DEFLATED
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]  # before Python 3.13 it has no name
    entry.create_system = _UNIX
    entry.external_attr = _MODE << 16
    return entry


def _parts(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Join small blocks to parts of some megabytes; the last one may be small."""
    waiting: list[bytes] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block)
        if size >= _AT_ONCE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _take(member: IO[bytes], update: Callable[[bytes], object], block: bytes) -> None:
    update(block)
    member.write(block)
