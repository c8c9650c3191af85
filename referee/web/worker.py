# SPDX-License-Identifier: Apache-2.0
"""The servers' worker: threads are for whole requests, and shared fairly between addresses.

gunicorn's own gives a thread to each connection that has sent a byte, so that a few dozen
half-sent requests stop everybody, and waits up to two seconds at each close in the one thread
that accepts. Here that thread collects a request's head, and its body if it is short, and closes
without waiting.
"""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections import Counter, defaultdict, deque
from concurrent.futures import Future
from functools import partial
from typing import Any

from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from referee.web.connections import BoundedSocket, Framing, framing_of

HEAD_S = 10.0
"""Seconds for a request's head from its first byte."""

MOST_CONNECTIONS = 128
"""Connections that one address may have with one worker; honest clients have had up to 32."""

_MOST_HEAD = 64 * 1024
_PIECE = 64 * 1024
_LINGER_S = 2.0
_LOOK_S = 0.5
_NO_CONNECTION = (errno.EAGAIN, errno.ECONNABORTED, errno.EMFILE, errno.ENFILE)
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain\r\nContent-Length: 42\r\n"
    b"Connection: close\r\n\r\nThe head of the request came too slowly.\r\n"
)


class _Connection(TConn):  # type: ignore[misc]
    """Keep what has come in of the next request, and until when the rest may take."""

    def __init__(self, cfg: Any, link: BoundedSocket, client: Any, server: Any, counted: Any):
        super().__init__(cfg, link, client, server)
        self.received = bytearray()
        self.framing: Framing | None = None
        self.until_s = 0.0
        self.lingers = False
        self.address = client[0] if isinstance(client, tuple) else ""
        self._counted: Counter[str] | None = counted

    def close(self, graceful: bool = False) -> None:
        """Close at once; whoever wants to linger has done so."""
        if self._counted is not None:
            self._counted[self.address] -= 1
            if not self._counted[self.address]:
                del self._counted[self.address]
            self._counted = None
        super().close()

    def whole(self) -> bool:
        """Tell whether all that a thread needs to begin with has come in."""
        if self.framing is None:
            self.framing = framing_of(bytes(self.received))
            if self.framing is None:
                return len(self.received) > _MOST_HEAD
            self.until_s = time.monotonic() + self.framing.body_s
        return len(self.received) >= self.framing.needed


class FairWorker(ThreadWorker):  # type: ignore[misc]
    """Serve whole requests by threads, of which one address never has more than three quarters.

    Its other requests wait for their turn; nobody else's do.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._share = max(1, self.cfg.threads * 3 // 4)
        self._connections: Counter[str] = Counter()
        self._busy: Counter[str] = Counter()
        self._queues: defaultdict[str, deque[_Connection]] = defaultdict(deque)
        # Those whose request is coming in, and those whose client is to close first.
        self._waiting: set[_Connection] = set()
        self._next_look_s = 0.0

    def accept(self, listener: Any) -> None:
        """Take a new connection, unless its address has enough of them."""
        try:
            link, client = listener.accept()
        except OSError as error:
            if error.errno not in _NO_CONNECTION:
                raise
            return
        address = client[0] if isinstance(client, tuple) else ""
        if self._connections[address] >= MOST_CONNECTIONS:
            link.close()
            return
        bounded = BoundedSocket(link)
        server = listener.getsockname()
        conn = _Connection(self.cfg, bounded, client, server, self._connections)
        self._connections[address] += 1
        self.nr_conns += 1
        conn.init()
        bounded.setblocking(False)
        self._await_request(conn)

    def on_client_socket_readable(self, conn: _Connection, client: Any) -> None:
        """Collect the next request of a kept-alive connection."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._await_request(conn)

    def enqueue_req(self, conn: _Connection) -> None:
        """Give the connection a thread, or a place in the line of its address."""
        if self._busy[conn.address] < self._share:
            self._busy[conn.address] += 1
            super().enqueue_req(conn)
        else:
            self._queues[conn.address].append(conn)

    def handle(self, conn: _Connection) -> Any:
        """Serve one request; runs in a thread."""
        conn.parser.unreader.unread(bytes(conn.received))
        conn.received.clear()
        conn.sock.allow(conn.until_s - time.monotonic())
        return super().handle(conn)

    def finish_request(self, conn: _Connection, fs: Future[Any]) -> None:
        """Await the next request or close, and let the next of this address in."""
        self._leave_thread(conn.address)
        try:
            if fs.cancelled() or fs.exception() is not None or not fs.result():
                self._linger(conn)
                return
            conn.sock.setblocking(False)
            conn.received += conn.parser.unreader.take_buffered()
            if conn.received:
                self._await_request(conn)
                return
            conn.set_timeout()
            if not self.alive:
                conn.timeout = min(conn.timeout, time.monotonic() + STOP_KEEPALIVE_LINGER)
            self.keepalived_conns.append(conn)
            callback = partial(self.on_client_socket_readable, conn)
            self.poller.register(conn.sock, selectors.EVENT_READ, callback)
        except (OSError, ValueError):
            self._drop(conn)

    def murder_pending(self) -> None:
        """End the waits that have lasted too long; called in each round of the loop."""
        now = time.monotonic()
        if now < self._next_look_s and self.alive:
            return
        self._next_look_s = now + _LOOK_S
        for conn in list(self._waiting):
            if conn.until_s <= now:
                self._expire(conn)
            elif not self.alive and not conn.received:
                self._drop(conn)

    def _await_request(self, conn: _Connection) -> None:
        conn.framing = None
        conn.until_s = time.monotonic() + (HEAD_S if conn.received else self.cfg.keepalive)
        self._arrive(conn, conn.sock)

    def _arrive(self, conn: _Connection, link: Any) -> None:
        """Take what has come in; a whole request goes to a thread."""
        try:
            part = conn.sock.receive_now(_PIECE)
        except OSError:
            self._drop(conn)
            return
        if part:
            if not conn.received:
                conn.until_s = time.monotonic() + HEAD_S
            conn.received += part
        if conn.received and conn.whole():
            self._hand_over(conn)
        elif part == b"":
            # In the middle of a body the client is told so; before that there is no request.
            if conn.framing is None:
                self._drop(conn)
            else:
                self._hand_over(conn)
        elif conn not in self._waiting:
            self._watch(conn, self._arrive)

    def _hand_over(self, conn: _Connection) -> None:
        self._forget(conn)
        self.enqueue_req(conn)

    def _leave_thread(self, address: str) -> None:
        self._busy[address] -= 1
        if not self._busy[address]:
            del self._busy[address]
        line = self._queues.get(address)
        if line:
            self.enqueue_req(line.popleft())
        elif line is not None:
            del self._queues[address]

    def _expire(self, conn: _Connection) -> None:
        if conn.lingers:
            self._drop(conn)
        elif conn.framing is not None:
            self._hand_over(conn)  # The application says that the body came too slowly.
        else:
            if conn.received:
                try:
                    conn.sock.send(_TOO_SLOW)
                except OSError:
                    pass
            self._forget(conn)
            self._linger(conn)

    def _linger(self, conn: _Connection) -> None:
        """Close our side and wait for the client's, so that it reads the answer to its end.

        RFC 9112, section 9.6: closing with data unread destroys what is under way.
        """
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
            conn.lingers = True
            conn.until_s = time.monotonic() + _LINGER_S
            self._watch(conn, self._drain)
        except (OSError, ValueError):
            self._drop(conn)

    def _drain(self, conn: _Connection, link: Any) -> None:
        try:
            gone = conn.sock.receive_now(_PIECE) == b""
        except OSError:
            gone = True
        if gone:
            self._drop(conn)

    def _watch(self, conn: _Connection, callback: Any) -> None:
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(callback, conn))
        self._waiting.add(conn)

    def _forget(self, conn: _Connection) -> None:
        if conn in self._waiting:
            self._waiting.remove(conn)
            self.poller.unregister(conn.sock)

    def _drop(self, conn: _Connection) -> None:
        self._forget(conn)
        self.nr_conns -= 1
        conn.close()
