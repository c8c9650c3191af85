# SPDX-License-Identifier: Apache-2.0
"""Connections whose every wait has an end: sockets with deadlines, requests as they come in."""

from __future__ import annotations

import errno
import re
import socket
import struct
import sys
import time
from dataclasses import dataclass

from referee.web.bodies import MAX_BODY_BYTES

# A client that takes nothing for this long is gone, or not worth a thread.
_UNREAD_S = 20
# The slowest reader that is waited for: an archive of 11 MB may take four minutes.
_SEND_RATE = 50_000
_BODY_S = 30.0
_BODY_RATE = 100_000
# Bodies up to this length come in before a thread is given to the request.
_HELD_BYTES = 64 * 1024

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*\r\n")


class BoundedSocket(socket.socket):
    """Give each send and each request a time of its own, whatever the server's threads ask for.

    gunicorn's threads receive and send without a time-out, which lets a client that sends a byte
    now and then, or reads one, hold a thread as long as it likes.
    """

    def __init__(self, accepted: socket.socket) -> None:
        family, kind, protocol = accepted.family, accepted.type, accepted.proto
        super().__init__(family, kind, protocol, fileno=accepted.detach())
        self._until_s = 0.0

    def allow(self, seconds: float) -> None:
        """Let everything that is received from now on take this long together."""
        self._until_s = time.monotonic() + seconds

    def settimeout(self, value: float | None) -> None:
        """Take gunicorn's bound for what it discards; it never makes the time longer."""
        if value:
            self._until_s = min(self._until_s, time.monotonic() + value)

    def receive_now(self, size: int) -> bytes | None:
        """Return what is there, b"" at the end, None if nothing is; needs a non-blocking socket."""
        try:
            return super().recv(size)
        except BlockingIOError:
            return None

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Receive within what is left of the time; raises TimeoutError."""
        left = self._until_s - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for the request is over")
        super().settimeout(left)
        return super().recv(size, flags)

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
        """Send within the time that a slow reader may take; then the connection is broken."""
        super().settimeout(_UNREAD_S + len(data) / _SEND_RATE)
        try:
            super().sendall(data, flags)
        except TimeoutError:
            raise BrokenPipeError(errno.EPIPE, "the client reads too slowly") from None


@dataclass(frozen=True)
class Framing:
    """Tell of a request whose head is here how many bytes to await, and its body's time."""

    needed: int
    body_s: float


def framing_of(received: bytes) -> Framing | None:
    """Look at what came in of a request; None while its head is incomplete.

    This only decides when a thread is given to the request: what the bytes mean is judged by the
    server's parser. A client that waits for `100 Continue` gets its thread at once.
    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        # Lines that end with LF alone are refused by the parser.
        return Framing(0, _BODY_S) if b"\n\n" in received else None
    head = received[: end + 2].lower()
    found = _LENGTH.search(head)
    length = int(found.group(1)) if found else 0
    held = length if length <= _HELD_BYTES and b"\r\nexpect:" not in head else 0
    return Framing(end + 4 + held, _BODY_S + min(length, MAX_BODY_BYTES) / _BODY_RATE)


def bound_listener(listener: socket.socket) -> None:
    """Set what the accepted sockets inherit: the kernel's own bounds on a peer that is gone."""
    timeval = struct.pack("ll", _UNREAD_S, 0)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval)
    if sys.platform == "linux":  # tcp(7): also for a peer that answers but takes nothing.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * _UNREAD_S)
