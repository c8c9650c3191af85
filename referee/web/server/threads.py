# SPDX-License-Identifier: Apache-2.0
"""The worker of threads: gunicorn's own, which refuses in plain text."""

from __future__ import annotations

from gunicorn.workers.gthread import ThreadWorker

from referee.web.server.malformed import PlainErrors


class ThreadedWorker(PlainErrors, ThreadWorker):  # type: ignore[misc]
    """A worker that serves each connection in a thread, while it has a request."""
