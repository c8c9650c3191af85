# SPDX-License-Identifier: Apache-2.0
"""Ways to run blocking work without delaying the other requests of a server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal, TypeVar

from gevent.threadpool import ThreadPool

from referee.core.blocking import BlockingRunner
from referee.web.server.turns import Places

T = TypeVar("T")

WorkerKind = Literal["gevent", "mixed", "gthread"]
"""How a server serves many requests at once.

`gevent`: greenlets of one thread. `mixed`: greenlets for the connections, and threads for the
application. `gthread`: threads for both.
"""


def blocking_runner(kind: WorkerKind, at_once: int) -> BlockingRunner:
    """Return the runner for a kind of worker; it runs `at_once` functions, and others wait."""
    return _Pool(at_once) if kind == "gevent" else _Turns(at_once)


class _Pool:
    """A pool of threads beside the greenlets' thread; only the calling greenlet waits.

    Who waits for a thread has it by address, so work of one address keeps no other one waiting.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPool(threads)
        self._places = Places(threads)

    def __call__(self, work: Callable[[], T], /) -> T:
        with self._places.held():
            result, error = self._pool.apply(_outcome, (work,))
        if error is not None:
            raise error
        value: T = result
        return value


class _Turns:
    """A semaphore: the calling thread runs the function itself when it gets a turn."""

    def __init__(self, at_once: int) -> None:
        self._turns = threading.BoundedSemaphore(at_once)

    def __call__(self, work: Callable[[], T], /) -> T:
        with self._turns:
            return work()


def _outcome(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Return the function's result or its exception; the pool would print a raised exception."""
    try:
        return work(), None
    except Exception as error:
        return None, error
