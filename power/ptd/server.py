# SPDX-License-Identifier: Apache-2.0
"""The TCP server of the protocol: lines of text, one thread a client."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from power.ptd.events import Events
from power.ptd.protocol import MOST_LINE

MOST_CLIENTS = 16
"""So many clients may be connected; the next one is told so and sent away."""

# A client that takes nothing of its answer for so long is gone.
_SEND_S = 30.0
# Clients keep their connection for hours, so only the kernel can tell that one is gone: after
# a minute without a word it asks, six times, each 10 s.
_KEEPALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6))


class LineServer:
    """Clients that send lines and get lines; it listens from the beginning, and serves on `start`.

    `answer` returns the lines for a line. It is called in the thread of its client, and must end
    within bounded time. `events` tells of clients, requests and answers.
    """

    def __init__(
        self,
        host: str,
        port: int,
        answer: Callable[[str], list[str]],
        events: Events,
    ) -> None:
        """Listen; raise OSError if the address is in use. Port 0 chooses one."""
        self._answer = answer
        self._events = events
        self._lock = threading.Lock()
        self._clients: set[socket.socket] = set()
        self._server = _Server((host, port), self._serve)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="ptd-listener", daemon=True
        )

    @property
    def port(self) -> int:
        """Return the port that it listens at."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to accept clients."""
        self._thread.start()

    def close(self) -> None:
        """Stop listening, and cut the clients off."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()
        with self._lock:
            for client in self._clients:
                with suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)

    def _serve(self, client: socket.socket, address: Any) -> None:
        with self._lock:
            crowded = len(self._clients) >= MOST_CLIENTS
            if not crowded:
                self._clients.add(client)
        try:
            if crowded:
                _send(client, [f"Error: {MOST_CLIENTS} clients are connected already"])
                return
            self._events.notice(f"Accepted connection from {address[0]}:{address[1]}")
            _keep_alive(client)
            with client.makefile("rb") as lines:
                while self._exchange(client, lines.readline(MOST_LINE + 1)):
                    pass
            self._events.notice(f"Connection from {address[0]}:{address[1]} closed")
        except OSError as error:
            self._events.notice(f"Connection from {address[0]}:{address[1]} lost: {error}")
        finally:
            with self._lock:
                self._clients.discard(client)

    def _exchange(self, client: socket.socket, line: bytes) -> bool:
        """Answer a line; return False when the client has ended, or sends no lines."""
        if not line.endswith(b"\n"):
            if len(line) > MOST_LINE:
                _send(client, [f"Error: a request may have {MOST_LINE} bytes at most"])
            return False  # half a line is no request: its client died while it wrote
        request = line.decode("latin-1").strip()
        self._events.asked(request)
        answer = self._answer(request)
        # First the note, so that the console has it before the client's next request.
        self._events.answered(answer)
        _send(client, answer)
        return True


class _Server(socketserver.ThreadingTCPServer):
    """A listening socket whose clients have threads with names."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = MOST_CLIENTS

    def __init__(
        self, address: tuple[str, int], serve: Callable[[socket.socket, Any], None]
    ) -> None:
        self._serve = serve
        super().__init__(address, socketserver.BaseRequestHandler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        threading.current_thread().name = f"ptd-client {client_address[1]}"
        self._serve(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let the thread's own hook report it; the other clients go on."""
        raise


def _send(client: socket.socket, lines: list[str]) -> None:
    client.settimeout(_SEND_S)
    client.sendall("".join(f"{line}\r\n" for line in lines).encode("ascii", "backslashreplace"))
    client.settimeout(None)


def _keep_alive(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            client.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
