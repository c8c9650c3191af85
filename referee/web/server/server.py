# SPDX-License-Identifier: Apache-2.0
"""Run an application under gunicorn, on a socket that the supervisor has bound."""

from __future__ import annotations

import gc
import resource
from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from referee.web.server.connections import bound_listener
from referee.web.server.worker import FairWorker

_KEEPALIVE_S = 75
_GRACE_S = 3
_CONNECTIONS = 1000
_DESCRIPTORS = 4096


class Running:
    """Hold a worker's application and what has to be closed when the worker ends.

    `complete` does what responses await (see `referee.web.server.awaiting`): the worker calls it when
    it has no other request to serve, and some milliseconds after the first that awaits it. `stop`
    ends responses that would go on for ever, so that the worker can end.
    """

    def __init__(
        self,
        app: Flask,
        close: Callable[[], None],
        *,
        complete: Callable[[], None] = lambda: None,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self.app = app
        self.close = close
        self.complete = complete
        self.stop = stop


def serve(
    make: Callable[[], Running], *, descriptor: int, workers: int, threads: int, name: str
) -> None:
    """Serve until told to stop; `make` builds the application in each worker, after the fork.

    A worker that dies is replaced; the bound socket stays, so waiting connections do not notice.
    """
    _allow_descriptors()
    _Server(make, descriptor, workers, threads, name).run()


def _allow_descriptors() -> None:
    """Have room for as many open files as there may be connections, and each thread's database."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


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
            "worker_connections": _CONNECTIONS,
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
        # What is loaded by now stays: looking through its 50,000 objects for garbage again and
        # again would stop everybody for 20 to 40 ms.
        gc.collect()
        gc.freeze()
        self.complete, self.stop = self._running.complete, self._running.stop
        return self._running.app

    def _close(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None


def _bound_listeners(server: Any) -> None:
    for listener in server.LISTENERS:
        bound_listener(listener.sock)
