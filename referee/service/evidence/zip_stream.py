# SPDX-License-Identifier: Apache-2.0
"""Several files as one zip, made while it is sent: it never lies on the disk."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

# The first moment that a zip file can name.
_TIME = (1980, 1, 1, 0, 0, 0)
_BLOCK_BYTES = 2**20


class _Sink:
    """Where the zip is written to; it cannot be rewound, so sizes stand behind each file."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def write(self, block: bytes) -> int:
        """Take a block."""
        self._blocks.append(bytes(block))
        return len(block)

    def flush(self) -> None:
        """Do nothing: whoever sends the blocks takes them."""

    def close(self) -> None:
        """Do nothing: there is no file behind it."""

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken = b"".join(self._blocks)
        self._blocks.clear()
        return taken


def zip_blocks(paths: Iterable[Path]) -> Iterator[bytes]:
    """Yield the blocks of a zip of these files, which are packed already and stay as they are."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for path in paths:
            entry = zipfile.ZipInfo(path.name, _TIME)
            with path.open("rb") as file, archive.open(entry, "w", force_zip64=True) as member:
                while block := file.read(_BLOCK_BYTES):
                    member.write(block)
                    yield sink.take()
    yield sink.take()
