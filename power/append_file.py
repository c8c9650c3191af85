# SPDX-License-Identifier: Apache-2.0
"""A file that grows by whole records; a full disk never fails the program that writes them."""

from __future__ import annotations

import os
import sys
from io import FileIO
from pathlib import Path


class AppendFile:
    """A file of records. Records that cannot be written wait in memory, in order.

    `append` hands each record to the operating system before it returns, so the record survives a
    killed process. `trouble` says why records wait; it is empty while none waits. A full disk may
    cut a record; the next write completes it.
    """

    def __init__(self, path: Path, *, new: bool = False, mode: int = 0o666) -> None:
        """Choose the file, and the permissions `mode` of a file that has to be made.

        With `new` the file is made at once. Raises OSError if it exists or cannot be made.
        """
        self._path = path
        self._mode = mode
        self._waiting = bytearray()
        self._file = self._opened("x") if new else None
        self.trouble = ""

    @property
    def waiting(self) -> bytes:
        """Return the bytes not yet in the file; the first record may lack its beginning."""
        return bytes(self._waiting)

    def append(self, record: bytes) -> bool:
        """Add a record; return whether all records are in the file now."""
        self._waiting += record
        return self.flush()

    def flush(self) -> bool:
        """Try to write the waiting records; return whether all records are in the file now."""
        try:
            while self._waiting:
                if self._file is None:
                    self._file = self._opened("a")
                # The file is unbuffered, so `write` returns how many bytes the disk has taken.
                del self._waiting[: self._file.write(self._waiting)]
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return False
        self.trouble = ""
        return True

    def sync(self) -> bool:
        """Wait until all records are on the disk, so they survive a power cut; return whether."""
        if not self.flush():
            return False
        try:
            if self._file is not None:
                os.fsync(self._file.fileno())
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return False
        return True

    def claim(self) -> bool:
        """Lock the file until it is closed, and open it if need be (see the function `claim`)."""
        if self._file is None:
            self._file = self._opened("a")
        return claim(self._file.fileno())

    def close(self) -> None:
        """Close the file. Waiting records stay in memory; the next record opens the file again."""
        self.flush()
        file, self._file = self._file, None
        try:
            if file is not None:
                file.close()
        except OSError as error:
            self.trouble = error.strerror or str(error)

    def _opened(self, how: str) -> FileIO:
        return FileIO(self._path, how, opener=lambda name, flags: os.open(name, flags, self._mode))


def claim(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False if another program has locked it.

    The kernel ends the lock when the program ends in any way. A system without such locks grants
    every claim.
    """
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
