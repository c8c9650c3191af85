# SPDX-License-Identifier: Apache-2.0
"""A file that grows by whole records and never fails the program that writes them."""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path


class AppendFile:
    """A file of records: what cannot be written waits in memory, in order, until there is room.

    Each record is with the operating system before `append` returns, so that it survives a killed
    process. `trouble` says why records wait; it is empty while none does. A record that a full
    disk cut in half is completed by the next write.
    """

    def __init__(self, path: Path, *, new: bool = False, mode: int = 0o666) -> None:
        """Choose the file, and the mode that a new one gets.

        With `new` it is made at once, and must not exist yet; an OSError says if it cannot be made.
        """
        self._path = path
        self._mode = mode
        self._waiting = bytearray()
        self._file = self._opened("x") if new else None
        self.trouble = ""

    @property
    def waiting(self) -> bytes:
        """Return what is not in the file yet; its first record may be cut at the front."""
        return bytes(self._waiting)

    def append(self, record: bytes) -> bool:
        """Add a record and return whether everything is in the file now."""
        self._waiting += record
        return self.flush()

    def flush(self) -> bool:
        """Try to write what waits and return whether everything is in the file now."""
        try:
            while self._waiting:
                if self._file is None:
                    self._file = self._opened("a")
                # Unbuffered, so that each call says how much of it the disk has taken.
                del self._waiting[: self._file.write(self._waiting)]
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return False
        self.trouble = ""
        return True

    def close(self) -> None:
        """Close the file; what waits stays in memory, and the next record opens the file again."""
        self.flush()
        file, self._file = self._file, None
        try:
            if file is not None:
                file.close()
        except OSError as error:
            self.trouble = error.strerror or str(error)

    def _opened(self, how: str) -> FileIO:
        return FileIO(self._path, how, opener=lambda name, flags: os.open(name, flags, self._mode))
