# SPDX-License-Identifier: Apache-2.0
"""One client's connection, with a time limit for every wait."""

from __future__ import annotations

import _socket
import errno
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gevent
from gunicorn.http.errors import ParseException

from referee.web.server.arrival import STAMP_BYTES, Ancillary, arrival_s
from referee.web.server.bodies import MAX_BODY_BYTES
from referee.web.server.malformed import says_no_length
from referee.web.server.turns import Party, Turns

KEEPALIVE_S = 75.0
"""The seconds that a connection may wait for its next request."""

HEAD_S = 10.0
"""The seconds for a request's head, counted from its first byte."""

BODY_S = 30.0
"""The seconds for a request's body, and one more for each `BODY_RATE` announced bytes."""

BODY_RATE = 100_000
"""The bytes a second of the slowest sender that the server tolerates."""

UNREAD_S = 20.0
"""The seconds in which a client must take a part of an answer, plus one per `SEND_RATE` bytes."""

SEND_RATE = 50_000
"""The bytes a second of the slowest reader that the server tolerates."""

# The server reads this much of a body that the application left unread, for at most this long.
# Otherwise it ends the connection.
_REST_BYTES = 64 * 1024
_REST_S = 5.0
# Between two pieces of a body that nobody needs: 32 MiB then take a second.
_DROP_REST_S = 0.002
# A finished connection waits this long for its client to close it. Meanwhile it drops a piece of
# what still comes, and rests: a client that sends on gets no more of the server than that.
_LINGER_S = 2.0
_LINGER_REST_S = 0.1
_PIECE = 64 * 1024
# Up to this size, a head and the data behind it are sent together in one packet.
_TOGETHER_BYTES = 4 * 1024
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain\r\nContent-Length: 42\r\n"
    b"Connection: close\r\n\r\nThe head of the request came too slowly.\r\n"
)


def waits_of(environ: Mapping[str, object]) -> Callable[[], bool]:
    """Return a function that tells whether the client of a request still waits for its answer.

    A client that has closed its sending side with the request waits for the answer, as far as
    anybody can see. One that closes later has gone. Any thread may ask.
    """
    link = environ.get("gunicorn.socket")
    if link is None or _has_closed(link):
        return lambda: True
    return lambda: not _has_closed(link)


def _has_closed(link: Any) -> bool:
    """Tell whether the other side has closed, without taking what it has sent."""
    # A second name of the same socket, of the plain type: gevent's and TLS's own cannot peek.
    try:
        seen = _socket.socket(fileno=os.dup(link.fileno()))
    except OSError:
        return True  # The connection is gone on our side, too.
    try:
        return not seen.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        seen.close()


class BoundedConnection:
    """A connected socket for gunicorn, with a time limit for each part of a request.

    It is `idle` until the head of a request has arrived, `kept` after its first request, and
    `receiving` while it takes a body, or what still comes after its last answer. `said_no_length`
    tells that its newest request is a POST that can have no body. `sender` is the address of who
    uses it now. Each time that it goes on after its client has sent something, it takes a turn of
    its `party`. Only one greenlet may use it; other greenlets may call `send_away` and `cut_off`,
    and the thread of the request `hurry`, `give_time` and `leave_unread`.
    """

    def __init__(self, link: Any, turns: Turns, party: Party) -> None:
        self._link = link
        self._turns = turns
        self.party = party
        # At this moment nothing more of its client was there to be read.
        self._missing_s = -math.inf
        self._stamp: Ancillary = ()
        self._stamp_missing_s = -math.inf
        self._until_s = 0.0
        self._rest_s = 0.0
        self._head_begun = False
        self._gone = False
        self._sent_away = False
        self._unread = False
        self._request: Any = None
        self._held = b""
        self.said_no_length = False
        self.idle = True
        self.kept = False
        self.receiving = False
        self.waits_since_s = time.monotonic()
        self.sender = ""

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the socket, for gunicorn."""
        return getattr(self._link, name)

    @property
    def arrived_s(self) -> float:
        """When the last byte that was read of the client came, on the sessions' clock."""
        return arrival_s(self._stamp, self._stamp_missing_s)

    def recv(self, size: int) -> bytes:
        """Receive data within the time limit.

        If a head does not come in time, the result is empty, as if the client had gone. Raises
        `TimeoutError` if a body does not come in time.
        """
        if not self.idle:
            with self._waiting():
                if self._rest_s:
                    gevent.sleep(self._rest_s)
                received = self._receive(size, self._until_s - time.monotonic())
                self._turns.take(self.party)
                return received
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
        if received:
            self._turns.take(self.party)
        return received

    def sendall(self, data: bytes) -> None:
        """Send all data; raise `BrokenPipeError` if the client reads too slowly.

        A short piece waits for the next piece or for `flush`, so that they are sent together.
        """
        self._held += data
        if len(self._held) > _TOGETHER_BYTES:
            self.flush()

    def send(self, data: bytes) -> int:
        """Send all data at once; clients that wait for `100 Continue` need that."""
        self.sendall(data)
        self.flush()
        return len(data)

    def flush(self) -> None:
        """Send the pieces that still wait."""
        buffered, self._held = self._held, b""
        if not buffered:
            return
        self._link.settimeout(UNREAD_S + len(buffered) / SEND_RATE)
        try:
            self._link.sendall(buffered)
        except TimeoutError:
            raise BrokenPipeError(errno.EPIPE, "the client reads too slowly") from None

    def begin_request(self, request: Any) -> None:
        """Start the time limit of a request's body, because its head has arrived."""
        self.idle = False
        self.waits_since_s = time.monotonic()
        self._rest_s = 0.0
        self._request = request
        self.said_no_length = says_no_length(request)
        length = min(getattr(request.body.reader, "length", 0), MAX_BODY_BYTES)
        self._until_s = time.monotonic() + BODY_S + length / BODY_RATE

    def hurry(self) -> None:
        """Limit the rest of the body to five more seconds, because it is not needed any more.

        It is read at leisure, since a client that sends it fast would slow the others down.
        """
        self._rest_s = _DROP_REST_S
        self._until_s = time.monotonic() + _REST_S

    def give_time(self, length: int) -> None:
        """Start the time limit again, for a body of this length that its sender may send."""
        self._until_s = time.monotonic() + BODY_S + length / BODY_RATE

    def leave_unread(self) -> None:
        """End the connection after the answer, which says so, and read no more of the body."""
        self._unread = True
        if self._request is not None:
            self._request.force_close()

    def finish_request(self, request: Any) -> None:
        """Prepare for the next request; raise `StopIteration` if this one's body is not read."""
        self._request = None
        self.flush()
        if self._unread:
            raise StopIteration
        # A reader with a length counts down what is still to come.
        if request.body.failed or getattr(request.body.reader, "length", None) != 0:
            self._read_rest(request.body)
        self.idle = self.kept = True
        self.waits_since_s = time.monotonic()
        self._head_begun = False
        if request.unreader.buf.getvalue():
            self._begin_head()
            self._turns.take(self.party)

    def send_away(self) -> None:
        """End the wait for the client, so that the connection's greenlet closes the connection.

        A request that has already arrived is still served. A body that breaks off is refused.
        """
        self._sent_away = True
        try:
            self._link.shutdown(0)  # SHUT_RD
        except OSError:
            pass

    def cut_off(self) -> None:
        """End the connection whatever it does, also an answer that has no end."""
        self._sent_away = self._gone = True
        try:
            self._link.shutdown(2)  # SHUT_RDWR
        except OSError:
            pass

    def tell_at_once(self, answer: bytes) -> None:
        """Send a short answer without waiting; it is lost where the socket takes nothing now."""
        try:
            self._link.settimeout(0.0)
            self._link.sendall(answer)
            # What has come is taken, since a close with unread data would destroy the answer.
            self._link.recv(_PIECE)
        except OSError:
            pass

    def abandon(self) -> None:
        """Close without waiting for the client."""
        self._link.close()

    def close(self) -> None:
        """Close our side and wait for the client's, so that the client can read the whole answer.

        Closing with unread data would destroy data on its way (RFC 9112, section 9.6).
        """
        self.idle = False
        try:
            if not self._gone:
                self.flush()
                self._link.shutdown(1)  # SHUT_WR
                until_s = time.monotonic() + _LINGER_S
                with self._waiting():
                    while self._receive(_PIECE, until_s - time.monotonic()):
                        gevent.sleep(_LINGER_REST_S)
        except OSError:
            pass  # The client has gone, or does not close in time.
        self._link.close()

    def _read_rest(self, body: Any) -> None:
        self.hurry()
        try:
            if body.failed or len(body.read(_REST_BYTES + 1)) > _REST_BYTES:
                raise StopIteration
        except (OSError, ParseException):
            raise StopIteration from None

    def _begin_head(self) -> None:
        self._head_begun = True
        self._until_s = time.monotonic() + HEAD_S

    def _receive(self, size: int, seconds: float) -> bytes:
        if seconds <= 0:
            raise TimeoutError("the time for the request is over")
        self._link.settimeout(seconds)
        turns = self._turns
        looked_s = turns.looked_s
        received: bytes
        try:
            received, stamp, _, _ = self._link.recvmsg(size, STAMP_BYTES)
        except OSError:
            # gevent raises this when `send_away` has shut the connection down.
            if self._sent_away:
                return b""
            raise
        self._stamp = stamp
        self._stamp_missing_s = self._missing_s
        if turns.looked_s != looked_s:  # It has waited.
            self._stamp_missing_s = max(self._missing_s, turns.looked_before_s)
        if len(received) < size:
            self._missing_s = turns.looked_s
        return received

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Let this connection make room for others, in its rests between two pieces too.

        On a busy server all connections of a flood may rest at once.
        """
        self.receiving = True
        try:
            yield
        finally:
            self.receiving = False
