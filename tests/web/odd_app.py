# SPDX-License-Identifier: Apache-2.0
"""An application whose requests wait for each other, under the servers' own worker.

Run as a program it prints `closed` when its worker ends in good order.
"""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from flask import Flask, Response, request

from referee.web.awaiting import AwaitingResponse
from referee.web.bodies import WHOLE_S
from referee.web.server import Running, serve

BOUND_S = 20.0


class _Gates:
    """Hold requests under a name until `/go/NAME` is asked for."""

    def __init__(self) -> None:
        self.gates: dict[str, threading.Event] = defaultdict(threading.Event)
        self.outcomes: dict[str, Future[str]] = defaultdict(Future)

    def wait(self, name: str) -> bool:
        """Wait in this thread; tell whether it was let go."""
        return self.gates[name].wait(BOUND_S)

    def go(self, name: str) -> str:
        """Let go on what waits, and what comes later."""
        self.gates[name].set()
        if not self.outcomes[name].done():
            self.outcomes[name].set_result("later")
        return "gone"


def make_app() -> Flask:
    """Return the application."""
    app = Flask("odd")
    gates = _Gates()
    for path, method, answer in (
        ("/go/<name>", "GET", gates.go),
        ("/now", "GET", lambda: "now"),
        ("/thread", "GET", lambda: threading.current_thread().name),
        ("/whole", "GET", lambda: str(request.environ[WHOLE_S])),
        ("/unread", "POST", lambda: "unread"),
        ("/line", "GET", sys.stdin.readline),
        ("/exit", "GET", lambda: sys.exit("this is no way to answer")),
    ):
        app.add_url_rule(path, path, answer, methods=[method])
    _add_waiting(app, gates)
    _add_bodies(app, gates)
    return app


def _add_waiting(app: Flask, gates: _Gates) -> None:
    @app.get("/wait/<name>")
    def wait(name: str) -> str:
        return "waited" if gates.wait(name) else "in vain"

    @app.get("/later/<name>")
    def later(name: str) -> Response:
        outcome = gates.outcomes[name]
        return AwaitingResponse(outcome, lambda: Response(outcome.result(BOUND_S)))

    @app.get("/large/<name>")
    def large(name: str) -> Response:
        return AwaitingResponse(gates.outcomes[name], lambda: Response(bytes(50_000_000)))


def _add_bodies(app: Flask, gates: _Gates) -> None:
    @app.get("/pieces/<name>")
    def pieces(name: str) -> Response:
        def body() -> Iterator[str]:
            yield "first"
            gates.wait(name)
            yield "second"

        return Response(body())

    @app.get("/broken")
    def broken() -> Response:
        def body() -> Iterator[str]:
            yield "first"
            raise RuntimeError("in the middle")

        return Response(body())

    @app.get("/missing")
    def missing() -> Response:
        def body() -> Iterator[bytes]:
            yield Path("/nowhere").read_bytes()

        return Response(body())


if __name__ == "__main__":
    serve(
        lambda: Running(make_app(), lambda: print("closed", flush=True)),
        descriptor=int(sys.argv[1]),
        workers=1,
        threads=int(sys.argv[2]),
        name="odd",
    )
