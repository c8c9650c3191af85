# SPDX-License-Identifier: Apache-2.0
"""The contest server's worker: gunicorn's gevent worker, with bounds on what one client may take.

Each connection has a greenlet, so a client that waits holds up nobody. What blocks the process
goes to threads (see `referee.web.server.aside`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gevent
from gevent import monkey, socket
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn.workers.base_async import AsyncWorker
from gunicorn.workers.ggevent import GeventWorker

from referee.web.server.connection import BoundedConnection
from referee.web.server.crowd import Crowd

# Connections beside those that are counted: of clients that are being sent away.
_SPARE = 100
# The worker ends within two seconds; the arbiter kills it after three.
_END_S = 2.0
_HEARTBEAT_S = 1.0


class GreenletWorker(GeventWorker):  # type: ignore[misc]
    """Serve each connection in a greenlet, and let the others run after each request."""

    def patch(self) -> None:
        """Make what would block give way to other greenlets; nothing here speaks TLS."""
        monkey.patch_all(ssl=False, thread=False)
        # A log line never waits, so its lock may stay what it is, also while Python shuts down.
        monkey.patch_thread(logging=False)
        bound: list[Any] = self.sockets
        self.sockets: list[Any] = [
            socket.socket(one.FAMILY, socket.SOCK_STREAM, fileno=one.sock.detach()) for one in bound
        ]

    def run(self) -> None:
        """Serve until told to stop, then finish what has been begun."""
        self._told = Event()
        self._crowd: Crowd[BoundedConnection] = Crowd(self.worker_connections)
        pool = Pool(self.worker_connections + _SPARE)
        servers = [
            StreamServer(listener, handle=partial(self.handle, listener), spawn=pool)
            for listener in self.sockets
        ]
        for server in servers:
            # Other workers of the port get their share of a crowd, and it is let in soon.
            server.max_accept = 8
            server.start()
        while self.alive:
            self.notify()
            self._told.wait(_HEARTBEAT_S)
        for server in servers:
            server.stop_accepting()
        self._crowd.send_idle_away()
        pool.join(timeout=_END_S)
        pool.kill(timeout=0.1)
        for server in servers:
            server.close()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop: the signal's handler."""
        self.alive = False
        self._told.set()

    def timeout_ctx(self) -> Any:
        """Return no bound: the connection knows its own."""
        return _NO_BOUND

    def handle(self, listener: Any, client: Any, address: Any) -> None:
        """Serve one connection, if there is room for it."""
        connection = BoundedConnection(client)
        place = address[0] if isinstance(address, tuple) else ""
        if not self._crowd.enter(place, connection):
            client.close()
            return
        try:
            super().handle(listener, connection, address)
        finally:
            self._crowd.leave(place, connection)

    def handle_request(self, listener_name: Any, request: Any, sock: Any, address: Any) -> None:
        """Serve one request; its connection must be ready for the next one, or ends."""
        sock.begin_request(request)
        try:
            # Not gevent's own, which sends no answer where the application raises SystemExit.
            AsyncWorker.handle_request(self, listener_name, request, sock, address)
        except gevent.GreenletExit:
            raise StopIteration from None
        sock.finish_request(request)
        if not self.alive:
            raise StopIteration
        # A client that always has a request ready would never wait, and the others always would.
        gevent.sleep(0)


class _NoBound:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_NO_BOUND = _NoBound()
