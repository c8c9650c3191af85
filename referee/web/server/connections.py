# SPDX-License-Identifier: Apache-2.0
"""Connections whose every wait has an end: sockets with deadlines, requests as they come in."""

from __future__ import annotations

import errno
import re
import select
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from referee.web.server.bodies import MAX_BODY_BYTES

# A client that takes nothing for this long is gone, or not worth a thread.
_UNREAD_S = 20
# The slowest reader that is waited for: an archive of 11 MB may take four minutes.
_SEND_RATE = 50_000
_BODY_S = 30.0
_BODY_RATE = 100_000
# Bodies up to this length come in before a thread is given to the request.
_HELD_BYTES = 64 * 1024
# A head and what follows it leave in one packet where they fit; more than this is not held back.
_TOGETHER_BYTES = 16 * 1024

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*0*([0-9]{1,15})[ \t]*\r\n")


class ClientGone(OSError):
    """Report that a client has closed its connection, or takes too little of its answer."""


class BoundedSocket(socket.socket):
    """Give each send and each request a time of its own, whatever the server asks for.

    The socket itself never blocks. Where one of its methods has to wait for the client, it calls
    `before_wait` first, and waits no longer than the time allows. `whole_s` may be set to the
    monotonic second at which a whole request was here; receiving more of it makes that untrue.
    """

    def __init__(self, accepted: socket.socket, before_wait: Callable[[], None]) -> None:
        family, kind, protocol = accepted.family, accepted.type, accepted.proto
        super().__init__(family, kind, protocol, fileno=accepted.detach())
        super().setblocking(False)
        self._before_wait = before_wait
        self.whole_s: float | None = None
        self._until_s = 0.0
        self._held: list[bytes] = []
        self._held_bytes = 0

    def allow(self, seconds: float) -> None:
        """Let everything that is received from now on take this long together."""
        self._until_s = time.monotonic() + seconds

    def settimeout(self, value: float | None) -> None:
        """Take gunicorn's bound for what it discards; it never makes the time longer."""
        if value:
            self._until_s = min(self._until_s, time.monotonic() + value)

    def receive_now(self, size: int) -> bytes | None:
        """Return what is there, b"" at the end, None if nothing is; raises `ClientGone`."""
        try:
            return super().recv(size)
        except BlockingIOError:
            return None
        except OSError as error:
            raise ClientGone(error.errno, error.strerror) from error

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Receive within what is left of the time; raises TimeoutError and `ClientGone`."""
        self.whole_s = None
        if self._held:
            self.flush()  # Whoever waits for `100 Continue` gets it.
        self._require_time()
        received = self.receive_now(size)
        while received is None:
            self._wait(select.POLLIN, self._until_s)
            self._require_time()
            received = self.receive_now(size)
        return received

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
        """Hold a small piece until `flush` or the next one, so that they leave together."""
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > _TOGETHER_BYTES:
            self.flush()

    def send(self, data: bytes, flags: int = 0) -> int:  # type: ignore[override]
        """Send all of it at once, and what was held before it."""
        self.sendall(data)
        self.flush()
        return len(data)

    def try_to_send(self, data: bytes) -> None:
        """Send it if that needs no wait."""
        try:
            self._send_now([data])
        except OSError:
            pass

    def flush(self) -> None:
        """Send what is held; raises `ClientGone`, for a client that reads too slowly too."""
        if not self._held:
            return
        parts, length = self._held, self._held_bytes
        self._held, self._held_bytes = [], 0
        try:
            sent = self._send_now(parts)
            if sent < length:
                self._send_slowly(memoryview(b"".join(parts))[sent:])
        except OSError as error:
            raise ClientGone(error.errno, error.strerror) from error

    def _send_now(self, parts: Sequence[bytes | memoryview]) -> int:
        try:
            return self.sendmsg(parts)
        except BlockingIOError:
            return 0

    def _send_slowly(self, rest: memoryview) -> None:
        until_s = time.monotonic() + _UNREAD_S + len(rest) / _SEND_RATE
        while rest:
            self._wait(select.POLLOUT, until_s)
            if time.monotonic() >= until_s:
                raise BrokenPipeError(errno.EPIPE, "the client reads too slowly")
            rest = rest[self._send_now([rest]) :]

    def _require_time(self) -> None:
        if time.monotonic() >= self._until_s:
            raise TimeoutError("the time for the request is over")

    def _wait(self, what: int, until_s: float) -> None:
        self._before_wait()
        poll = select.poll()
        poll.register(self, what)
        poll.poll(max(0.0, 1e3 * (until_s - time.monotonic())))


@dataclass(frozen=True)
class Framing:
    """Tell of a request whose head is here how many bytes to await, and its body's time.

    `whole` is false where more of the body is to come after those.
    """

    needed: int
    body_s: float
    whole: bool = True


def framing_of(received: bytes) -> Framing | None:
    """Look at what came in of a request; None while its head is incomplete.

    This only decides when a request is served: what the bytes mean is judged by the server's
    parser. A client that waits for `100 Continue` is served at once.
    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        # Lines that end with LF alone are refused by the parser.
        return Framing(0, _BODY_S) if b"\n\n" in received else None
    head = received[: end + 2].lower()
    found = _LENGTH.search(head)
    length = int(found.group(1)) if found else 0
    held = length <= _HELD_BYTES and b"\r\nexpect:" not in head
    # Any other body, and a length that is none, is the parser's business.
    other = b"\r\ntransfer-encoding:" in head or (not found and b"\r\ncontent-length" in head)
    body_s = _BODY_S + min(length, MAX_BODY_BYTES) / _BODY_RATE
    return Framing(end + 4 + (length if held else 0), body_s, held and not other)


def bound_listener(listener: socket.socket) -> None:
    """Set what the accepted sockets inherit: the kernel's own bound on a peer that is gone."""
    if sys.platform == "linux":  # tcp(7): also for a peer that answers but takes nothing.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * _UNREAD_S)
