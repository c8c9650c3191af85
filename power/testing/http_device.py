# SPDX-License-Identifier: Apache-2.0
"""An emulated device on a real HTTP server of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LOOK_S = 0.02


@contextmanager
def serving(answer: Callable[[str], tuple[int, str]]) -> Iterator[str]:
    """Serve on loopback, and yield the HOST:PORT; `answer` gives status and JSON for each path.

    It runs in a thread for each question, so it may wait. What waits must end before this does.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answer(self.path)
            content = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            with suppress(OSError):  # a client may hang up before all of it is out
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(_LOOK_S,), name="http-device")
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
