# SPDX-License-Identifier: Apache-2.0
"""A zip file that depends on its members alone: no clock, no user, no order of writing shows."""

from __future__ import annotations

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
# Numbers of doubles hardly compress. Level 1 takes a tenth of the default's time and 6 % more room.
_LEVEL = 1


class ZipWriter:
    """A zip file under way; `digests` has the SHA-256 of each member in hex, by name.

    A thread hashes and compresses a block while the caller makes the next. So two blocks at most
    are in memory, however long a member is.
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
                for block in blocks:
                    if under_way is not None:
                        under_way.result()
                    under_way = self._helper.submit(_take, member, digest.update, block)
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

    Raises `InputError` if the file cannot be written.
    """
    try:
        number, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    part = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield from _writer(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)


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
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]  # before Python 3.13 it has no name
    entry.create_system = _UNIX
    entry.external_attr = _MODE << 16
    return entry


def _take(member: IO[bytes], update: Callable[[bytes], object], block: bytes) -> None:
    update(block)
    member.write(block)
