# SPDX-License-Identifier: Apache-2.0
"""One client's connection, whose every wait has an end."""

from __future__ import annotations

import errno
import time
from typing import Any

from gunicorn.http.errors import ParseException

from referee.web.server.bodies import MAX_BODY_BYTES

KEEPALIVE_S = 75.0
"""Seconds for which a connection may wait for its next request."""

HEAD_S = 10.0
"""Seconds for a request's head from its first byte."""

BODY_S = 30.0
"""Seconds for a request's body, and one more for each `BODY_RATE` bytes that it announces."""

BODY_RATE = 100_000
"""Bytes a second of the slowest sender that is waited for."""

UNREAD_S = 20.0
"""Seconds to take a part of an answer, and one more for each `SEND_RATE` bytes of it."""

SEND_RATE = 50_000
"""Bytes a second of the slowest reader that is waited for."""

# What an application leaves unread is read on so far and for so long, then the connection ends.
_REST_BYTES = 64 * 1024
_REST_S = 5.0
# A connection that is over waits so long for its client to close it.
_LINGER_S = 2.0
_PIECE = 64 * 1024
# A head and what follows it leave in one packet where they fit.
_TOGETHER_BYTES = 4 * 1024
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain\r\nContent-Length: 42\r\n"
    b"Connection: close\r\n\r\nThe head of the request came too slowly.\r\n"
)


class BoundedConnection:
    """A connected socket as gunicorn uses it, with a time for each part of a request.

    It is `idle` until the head of a request is here. Not safe to use from several greenlets at
    once, but for `send_away`.
    """

    def __init__(self, link: Any) -> None:
        self._link = link
        self._until_s = 0.0
        self._head_begun = False
        self._gone = False
        self._sent_away = False
        self._held = b""
        self.idle = True
        self.idle_since_s = time.monotonic()

    def __getattr__(self, name: str) -> Any:
        """Return what gunicorn asks of the socket beside the methods below."""
        return getattr(self._link, name)

    def recv(self, size: int) -> bytes:
        """Receive what comes within the time for it.

        A head that does not come in time is like a client that has gone. Raises `TimeoutError`
        for a body that does not.
        """
        if not self.idle:
            return self._receive(size, self._until_s - time.monotonic())
        try:
            if self._head_begun:
                received = self._receive(size, self._until_s - time.monotonic())
            else:
                received = self._receive(size, KEEPALIVE_S)
                self._begin_head()
        except TimeoutError:
            if self._head_begun:
                self._link.sendall(_TOO_SLOW)
            return b""
        self._gone = not received
        return received

    def sendall(self, data: bytes) -> None:
        """Send all of it; a client that takes too little of it is like one that has gone.

        A short piece waits for the next one, or for `flush`, so that they leave together.
        """
        self._held += data
        if len(self._held) > _TOGETHER_BYTES:
            self.flush()

    def send(self, data: bytes) -> int:
        """Send all of it at once, as clients that wait for `100 Continue` need."""
        self.sendall(data)
        self.flush()
        return len(data)

    def flush(self) -> None:
        """Send what is held."""
        held, self._held = self._held, b""
        if not held:
            return
        self._link.settimeout(UNREAD_S + len(held) / SEND_RATE)
        try:
            self._link.sendall(held)
        except TimeoutError:
            raise BrokenPipeError(errno.EPIPE, "the client reads too slowly") from None

    def begin_request(self, request: Any) -> None:
        """Give the body of a request its time; its head is here."""
        self.idle = False
        length = min(getattr(request.body.reader, "length", 0), MAX_BODY_BYTES)
        self._until_s = time.monotonic() + BODY_S + length / BODY_RATE

    def hurry(self) -> None:
        """Let the rest of the body take five more seconds: nobody wants it any more."""
        self._until_s = time.monotonic() + _REST_S

    def finish_request(self, request: Any) -> None:
        """Await the next request; raises `StopIteration` where the present one is not read."""
        self.flush()
        self.hurry()
        try:
            if request.body.failed or len(request.body.read(_REST_BYTES + 1)) > _REST_BYTES:
                raise StopIteration
        except (OSError, ParseException):
            raise StopIteration from None
        self.idle = True
        self.idle_since_s = time.monotonic()
        self._head_begun = False
        if request.unreader.buf.getvalue():
            self._begin_head()

    def send_away(self) -> None:
        """End the wait for a request; the connection's greenlet then closes it.

        A request that is here already is served.
        """
        self._sent_away = True
        try:
            self._link.shutdown(0)  # SHUT_RD
        except OSError:
            pass

    def close(self) -> None:
        """Close our side and wait for the client's, so that it reads the answer to its end.

        RFC 9112, section 9.6: closing with data unread destroys what is under way.
        """
        self.idle = False
        try:
            if not self._gone:
                self.flush()
                self._link.shutdown(1)  # SHUT_WR
                until_s = time.monotonic() + _LINGER_S
                while self._receive(_PIECE, until_s - time.monotonic()):
                    pass
        except OSError:
            pass  # It has gone, or stays too long.
        self._link.close()

    def _begin_head(self) -> None:
        self._head_begun = True
        self._until_s = time.monotonic() + HEAD_S

    def _receive(self, size: int, seconds: float) -> bytes:
        if seconds <= 0:
            raise TimeoutError("the time for the request is over")
        self._link.settimeout(seconds)
        try:
            received: bytes = self._link.recv(size)
        except OSError:
            # So gevent ends a wait whose end of the connection is shut down.
            if self._sent_away:
                return b""
            raise
        return received
