# SPDX-License-Identifier: Apache-2.0
"""Work that would hold up the other requests of a server, done beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

from gevent.threadpool import ThreadPool

T = TypeVar("T")

WorkerKind = Literal["gevent", "gthread"]
"""How a server serves many requests at once: greenlets of one thread, or threads."""


class Aside(Protocol):
    """Calls a function where it holds up nobody else; returns or raises what that does."""

    def __call__(self, work: Callable[[], T], /) -> T: ...


def make_aside(kind: WorkerKind, at_once: int) -> Aside:
    """Return what does so much at a time, and lets whoever comes then wait for a turn."""
    return _Pool(at_once) if kind == "gevent" else _Turns(at_once)


class _Pool:
    """Threads beside the one of the greenlets; the greenlet that asks waits, and no other."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPool(threads)

    def __call__(self, work: Callable[[], T], /) -> T:
        result, error = self._pool.apply(_outcome, (work,))
        if error is not None:
            raise error
        value: T = result
        return value


class _Turns:
    """The thread that asks does it itself, when it is its turn."""

    def __init__(self, at_once: int) -> None:
        self._turns = threading.BoundedSemaphore(at_once)

    def __call__(self, work: Callable[[], T], /) -> T:
        with self._turns:
            return work()


def _outcome(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Return what the pool hands over; it would print what is raised."""
    try:
        return work(), None
    except Exception as error:
        return None, error
