# SPDX-License-Identifier: Apache-2.0
"""The contest server's worker: gunicorn's gevent worker with limits for each client.

Each connection has its own greenlet, so a slow client delays no other. Work that would block the
whole process runs in threads (see `referee.web.server.blocking`).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import gevent
from gevent import events, monkey, socket
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn.workers.base_async import AsyncWorker
from gunicorn.workers.ggevent import GeventWorker

from referee.core.shares import share_of
from referee.web.server.connection import BoundedConnection
from referee.web.server.connection_limiter import SENDER_UNKNOWN, ConnectionLimiter
from referee.web.server.headers import RETRY_S
from referee.web.server.malformed import PlainErrors, plain_answer, require_length
from referee.web.server.sender import peer_of, sender_of
from referee.web.server.tls_link import TlsLink
from referee.web.server.turns import PRESENT, FirstAddresses, Party, Turns

# Greenlets for connections that are no longer counted but not closed yet.
_SPARE = 100
# The worker ends within two seconds, because gunicorn's arbiter kills it after three.
_END_S = 2.0
_HEARTBEAT_S = 1.0
_NO_ROOM = plain_answer(
    "503 Service Unavailable", "Too many connections are open here. Try again.", retry_s=RETRY_S
)
# A thread that has waited for the disk asks for the interpreter, and gets it after this time at the
# latest. With Python's 5 ms, a commit's callers wait longer for the interpreter than for the disk.
_SWITCH_S = 0.0005


@contextmanager
def told_to_subscribers() -> Iterator[None]:
    """Let gevent tell of its events nobody but who subscribes to them.

    It would look into each installed package, 23 times over, for one that wants them. That takes
    longer than all else of a worker's start.
    """
    tell, events.notify_and_call_entry_points = events.notify_and_call_entry_points, events.notify
    try:
        yield
    finally:
        events.notify_and_call_entry_points = tell


class GreenletWorker(PlainErrors, GeventWorker):  # type: ignore[misc]
    """A worker that serves each connection in a greenlet, and switches after each request."""

    def patch(self) -> None:
        """Replace Python's blocking calls by gevent's; TLS has sockets of its own (`TlsLink`)."""
        with told_to_subscribers():
            monkey.patch_all(ssl=False, thread=False)
            # Logging keeps its real locks: a log line never waits, and Python's shutdown needs it.
            monkey.patch_thread(logging=False)
        self.take_sockets()

    def take_sockets(self) -> None:
        """Listen with gevent's sockets in place of Python's."""
        bound: list[Any] = self.sockets
        self.sockets: list[Any] = [
            socket.socket(listener.FAMILY, socket.SOCK_STREAM, fileno=listener.sock.detach())
            for listener in bound
        ]

    def run(self) -> None:
        """Serve until told to stop, then finish the requests that have begun."""
        sys.setswitchinterval(_SWITCH_S)
        self._told = Event()
        self._connections: ConnectionLimiter[BoundedConnection] = ConnectionLimiter(
            self.worker_connections, viewers=self.app.viewers
        )
        self._turns, self._first = Turns(), FirstAddresses()
        self._tls = self.cfg.ssl_context(self.cfg, None) if self.cfg.is_ssl else None
        pool = Pool(self.worker_connections + _SPARE)
        servers = [
            StreamServer(listener, handle=partial(self.handle, listener), spawn=pool)
            for listener in self.sockets
        ]
        for server in servers:
            # Accept few connections at a time, so that the other workers get their share.
            server.max_accept = 8
            server.start()
        while self.alive:
            self.notify()
            self._told.wait(_HEARTBEAT_S)
        for server in servers:
            server.stop_accepting()
        self._connections.send_idle_away()
        pool.join(timeout=_END_S)
        pool.kill(timeout=0.1)
        for server in servers:
            server.close()

    def notify(self) -> None:
        """Tell the arbiter that this worker lives; end in good order if there is none any more.

        gunicorn's own worker exits at once. Its resources are then closed while requests still use
        them, and those would be answered with 500.
        """
        if self.ppid != os.getppid():
            self.log.info("The arbiter is gone: worker %s ends.", self.pid)
            self.handle_exit(signal.SIGTERM, None)
            return
        super().notify()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Handle a signal: stop the worker."""
        self.alive = False
        self._told.set()

    def timeout_ctx(self) -> Any:
        """Return a context without a time limit, because the connection has its own limits."""
        return _NO_BOUND

    def handle(self, listener: Any, client: Any, address: Any) -> None:
        """Serve one connection if there is room for it, else close it."""
        link = client if self._tls is None else TlsLink(client, self._tls)
        peer = peer_of(address)
        sender = SENDER_UNKNOWN if self.app.proxies.include(peer) else share_of(peer)
        party = Party(sender, self._first)
        PRESENT.set(party)
        connection = BoundedConnection(link, self._turns, party)
        connection.sender = sender
        if not self._connections.enter(connection.sender, connection):
            self._turn_away(connection)
            return
        try:
            # A handshake has its own time, and makes room for others as a wait for a request does.
            if self._tls is None or link.shake_hands(partial(self._turns.take, party)):
                super().handle(listener, connection, address)
            else:
                connection.close()
        finally:
            self._connections.leave(connection.sender, connection)

    def _turn_away(self, connection: BoundedConnection) -> None:
        """Close a connection that finds no room; a viewer is told, so that its page can say it."""
        if self.app.viewers:
            connection.tell_at_once(_NO_ROOM)
        connection.abandon()

    def handle_request(self, listener_name: Any, request: Any, sock: Any, address: Any) -> None:
        """Serve one request; end the connection if it cannot take another one."""
        sock.begin_request(request)
        require_length(request)
        sender = sender_of(request, self.app.proxies)
        share = share_of(sender)
        if not self._connections.move(sock.sender, share, sock):
            sock.sendall(_NO_ROOM)
            raise StopIteration
        sock.sender = share
        sock.party.belong_to(share)
        # The application, its records and its log see the sender. Its port is not known.
        seen = address if sender == peer_of(address) else (sender, 0)
        try:
            # The gevent worker's own method sends no answer if the application raises SystemExit.
            AsyncWorker.handle_request(self, listener_name, request, sock, seen)
        except gevent.GreenletExit:
            raise StopIteration from None
        sock.finish_request(request)
        if not self.alive:
            raise StopIteration


class _NoBound:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_NO_BOUND = _NoBound()
