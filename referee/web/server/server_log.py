# SPDX-License-Identifier: Apache-2.0
"""The servers' log: gunicorn's lines go where the process's lines go, and one line a request."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from gunicorn.glogging import Logger

SESSION = "referee.session"
"""The key of a request's environment under which an application leaves the session's number."""

_requests = logging.getLogger("referee.requests")


class ServerLog(Logger):  # type: ignore[misc]
    """gunicorn's logger without handlers of its own, so all lines of a process have one form."""

    def setup(self, cfg: Any) -> None:
        """Set levels, and hand all lines on."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


class AccessLog(ServerLog):
    """That log, with a line for each request, whatever became of it."""

    def access(
        self, resp: Any, req: Any, environ: Mapping[str, Any], request_time: timedelta
    ) -> None:
        """Write a request's line; the query is left out, because it may hold a token."""
        fields = {
            "method": environ["REQUEST_METHOD"],
            "path": environ["PATH_INFO"],
            "status": int(str(resp.status).split(None, 1)[0]),
            "received_bytes": int(environ.get("CONTENT_LENGTH") or 0),
            "sent_bytes": resp.sent or 0,
            "ms": round(1000 * request_time.total_seconds(), 3),
            "address": environ.get("REMOTE_ADDR", ""),
            "session": environ.get(SESSION),
        }
        _requests.info("request", extra={"fields": fields})
