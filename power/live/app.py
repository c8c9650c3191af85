# SPDX-License-Identifier: Apache-2.0
"""The page of a recording, its news, and its metrics, over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from flask import Flask, Response, abort, jsonify, request, send_from_directory

from power.live.metrics import CONTENT_TYPE, metrics_text
from power.live.run_view import RunView

_FOLDERS = ("live", "shared")


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
