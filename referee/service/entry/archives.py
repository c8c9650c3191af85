# SPDX-License-Identifier: Apache-2.0
"""Zip archives that are made while they are sent, with one image in memory at a time."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

Member = tuple[str, Callable[[], bytes]]
"""A member's name, and a function that reads its content."""

_LOCAL_HEADER = 30
_CENTRAL_HEADER = 46
_END = 22


def archive_pieces(members: Iterable[Member]) -> Iterator[bytes]:
    """Yield a zip archive in pieces: one piece for each member, then the directory.

    A member's content is read when the caller asks for its piece. Old clients expect the method
    "deflated". Level 0 costs no time, and a JPEG would not get smaller.
    """
    window = _Window()
    with zipfile.ZipFile(window, "w", zipfile.ZIP_DEFLATED, compresslevel=0) as archive:
        for name, read in members:
            archive.writestr(zipfile.ZipInfo(name), read(), 8, 0)
            yield window.take()
    yield window.take()


def archive_length(names: Sequence[str], sizes: Sequence[int]) -> int:
    """Return the length of an archive of members with these names and sizes, in bytes."""
    headers = sum(_LOCAL_HEADER + _CENTRAL_HEADER + 2 * len(name.encode()) for name in names)
    return headers + sum(map(_deflated, sizes)) + _END


@lru_cache(maxsize=65536)
def _deflated(size: int) -> int:
    """Return the deflated length of `size` bytes at level 0, which any content has."""
    compressor = zlib.compressobj(0, zlib.DEFLATED, -15)
    return len(compressor.compress(bytes(size))) + len(compressor.flush())


class _Window(io.BytesIO):
    """A file that keeps only the part written since the last `take`.

    Its positions are those of the whole file.
    """

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self) -> bytes:
        """Return the part that was written, and drop it."""
        content = self.getvalue()
        self._taken += len(content)
        super().seek(0)
        self.truncate()
        return content

    def tell(self) -> int:
        """Return the position in the whole file."""
        return self._taken + super().tell()

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position in the whole file that `take` has not passed."""
        return self._taken + super().seek(place - self._taken if whence == 0 else place, whence)
