# SPDX-License-Identifier: Apache-2.0
"""Archives of images, made while they are sent: one image of each is in memory at a time."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

Member = tuple[str, Callable[[], bytes]]
"""A member's name, and what reads its content."""

_LOCAL_HEADER = 30
_CENTRAL_HEADER = 46
_END = 22


def archive_pieces(members: Iterable[Member]) -> Iterator[bytes]:
    """Yield a zip archive in pieces, of a member each and the directory at the end.

    The members are marked as deflated, which old clients expect, at level 0: a JPEG does not get
    smaller, and level 0 costs no time. Reads each content when its piece is asked for.
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
    """Return how long so many bytes are at level 0, whatever they are."""
    compressor = zlib.compressobj(0, zlib.DEFLATED, -15)
    return len(compressor.compress(bytes(size))) + len(compressor.flush())


class _Window(io.BytesIO):
    """The part of a file that was written since `take`, at its place in the whole."""

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self) -> bytes:
        """Return what was written, and forget it."""
        content = self.getvalue()
        self._taken += len(content)
        super().seek(0)
        self.truncate()
        return content

    def tell(self) -> int:
        """Return the place in the whole."""
        return self._taken + super().tell()

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place in the whole that was not taken yet."""
        return self._taken + super().seek(place - self._taken if whence == 0 else place, whence)
