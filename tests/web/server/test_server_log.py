# SPDX-License-Identifier: Apache-2.0
"""The servers' log: one line a request, in the process's own log."""

from __future__ import annotations

import logging
from datetime import timedelta
from types import SimpleNamespace

from gunicorn.config import Config

from referee.web.server.server_log import SESSION, AccessLog, ServerLog

ASKED = {
    "REQUEST_METHOD": "POST",
    "PATH_INFO": "/result",
    "QUERY_STRING": "token=3.secret",
    "CONTENT_LENGTH": "12",
    "REMOTE_ADDR": "10.0.0.2",
    SESSION: 3,
}


def test_a_request_has_one_line_without_its_query(caplog):
    """Method, path, status, bytes, milliseconds, address and session; no token."""
    log = AccessLog(Config())
    with caplog.at_level(logging.INFO, "referee.requests"):
        answer = SimpleNamespace(status="401 UNAUTHORIZED", sent=14)
        log.access(answer, None, ASKED, timedelta(milliseconds=2.5))
    (line,) = caplog.records
    assert line.fields == {
        **{"method": "POST", "path": "/result", "status": 401, "session": 3},
        **{"received_bytes": 12, "sent_bytes": 14, "ms": 2.5, "address": "10.0.0.2"},
    }
    assert "secret" not in str(vars(line))


def test_gunicorns_own_lines_have_the_form_of_the_process():
    """gunicorn keeps no handler of its own, and hands its lines on."""
    log = ServerLog(Config())
    assert ([], True) == (log.error_log.handlers, log.error_log.propagate)
