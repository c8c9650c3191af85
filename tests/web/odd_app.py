# SPDX-License-Identifier: Apache-2.0
"""An application whose requests wait for each other, under the servers' own worker."""

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


def make_app() -> Flask:
    """Return the application: `/go/NAME` lets go on what waits under that name.

    `/line` waits for a line on standard input. A worker that ends in good order prints `closed`.
    """
    app = Flask("odd")
    gates: dict[str, threading.Event] = defaultdict(threading.Event)
    outcomes: dict[str, Future[str]] = defaultdict(Future)

    @app.get("/now")
    def now() -> str:
        return "now"

    @app.get("/thread")
    def thread() -> str:
        return threading.current_thread().name

    @app.get("/wait/<name>")
    def wait(name: str) -> str:
        return "waited" if gates[name].wait(BOUND_S) else "in vain"

    @app.get("/line")
    def line() -> str:
        return sys.stdin.readline()

    @app.get("/later/<name>")
    def later(name: str) -> Response:
        outcome = outcomes[name]
        return AwaitingResponse(outcome, lambda: Response(outcome.result(BOUND_S)))

    @app.get("/large/<name>")
    def large(name: str) -> Response:
        outcome = outcomes[name]
        return AwaitingResponse(outcome, lambda: Response(bytes(50_000_000)))

    @app.get("/whole")
    def whole() -> str:
        return str(request.environ[WHOLE_S])

    @app.get("/exit")
    def leave() -> str:
        sys.exit("this is no way to answer")

    @app.get("/missing")
    def missing() -> Response:
        def body() -> Iterator[bytes]:
            yield Path("/nowhere").read_bytes()

        return Response(body())

    @app.get("/pieces/<name>")
    def pieces(name: str) -> Response:
        def body() -> Iterator[str]:
            yield "first"
            gates[name].wait(BOUND_S)
            yield "second"

        return Response(body())

    @app.post("/unread")
    def unread() -> str:
        return "unread"

    @app.get("/broken")
    def broken() -> Response:
        def body() -> Iterator[str]:
            yield "first"
            raise RuntimeError("in the middle")

        return Response(body())

    @app.get("/go/<name>")
    def go(name: str) -> str:
        gates[name].set()
        if not outcomes[name].done():
            outcomes[name].set_result("later")
        return "gone"

    return app


if __name__ == "__main__":
    serve(
        lambda: Running(make_app(), lambda: print("closed", flush=True)),
        descriptor=int(sys.argv[1]),
        workers=1,
        threads=int(sys.argv[2]),
        name="odd",
    )
