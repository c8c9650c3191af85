# SPDX-License-Identifier: Apache-2.0
"""The run of an application under gunicorn, on a socket that the supervisor has bound."""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from flask import Flask
from gevent.ssl import SSLContext
from gunicorn.app.base import BaseApplication

from referee.core.open_files import CONNECTIONS, connections_within
from referee.core.proxies import NO_PROXIES, TrustedProxies
from referee.service.setup.config import TlsFiles
from referee.service.setup.contest_tls import server_context
from referee.web.server.arrival import stamp_arrivals
from referee.web.server.connection import KEEPALIVE_S, UNREAD_S
from referee.web.server.server_log import AccessLog, ServerLog

# gunicorn's arbiter kills a worker after three seconds. The worker itself ends after two, so that
# it can close its resources.
_ARBITER_GRACE_S = 3
_WORKER_GRACE_S = 2
VIEWERS_BYTES = 256 * 1024 * 1024
"""The memory for those who look on, wherever they are."""

VIEWER_BYTES = 128 * 1024
"""The memory of one of them: 20 KiB in this process, and the rest in the kernel for what it does
not take of what it is sent."""

VIEWERS_MOST = VIEWERS_BYTES // VIEWER_BYTES
"""The viewers of one scoreboard at the same time."""

# A worker tells each second that its loop goes on; all that takes longer is done in threads. After
# this time it hangs: the arbiter, which looks each second, ends it, and kills it a second later if
# it does not end. With the start of the next one its clients have waited for ten seconds at most.
HANGS_S = 6
# A new worker opens the contest before its loop goes, and a desk waits for the one before it.
_BEGINS_S = 60.0
# Libraries of meters look at their links with select(2), which knows descriptors below 1024. So
# the desk takes fewer connections than a server without meters.
_DESK_CONNECTIONS = 400
# More than any server needs; a limit above it would only cost time where a program closes all.
_DESCRIPTORS = 65_536
_GREENLETS = "referee.web.server.greenlets.GreenletWorker"
_GREENLETS_AND_THREADS = "referee.web.server.mixed.MixedWorker"


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Running:
    """A worker's application, with a function that closes its resources at the worker's end.

    `stop` ends endless responses, so that the worker can end.
    """

    app: Flask
    close: Callable[[], None]
    stop: Callable[[], None] = _nothing


def serve(
    make: Callable[[], Running],
    *,
    descriptor: int,
    workers: int,
    name: str,
    threads: int | None = None,
    log_requests: bool = False,
    tls: TlsFiles | None = None,
    proxies: TrustedProxies = NO_PROXIES,
    viewers: int | None = None,
) -> None:
    """Serve until told to stop; `make` builds the application in each worker, after the fork.

    gunicorn replaces a worker that dies. The bound socket stays open, so waiting connections are
    not lost. A greenlet serves each connection. With `threads`, so many threads run an application
    that blocks; `tls` goes without them. `log_requests` asks for a line in the log for each
    request. `proxies` are believed when they say who sends a request. `viewers` is given where a
    whole hall may look from one address: so many connections there may be at once, and an address
    has no share of its own.
    """
    files = _allow_descriptors()
    options: dict[str, object] = {
        "bind": f"fd://{descriptor}",
        "workers": workers,
        "threads": threads or 1,
        "worker_class": _GREENLETS if threads is None else _GREENLETS_AND_THREADS,
        "worker_connections": connections_within(
            files, viewers or (CONNECTIONS if threads is None else _DESK_CONNECTIONS)
        ),
        "keepalive": int(KEEPALIVE_S),
        "graceful_timeout": _ARBITER_GRACE_S,
        "timeout": HANGS_S,
        "proc_name": name,
        "control_socket_disable": True,
        "logger_class": AccessLog if log_requests else ServerLog,
        # A connection of a greenlet holds a short head back, and sendfile(2) would overtake it.
        "sendfile": False,
        # No header may name another scheme or another path, not even a proxy's. As nobody may send
        # such a header, gunicorn need not look up who may. `sender_of` says who sends a request.
        "secure_scheme_headers": {},
        "forwarder_headers": "",
        "forwarded_allow_ips": "*",
    }
    if tls is not None:
        if threads is not None:
            raise ValueError("only workers without threads bound the time of a handshake")
        options |= _tls_options(tls)
    _Server(make, options, proxies, viewers is not None).run()


def _tls_options(files: TlsFiles) -> dict[str, object]:
    """Return gunicorn's options for TLS; the workers share one context, and so its tickets."""
    context = server_context(files, SSLContext)
    return {
        "certfile": str(files.certificate),
        "keyfile": str(files.key),
        "ssl_context": lambda config, default: context,
    }


def _allow_descriptors() -> int | None:
    """Raise the limit of open files as far as this process may, and return it; None is none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft == resource.RLIM_INFINITY:
        return None
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


class _Server(BaseApplication):  # type: ignore[misc]
    """gunicorn's server with these options and one application in each worker.

    Its workers read `proxies` and `viewers`.
    """

    def __init__(
        self,
        make: Callable[[], Running],
        options: dict[str, object],
        proxies: TrustedProxies,
        viewers: bool,
    ) -> None:
        self._make = make
        self.proxies = proxies
        self.viewers = viewers
        self._running: Running | None = None
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        hooks = {
            "when_ready": _bound_listeners,
            "post_fork": _give_times,
            "post_worker_init": self._stop_first,
            "worker_exit": lambda server, worker: self._close(),
        }
        for key, value in (self._options | hooks).items():
            self.cfg.set(key, value)

    def load(self) -> Flask:
        self._running = self._make()
        # The 50,000 objects loaded so far stay for ever. Without the freeze, garbage collections
        # would search them again and again, and each time stop all requests for 20 to 40 ms.
        gc.collect()
        gc.freeze()
        return self._running.app

    def _stop_first(self, worker: Any) -> None:
        """Make SIGTERM end endless responses before it ends the worker."""
        running = self._running
        if running is None or running.stop is _nothing:
            return

        def end(number: int, frame: FrameType | None) -> None:
            running.stop()
            worker.handle_exit(number, frame)

        signal.signal(signal.SIGTERM, end)

    def _close(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None


def _give_times(server: Any, worker: Any) -> None:
    """Let the worker take its time for its beginning, and end before the arbiter kills it."""
    worker.cfg.set("graceful_timeout", _WORKER_GRACE_S)
    # The arbiter counts from this time; the worker's first sign of life sets it back.
    begun_s = time.monotonic() + _BEGINS_S
    os.utime(worker.tmp.fileno(), (begun_s, begun_s))


def _bound_listeners(server: Any) -> None:
    """Set what accepted sockets inherit: the limit of unread data, and stamps of arrivals."""
    for listener in server.LISTENERS:
        _bound_unread(listener.sock)
        stamp_arrivals(listener.sock)


def _bound_unread(listener: socket.socket) -> None:
    """Bound the time for which a listener's clients may take nothing: `UNREAD_S`."""
    if sys.platform == "linux":
        # tcp(7): it also covers a living peer that takes no data.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * UNREAD_S))
