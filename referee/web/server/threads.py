# SPDX-License-Identifier: Apache-2.0
"""The worker of threads: gunicorn's own, which refuses in plain text."""

from __future__ import annotations

from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from referee.web.server.malformed import PlainErrors
from referee.web.server.sender import peer_of, sender_of


class ThreadedWorker(PlainErrors, ThreadWorker):  # type: ignore[misc]
    """A worker that serves each connection in a thread, while it has a request."""

    def handle_request(self, request: Any, connection: Any) -> Any:
        """Serve one request; the application sees its sender."""
        sender = sender_of(request, self.app.proxies)
        known = sender == peer_of(request.peer_addr)
        connection.client = request.peer_addr if known else (sender, 0)
        return super().handle_request(request, connection)
