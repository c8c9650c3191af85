# SPDX-License-Identifier: Apache-2.0
"""What the processes of a contest share about logins: one turn for guesses, and who guesses."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import math
import os
import struct
import weakref
from pathlib import Path

# Each address has one of these places, eight bytes each. Two addresses of 65,536 share a place.
_PLACES = 65_536
_MOMENT = struct.Struct("=d")

_log = logging.getLogger(__name__)


class MachineTurn:
    """A file that all processes of a contest open: its lock is the turn, its bytes the memory.

    A guess needs the turn alone, by flock(2). Others share it, so guesses in all processes together
    have one turn at a time, and none beside somebody who has not guessed. Whoever has not guessed
    also holds a second file from the moment that he wants the turn, and no guess begins meanwhile.
    Without it, guesses of one process after the other would leave him no gap. The object has one
    turn at a time. A folder that refuses the file leaves each process its own turns. The memory is
    written like a file and not mapped, because a full disk would then kill the process.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self._key = key[:64]
        self._turn = self._wanted = -1
        try:
            self._turn = self._opened(folder / "logins.lock")
            self._wanted = self._opened(folder / "logins_wanted.lock")
        except OSError as error:
            _log.warning("logins are checked without the shared turn: %s", error)

    def take(self, *, alone: bool) -> bool:
        """Take the turn, if that is possible now; without `alone`, want it until `give_back`."""
        if self._wanted < 0:
            return True
        if not alone:
            _is_locked(self._wanted, fcntl.LOCK_SH)
            return _is_locked(self._turn, fcntl.LOCK_SH)
        if not _is_locked(self._wanted, fcntl.LOCK_EX):
            return False
        taken = _is_locked(self._turn, fcntl.LOCK_EX)
        fcntl.flock(self._wanted, fcntl.LOCK_UN)
        return taken

    def give_back(self) -> None:
        """End the turn, or the wish for it."""
        if self._wanted >= 0:
            fcntl.flock(self._turn, fcntl.LOCK_UN)
            fcntl.flock(self._wanted, fcntl.LOCK_UN)

    def until_s(self, address: str) -> float:
        """Return until when an address counts as one that guesses, in any process."""
        if self._turn < 0:
            return -math.inf
        content = os.pread(self._turn, _MOMENT.size, self._place(address))
        return float(_MOMENT.unpack(content)[0]) if len(content) == _MOMENT.size else -math.inf

    def suspect(self, address: str, until_s: float) -> None:
        """Let an address count as one that guesses, in every process; a full disk forgets it."""
        if self._turn < 0:
            return
        try:
            os.pwrite(self._turn, _MOMENT.pack(until_s), self._place(address))
        except OSError as error:
            _log.warning("a guess is not remembered: %s", error)

    def _opened(self, path: Path) -> int:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        weakref.finalize(self, os.close, descriptor)
        return descriptor

    def _place(self, address: str) -> int:
        # The key keeps others from choosing an address that shares the place of a team's.
        digest = hashlib.blake2b(address.encode("utf-8", "replace"), digest_size=8, key=self._key)
        return int.from_bytes(digest.digest(), "big") % _PLACES * _MOMENT.size


def _is_locked(descriptor: int, kind: int) -> bool:
    """Take a lock if nobody is in the way, and tell whether that was so."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
