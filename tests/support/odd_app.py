# SPDX-License-Identifier: Apache-2.0
"""An application whose requests wait for each other, under the servers' own worker.

Run as a program it prints `closed` when its worker ends in good order.
"""

from __future__ import annotations

import sys
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from flask import Flask, Response, request

from referee.web.server.awaiting import AwaitingResponse
from referee.web.server.server import Running, serve, worker

BOUND_S = 20.0


# What the worker's own patience is in each of the ways to run it. With that of a saint nothing is
# seen to by looking again: whoever has something to tell has to call.
PATIENCE = {
    "usual": {},
    "saint": {"_PATIENCE_S": 60.0, "_LOOK_S": 60.0},
    "none": {"_CALL_OFF_S": 0.2, "_GIVE_UP_S": 0.4, "_LOOK_S": 0.1},
}


class _Gates:
    """Hold requests under a name until `/go/NAME` is asked for."""

    def __init__(self) -> None:
        self.gates: dict[str, threading.Event] = defaultdict(threading.Event)
        self.outcomes: dict[str, Future[str]] = defaultdict(Future)
        self.awaited: deque[Future[str]] = deque()

    def wait(self, name: str) -> bool:
        """Wait in this thread; tell whether it was let go."""
        return self.gates[name].wait(BOUND_S)

    def complete(self) -> None:
        """Do what responses await, which takes longer than a leader may."""
        threading.Event().wait(0.02)
        while self.awaited:
            self.awaited.popleft().set_result("completed")

    def go(self, name: str) -> str:
        """Let go on what waits, and what comes later."""
        self.gates[name].set()
        if not self.outcomes[name].done():
            self.outcomes[name].set_result("later")
        return "gone"


def make_app(gates: _Gates) -> Flask:
    """Return the application."""
    app = Flask("odd")
    for path, method, answer in (
        ("/go/<name>", "GET", gates.go),
        ("/now", "GET", lambda: "now"),
        ("/thread", "GET", lambda: threading.current_thread().name),
        ("/whole", "GET", lambda: str(request.environ["gunicorn.socket"].whole_s)),
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

    @app.post("/slowly")
    def slowly() -> str:
        threading.Event().wait(0.2)
        return "slowly"

    @app.get("/later/<name>")
    def later(name: str) -> Response:
        outcome = gates.outcomes[name]
        return AwaitingResponse(outcome, lambda: Response(outcome.result(BOUND_S)))

    @app.get("/completed")
    def completed() -> Response:
        outcome: Future[str] = Future()
        gates.awaited.append(outcome)
        return AwaitingResponse(outcome, lambda: Response(outcome.result(0)))

    @app.get("/timer")
    def timer() -> Response:
        outcome: Future[str] = Future()
        threading.Timer(0.2, outcome.set_result, ["timer"]).start()
        return AwaitingResponse(outcome, lambda: Response(outcome.result(0)))

    @app.get("/never/<how>")
    def never(how: str) -> Response:
        outcome: Future[str] = Future()
        if how == "begun":
            outcome.set_running_or_notify_cancel()
        return AwaitingResponse(
            outcome, lambda: Response("called off" if outcome.cancelled() else "given up")
        )

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


def main(descriptor: str, threads: str, patience: str) -> None:
    """Serve until told to stop."""
    for name, seconds in PATIENCE[patience].items():
        setattr(worker, name, seconds)
    gates = _Gates()
    running = Running(make_app(gates), lambda: print("closed", flush=True), complete=gates.complete)
    serve(lambda: running, descriptor=int(descriptor), workers=1, threads=int(threads), name="odd")


if __name__ == "__main__":
    main(*sys.argv[1:])
