# SPDX-License-Identifier: Apache-2.0
"""A host of static files, as the world has them: it knows no referee."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class StaticHost:
    """A host: its address, and each request with the status of its answer."""

    url: str
    asked: list[tuple[str, int]] = field(default_factory=list)


@contextmanager
def static_host(folder: Path) -> Iterator[StaticHost]:
    """Serve a folder until the block ends. It lets every cache keep everything for ten minutes."""
    found = StaticHost("")

    class Files(SimpleHTTPRequestHandler):
        def end_headers(self) -> None:
            self.send_header("Cache-Control", "max-age=600")
            self.send_header("X-Content-Type-Options", "nosniff")
            super().end_headers()

        def log_request(self, code: Any = "-", size: Any = "-") -> None:
            found.asked.append((self.path, int(code)))

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of an answer that failed: its status is noted."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(folder))) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, name="static host")
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
