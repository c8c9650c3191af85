# SPDX-License-Identifier: Apache-2.0
"""An application whose requests wait for each other, under the contest server's own worker.

As a program it prints `closed` when its worker ends in good order.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from flask import Flask, Response, request

from referee.web.server.blocking import BlockingPool
from referee.web.server.server import Running, serve

BOUND_S = 180.0


class _Gates:
    """Gates by name: a request waits at a gate until a request for `/go/NAME` opens it."""

    def __init__(self) -> None:
        self.gates: dict[str, threading.Event] = defaultdict(threading.Event)

    def wait(self, name: str) -> str:
        """Wait at a gate; return whether it was opened."""
        return "waited" if self.gates[name].wait(BOUND_S) else "in vain"

    def go(self, name: str) -> str:
        """Open a gate for the requests that wait and for all later ones."""
        self.gates[name].set()
        return "gone"


def make_app() -> Flask:
    """Return the application."""
    app, gates, run_blocking = Flask("odd"), _Gates(), BlockingPool(1)
    for path, method, answer in (
        ("/go/<name>", "GET", gates.go),
        ("/wait/<name>", "GET", gates.wait),
        ("/now", "GET", lambda: "now"),
        ("/unread", "POST", lambda: "unread"),
        # This read blocks its thread; without `run_blocking` it would stop all greenlets.
        ("/line", "GET", lambda: (gates.go("line"), run_blocking(lambda: os.read(0, 100)))[1]),
        ("/length", "POST", lambda: str(len(request.get_data()))),
        ("/exit", "GET", lambda: sys.exit("this is no way to answer")),
    ):
        app.add_url_rule(path, path, answer, methods=[method])
    _add_bodies(app, gates)
    _add_hanging(app)
    return app


def _add_hanging(app: Flask) -> None:
    """Add ways to hang, which no program of the referee has."""

    @app.get("/worker")
    def worker() -> str:
        return str(os.getpid())

    @app.get("/stall")
    def stall() -> str:
        # No greenlet runs until the line has come.
        return str(os.read(0, 100))

    @app.post("/arrived")
    def arrived() -> str:
        request.get_data()
        return repr(request.environ["gunicorn.socket"].arrived_s)

    @app.get("/busy")
    def busy() -> str:
        while True:
            pass


def _add_bodies(app: Flask, gates: _Gates) -> None:
    @app.get("/pieces/<name>")
    def pieces(name: str) -> Response:
        def body() -> Iterator[bytes]:
            yield bytes(10_000)
            gates.wait(name)
            yield bytes(10_000)

        return Response(body())

    @app.get("/broken")
    def broken() -> Response:
        def body() -> Iterator[bytes]:
            yield bytes(10_000)
            raise RuntimeError("in the middle")

        return Response(body())

    @app.get("/closing/<name>")
    def closing(name: str) -> Response:
        response = Response(bytes(50_000_000))
        response.call_on_close(lambda: gates.go(name))
        return response

    @app.get("/missing")
    def missing() -> Response:
        def body() -> Iterator[bytes]:
            yield Path("/nowhere").read_bytes()

        return Response(body())


def main(descriptor: str) -> None:
    """Serve until told to stop."""
    serve(
        lambda: Running(make_app(), lambda: print("closed", flush=True)),
        descriptor=int(descriptor),
        workers=1,
        name="odd",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
