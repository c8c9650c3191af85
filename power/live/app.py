# SPDX-License-Identifier: Apache-2.0
"""The page of a recording, its news, and its metrics, over HTTP, and the server of it.

Werkzeug's own server is enough for some people who watch one recording on loopback: no request
holds a connection open, and each connection serves one request.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from flask import Flask, Response, abort, jsonify, request, send_from_directory
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from power.live.metrics import CONTENT_TYPE, metrics_text
from power.live.run_view import RunView

_FOLDERS = ("live", "shared")
# A client that sends nothing for this long is sent away.
_SILENT_S = 10.0


class LiveApp:
    """The web application over a view; `lock` is held by who changes the view.

    `asked_s` is when a page last asked for news, on the clock.
    """

    def __init__(
        self, view: RunView, lock: threading.Lock, clock: Callable[[], float], asked_s: float = 0.0
    ) -> None:
        self._view = view
        self._lock = lock
        self._clock = clock
        self.asked_s = asked_s

    def flask(self) -> Flask:
        """Return the application."""
        app = Flask("power.live", static_folder=None)
        app.add_url_rule("/", view_func=self._page)
        app.add_url_rule("/static/<folder>/<name>", view_func=self._file)
        app.add_url_rule("/news", view_func=self._news)
        app.add_url_rule("/metrics", view_func=self._metrics)
        app.after_request(_guarded)
        return app

    def _page(self) -> Response:
        return send_from_directory(_static_folder() / "live", "live.html")

    def _file(self, folder: str, name: str) -> Response:
        if folder not in _FOLDERS:
            abort(404)
        return send_from_directory(_static_folder() / folder, name)

    def _news(self) -> Response:
        """Answer what is new since the reading and the bins that the page has."""
        after = request.args.get("after", 0, type=int)
        bins = request.args.get("bins", 0, type=int)
        width_s = request.args.get("width", 0.0, type=float)
        now_s = self.asked_s = self._clock()
        with self._lock:
            news = self._view.news(now_s, after, bins, width_s)
        return jsonify(news)

    def _metrics(self) -> Response:
        with self._lock:
            text = metrics_text(self._view, self._clock())
        return Response(text, content_type=CONTENT_TYPE)


def _guarded(response: Response) -> Response:
    """Keep a browser from guessing types, from old copies, and from anything of another host."""
    response.headers["Content-Security-Policy"] = "default-src 'self'"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    return response


def _static_folder() -> Path:
    """Return the folder of the pages and scripts.

    The wheel holds the tree's top-level `static/` as `power/static/`.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "static"
    return installed if installed.is_dir() else package.parent / "static"


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
