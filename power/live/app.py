# SPDX-License-Identifier: Apache-2.0
"""The page of a recording, its news, and its metrics, over HTTP, and the server of it.

Werkzeug's own server is enough for some people who watch one recording on loopback: no request
holds a connection open, and each connection serves one request.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, jsonify, request, send_from_directory
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from power.live.run_view import RunView
from power.meter import IntegrationState

_FOLDERS = ("live", "shared")
# A client that sends nothing for this long is sent away. Browsers open connections in advance, and
# the program waits for the end of each before it ends, so this is short.
_SILENT_S = 3.0

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""


class LiveApp:
    """The web application over a view; `lock` is held by who changes the view.

    `asked_s` is when anybody last asked for anything, on the clock, and `news_s` when a page last
    asked for news; both are 0 before.
    """

    def __init__(self, view: RunView, lock: threading.Lock, clock: Callable[[], float]) -> None:
        self._view = view
        self._lock = lock
        self._clock = clock
        self.asked_s = 0.0
        self.news_s = 0.0

    def flask(self) -> Flask:
        """Return the application."""
        app = Flask("power.live", static_folder=None)
        app.add_url_rule("/", view_func=self._page)
        app.add_url_rule("/static/<folder>/<name>", view_func=self._file)
        app.add_url_rule("/news", view_func=self._news)
        app.add_url_rule("/metrics", view_func=self._metrics)
        app.before_request(self._asked)
        app.after_request(_guarded)
        return app

    def _asked(self) -> None:
        self.asked_s = self._clock()

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
        now_s = self.news_s = self._clock()
        with self._lock:
            return jsonify(self._view.news(now_s, after, bins, width_s))

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


class PageServer(ThreadedWSGIServer):
    """The server on a socket that listens already; it knows of every connection that has come."""

    def __init__(self, app: Flask, descriptor: int) -> None:
        """Serve `app` on the socket of this descriptor, which stays with the caller."""
        with socket.socket(fileno=os.dup(descriptor)) as listening:
            host, port = listening.getsockname()[:2]
        super().__init__(host, port, app, _Quiet, fd=descriptor)
        self._counting = threading.Lock()
        self._open = 0

    def is_asked(self) -> bool:
        """Tell whether a connection waits to be accepted, or for the end of its answer."""
        waiting, _, _ = select.select([self.socket], [], [], 0)
        # A connection is counted before it leaves the queue of the socket, so none is missed here.
        return bool(waiting) or self._open > 0

    def get_request(self) -> tuple[Any, Any]:
        """Count a connection, and accept it."""
        self._count(1)
        try:
            return super().get_request()
        except OSError:
            self._count(-1)
            raise

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, whose answer is sent."""
        super().shutdown_request(request)
        self._count(-1)

    def _count(self, more: int) -> None:
        with self._counting:
            self._open += more


class _Once(Collector):
    """A collector of metrics that are made already."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def metrics_text(view: RunView, now_s: float) -> bytes:
    """Return the metrics at a time of the monotonic clock, in Prometheus' text format.

    Names and units follow its conventions (https://prometheus.io/docs/practices/naming/), as
    promtool checks them: base units in the name, `_total` for counts that only grow. A value that
    is not known has no sample: a 0 would be a value.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(_metrics(view, now_s)))
    return generate_latest(registry)


def _joules(energy_wh: float | None) -> float | None:
    return None if energy_wh is None else 3600 * energy_wh


def _metrics(view: RunView, now_s: float) -> Iterator[Metric]:
    newest, (volts, amperes) = view.newest, view.ranges()
    for name, text, value in (
        ("power_watts", "Power of the newest reading.", newest.power_w if newest else None),
        ("voltage_volts", "Voltage of the newest reading.", newest.voltage_v if newest else None),
        ("current_amperes", "Current of the newest reading.", newest.current_a if newest else None),
        ("energy_joules", "Energy of this integration.", _joules(view.energy_wh)),
        ("integration_seconds", "The integrator's time.", newest.integration_s if newest else None),
        ("timer_seconds", "Length of the integration.", view.about.get("timer_s")),
        ("voltage_range_volts", "Range of the voltage.", volts),
        ("current_range_amperes", "Range of the current.", amperes),
        ("reading_age_seconds", "Age of the newest reading.", view.age_s(now_s)),
    ):
        gauge = GaugeMetricFamily(f"power_meter_{name}", text)
        if value is not None:
            gauge.add_metric((), float(value))
        yield gauge
    states = GaugeMetricFamily(
        "power_meter_integration_state", "1 for the integrator's state.", labels=("state",)
    )
    for state in IntegrationState:
        if newest is not None:
            states.add_metric((state.value,), float(newest.state is state))
    yield states
    for name, text, count in (
        ("readings", "Readings so far.", view.readings),
        ("readings_without_power", "Readings in which the meter had no power.", view.without_power),
        ("gaps", "Times without readings while the integration ran.", view.gaps),
        ("gap_seconds", "Their length.", view.gaps_s),
    ):
        yield CounterMetricFamily(f"power_meter_{name}", text, value=float(count))
