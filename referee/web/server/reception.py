# SPDX-License-Identifier: Apache-2.0
"""All connections of a worker: who may connect, whose request is whole, who waits too long."""

from __future__ import annotations

import errno
import os
import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any

from gunicorn.http import get_parser

from referee.web.server.awaiting import AwaitedBody
from referee.web.server.connections import BoundedSocket, ClientGone, Framing, framing_of
from referee.web.server.lines import FairLines

HEAD_S = 10.0
"""Seconds for a request's head from its first byte."""

MOST_CONNECTIONS = 128
"""Connections that one address may have with one worker; honest clients have had up to 32."""

_MOST_HEAD = 64 * 1024
_PIECE = 64 * 1024
_LINGER_S = 2.0
# The same for clients that ask for nothing when the server ends.
_LAST_LINGER_S = 0.5
# What accept(2) says of a connection that was there and is gone.
_NO_CONNECTION = (errno.EAGAIN, errno.ECONNABORTED)
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain\r\nContent-Length: 42\r\n"
    b"Connection: close\r\n\r\nThe head of the request came too slowly.\r\n"
)


class _State(Enum):
    """Name what a connection is doing."""

    COMING = "its request is awaited or coming in"
    TAKEN = "its request waits for its turn, is served, or awaits its response"
    LINGERING = "it is over, and its client is to close first"


class Connection:
    """Keep a connection, what has come in of its next request, and until when the rest may take.

    `watched` tells whether the selector looks at it; `awaited` holds gunicorn's response and the
    body of a request whose response is not made yet.
    """

    def __init__(self, cfg: Any, link: BoundedSocket, client: Any, server: Any) -> None:
        self.sock = link
        self.client = client
        self.server = server
        self.address = client[0] if isinstance(client, tuple) else ""
        self.parser = get_parser(cfg, link, client)
        self.state = _State.COMING
        self.received = bytearray()
        self.framing: Framing | None = None
        self.until_s = 0.0
        self.watched = False
        self.awaited: tuple[Any, AwaitedBody] | None = None

    def whole(self) -> bool:
        """Tell whether all that serving needs to begin with has come in."""
        if self.framing is None:
            self.framing = framing_of(bytes(self.received))
            if self.framing is None:
                return len(self.received) > _MOST_HEAD
            self.until_s = time.monotonic() + self.framing.body_s
        return len(self.received) >= self.framing.needed

    @property
    def held(self) -> bool:
        """Tell whether all of the request is here, and not just enough to begin with."""
        framing = self.framing
        return framing is not None and framing.whole and len(self.received) >= framing.needed

    def begin(self) -> Any:
        """Return gunicorn's request; raises what its parser refuses."""
        if self.framing is None or self.framing.whole:
            self.sock.allow(self.until_s - time.monotonic())
        else:  # The rest of the body has all its time from now on.
            self.sock.allow(self.framing.body_s)
        self.parser.unreader.unread(bytes(self.received))
        self.received.clear()
        return next(self.parser)


class Reception:
    """Take in connections and requests; all but `wake` belongs to the thread that leads.

    `lines` holds the connections whose request can be served: its head is here, and a short body.
    `connections` holds all of them.
    """

    def __init__(
        self, cfg: Any, log: Any, listeners: Sequence[Any], before_wait: Callable[[], None]
    ) -> None:
        self.lines: FairLines[Connection] = FairLines(max(1, cfg.threads * 3 // 4))
        self.connections: set[Connection] = set()
        self._cfg = cfg
        self._log = log
        self._listeners = listeners
        self._accepting = False
        self._before_wait = before_wait
        self._of_address: Counter[str] = Counter()
        self._selector = selectors.DefaultSelector()
        self._wake_reader, self._wake_writer = os.pipe()
        for end in (self._wake_reader, self._wake_writer):
            os.set_blocking(end, False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ, self._woken)
        for listener in listeners:
            listener.setblocking(False)

    def take_in(self, seconds: float) -> bool:
        """Take in what has come; wait for it so long. Tell whether anything came."""
        events = self._selector.select(seconds)
        for key, _ in events:
            key.data()
        return bool(events)

    def wake(self) -> None:
        """End the wait of `take_in`; any thread may call it."""
        try:
            os.write(self._wake_writer, b".")
        except BlockingIOError:
            pass  # It is full, so the wait ends anyway.

    def accept_connections(self, wanted: bool) -> None:
        """Begin to accept connections, or leave those that come to other workers."""
        if wanted == self._accepting:
            return
        self._accepting = wanted
        for listener in self._listeners:
            if wanted:
                callback = partial(self._accept, listener)
                self._selector.register(listener, selectors.EVENT_READ, callback)
            else:
                self._selector.unregister(listener)

    def end(self) -> None:
        """Accept no more connections, and close those that ask for nothing; may be repeated."""
        self.accept_connections(False)
        for listener in self._listeners:
            listener.close()
        self._listeners = ()
        for conn in list(self.connections):
            if conn.state is _State.COMING and not conn.received:
                self.close(conn, _LAST_LINGER_S)

    def keep(self, conn: Connection) -> None:
        """Await the next request, which may be there in part or whole."""
        conn.received += conn.parser.unreader.take_buffered()
        conn.state = _State.COMING
        conn.framing = None
        conn.until_s = time.monotonic() + (HEAD_S if conn.received else self._cfg.keepalive)
        if conn.received and conn.whole():
            self._join(conn)
        else:
            self._watch(conn)

    def close(self, conn: Connection, linger_s: float = _LINGER_S) -> None:
        """Close our side and wait for the client's, so that it reads the answer to its end.

        RFC 9112, section 9.6: closing with data unread destroys what is under way.
        """
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        conn.state = _State.LINGERING
        conn.until_s = time.monotonic() + linger_s
        self._watch(conn)

    def end_long_waits(self) -> None:
        """End the waits for clients that last too long; to be called every half second or so."""
        now = time.monotonic()
        for conn in list(self.connections):
            if conn.until_s <= now and conn.state is not _State.TAKEN:
                self._expire(conn)

    def _accept(self, listener: Any) -> None:
        """Take a new connection, unless its address has enough of them."""
        try:
            accepted, client = listener.accept()
        except OSError as error:
            if error.errno not in _NO_CONNECTION:
                # Out of descriptors, or a fault of the network: nothing is won by trying at once.
                self._log.warning("No connection could be accepted: %s", error)
                self.accept_connections(False)
            return
        conn = Connection(
            self._cfg, BoundedSocket(accepted, self._before_wait), client, listener.getsockname()
        )
        of_address = self._of_address[conn.address]
        if of_address >= MOST_CONNECTIONS or len(self.connections) >= self._cfg.worker_connections:
            conn.sock.close()
            return
        self._of_address[conn.address] += 1
        self.connections.add(conn)
        conn.until_s = time.monotonic() + self._cfg.keepalive
        self._watch(conn)
        self._receive(conn)

    def _readable(self, conn: Connection) -> None:
        if conn.state is _State.COMING:
            self._receive(conn)
        elif conn.state is _State.LINGERING:
            self._drain(conn)
        else:
            # The client sends ahead, or has gone: that is seen to after the present request.
            self._unwatch(conn)

    def _receive(self, conn: Connection) -> None:
        """Take what has come in; a whole request joins its line."""
        try:
            part = conn.sock.receive_now(_PIECE)
        except ClientGone:
            self._drop(conn)
            return
        if part is None:
            return
        if part and not conn.received:
            conn.until_s = time.monotonic() + HEAD_S
        conn.received += part
        if conn.received and conn.whole():
            self._join(conn)
        elif not part and conn.framing is None:
            self._drop(conn)
        elif not part:
            self._join(conn)  # It broke off in the middle of a body: the client is told so.

    def _join(self, conn: Connection) -> None:
        conn.state = _State.TAKEN
        conn.sock.whole_s = time.monotonic() if conn.held else None
        self.lines.join(conn.address, conn)

    def _expire(self, conn: Connection) -> None:
        if conn.state is _State.LINGERING:
            self._drop(conn)
        elif conn.framing is not None:
            self._join(conn)  # The application says that the body came too slowly.
        else:
            if conn.received:
                conn.sock.try_to_send(_TOO_SLOW)
            self.close(conn)

    def _drain(self, conn: Connection) -> None:
        try:
            gone = conn.sock.receive_now(_PIECE) == b""
        except ClientGone:
            gone = True
        if gone:
            self._drop(conn)

    def _watch(self, conn: Connection) -> None:
        if not conn.watched:
            conn.watched = True
            callback = partial(self._readable, conn)
            self._selector.register(conn.sock, selectors.EVENT_READ, callback)

    def _unwatch(self, conn: Connection) -> None:
        if conn.watched:
            conn.watched = False
            self._selector.unregister(conn.sock)

    def _drop(self, conn: Connection) -> None:
        self._unwatch(conn)
        self.connections.discard(conn)
        self._of_address[conn.address] -= 1
        if not self._of_address[conn.address]:
            del self._of_address[conn.address]
        conn.sock.close()

    def _woken(self) -> None:
        try:
            os.read(self._wake_reader, 4096)
        except BlockingIOError:
            pass
