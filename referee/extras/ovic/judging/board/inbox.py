# SPDX-License-Identifier: Apache-2.0
"""What the agent reads from its link: lines of JSON, and the bytes of files.

The referee says something at least every `ALIVE_S`. A longer silence than `SILENCE_S` is a dead
link, even if the board's SSH server does not know it.
"""

from __future__ import annotations

import json
import os
import select

ALIVE_S = 5.0
SILENCE_S = 20.0

_CHUNK = 65_536
_LONGEST_LINE = 65_536


class LinkEnded(Exception):
    """Nobody is at the other end of the link any more."""


class Inbox:
    """The unread bytes of a link, which one thread at a time may read."""

    def __init__(self, descriptor: int, silence_s: float = SILENCE_S) -> None:
        self._descriptor = descriptor
        self._silence_s = silence_s
        self._unread = bytearray()

    def take(self, wake: int | None = None) -> bool:
        """Wait for more bytes; return False if `wake`, a descriptor, became readable instead.

        Raises LinkEnded at the end of the link, and after a silence.
        """
        watched = [self._descriptor] if wake is None else [self._descriptor, wake]
        ready = select.select(watched, [], [], self._silence_s)[0]
        if wake is not None and wake in ready:
            return False
        chunk = os.read(self._descriptor, _CHUNK) if ready else b""
        if not chunk:
            raise LinkEnded
        self._unread += chunk
        return True

    def line(self) -> dict[str, object]:
        """Return the next message; raise LinkEnded if there is none, or it is no message."""
        while b"\n" not in self._unread:
            if len(self._unread) > _LONGEST_LINE:
                raise LinkEnded
            self.take()
        line, _, rest = bytes(self._unread).partition(b"\n")
        self._unread = bytearray(rest)
        try:
            value = json.loads(line)
        except ValueError:
            raise LinkEnded from None
        if not isinstance(value, dict):
            raise LinkEnded
        return value

    def content(self, size: int) -> bytearray:
        """Return the next `size` bytes, those of a file."""
        while len(self._unread) < size:
            self.take()
        content, self._unread = self._unread[:size], self._unread[size:]
        return content
