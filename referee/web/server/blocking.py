# SPDX-License-Identifier: Apache-2.0
"""Ways to run blocking work without delaying the other requests of a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gevent.threadpool import ThreadPool

from referee.web.server.turns import Places

T = TypeVar("T")


class BlockingPool:
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


def _outcome(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Return the function's result or its exception; the pool would print a raised exception."""
    try:
        return work(), None
    except Exception as error:
        return None, error
