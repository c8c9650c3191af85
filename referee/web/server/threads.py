# SPDX-License-Identifier: Apache-2.0
"""The worker of threads: gunicorn's own, which refuses in plain text, and shares its threads."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from referee.core.shares import share_of
from referee.web.server.malformed import PlainErrors, require_length
from referee.web.server.sender import peer_of, sender_of


class ThreadedWorker(PlainErrors, ThreadWorker):  # type: ignore[misc]
    """A worker that serves each connection in a thread, while it has a request.

    One address has at most half of the threads. Its other connections wait for those. A trusted
    proxy has no such bound, because a thread learns only from the head for whom it asks.
    """

    def init_process(self) -> None:
        """Begin with nobody in the threads."""
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[Any]] = {}
        super().init_process()

    def enqueue_req(self, conn: Any) -> None:
        """Give a connection that has a request a thread, or let it wait for one."""
        peer = peer_of(conn.client)
        share = share_of(peer)
        is_full = self._busy[share] >= max(1, self.cfg.threads // 2)
        if is_full and not self.app.proxies.include(peer):
            self._waiting.setdefault(share, deque()).append(conn)
            return
        self._busy[share] += 1
        super().enqueue_req(conn)

    def finish_request(self, conn: Any, fs: Any) -> None:
        """Take a connection back from its thread, and give that to the next one of its address."""
        share = share_of(peer_of(conn.client))
        self._busy[share] -= 1
        if not self._busy[share]:
            del self._busy[share]
        super().finish_request(conn, fs)
        if share in self._waiting:
            following = self._waiting[share].popleft()
            if not self._waiting[share]:
                del self._waiting[share]
            self.enqueue_req(following)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Serve one request, if it says how long its body is; the application sees its sender."""
        require_length(req)
        peer, sender = conn.client, sender_of(req, self.app.proxies)
        if sender != peer_of(peer):
            conn.client = (sender, 0)
        try:
            return super().handle_request(req, conn)
        finally:
            conn.client = peer
