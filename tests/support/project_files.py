# SPDX-License-Identifier: Apache-2.0
"""The project's files behind an address of loopback, for scripts and parts without a desk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
# The desk sends the same policy with each of its pages.
_POLICY = "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"


class _Files(SimpleHTTPRequestHandler):
    """Serves the project's files, an empty page at the root, and the page of the parts."""

    def do_GET(self) -> None:
        if self.path == "/parts":
            self.path = "/tests/parts/parts.html"
        if self.path != "/":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>nothing</title>")

    def end_headers(self) -> None:
        if self.path.endswith(".html"):
            self.send_header("Content-Security-Policy", _POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of a request that was answered."""


@contextmanager
def project_files(port: int = 0) -> Iterator[str]:
    """Serve the project's files until the block ends, and return their address."""
    handler = partial(_Files, directory=str(_ROOT))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, name="files of the pages")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
