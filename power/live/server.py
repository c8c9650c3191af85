# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of the page: a thread for each request, and a bound for each wait.

Werkzeug's own server is enough for some people who watch one recording on loopback: no request
holds a connection open, and each connection serves one request.
"""

from __future__ import annotations

import os
import socket

from flask import Flask
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

# A client that sends nothing for this long is sent away.
_SILENT_S = 10.0


class _Quiet(WSGIRequestHandler):
    """A handler that bounds each wait for the client, and logs no request."""

    timeout = _SILENT_S

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing: a page asks twice a second."""


def page_server(app: Flask, descriptor: int) -> BaseWSGIServer:
    """Return a server on a socket that listens already."""
    with socket.socket(fileno=os.dup(descriptor)) as listening:
        host, port = listening.getsockname()[:2]
    return make_server(host, port, app, threaded=True, request_handler=_Quiet, fd=descriptor)
