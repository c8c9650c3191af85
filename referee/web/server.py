# SPDX-License-Identifier: Apache-2.0
"""Run an application under gunicorn, on a socket that the supervisor has bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from referee.web.connections import bound_listener
from referee.web.worker import FairWorker

_KEEPALIVE_S = 75
_GRACE_S = 3


class Running:
    """Hold a worker's application and what has to be closed when the worker ends.

    `complete` does what responses await (see `referee.web.awaiting`): the worker calls it when
    it has no other request to serve.
    """

    def __init__(
        self, app: Flask, close: Callable[[], None], complete: Callable[[], None] = lambda: None
    ) -> None:
        self.app = app
        self.close = close
        self.complete = complete


def serve(
    make: Callable[[], Running], *, descriptor: int, workers: int, threads: int, name: str
) -> None:
    """Serve until told to stop; `make` builds the application in each worker, after the fork.

    A worker that dies is replaced; the bound socket stays, so waiting connections do not notice.
    """
    _Server(make, descriptor, workers, threads, name).run()


class _Server(BaseApplication):  # type: ignore[misc]
    def __init__(
        self,
        make: Callable[[], Running],
        descriptor: int,
        workers: int,
        threads: int,
        name: str,
    ) -> None:
        self._make = make
        self._running: Running | None = None
        self._options: dict[str, Any] = {
            "bind": f"fd://{descriptor}",
            "workers": workers,
            "threads": threads,
            "worker_class": FairWorker,
            "worker_connections": 1000,
            "keepalive": _KEEPALIVE_S,
            "graceful_timeout": _GRACE_S,
            "timeout": 60,
            "proc_name": name,
            "control_socket_disable": True,
            "when_ready": _bound_listeners,
            "worker_exit": lambda server, worker: self._close(),
        }
        super().__init__()

    def load_config(self) -> None:
        for key, value in self._options.items():
            self.cfg.set(key, value)

    def load(self) -> Flask:
        self._running = self._make()
        self.complete = self._running.complete
        return self._running.app

    def _close(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None


def _bound_listeners(server: Any) -> None:
    for listener in server.LISTENERS:
        bound_listener(listener.sock)
