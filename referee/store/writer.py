# SPDX-License-Identifier: Apache-2.0
"""A write-only connection that waits for locks and for the disk outside the server's loop."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from referee.store.database import BUSY_S, Database, synchronous, undone_on_error

T = TypeVar("T")


class Aside(Protocol):
    """A way to call a function that may block, without blocking other requests.

    It returns the function's result or raises its exception.
    """

    def __call__(self, work: Callable[[], T], /) -> T: ...


def here(work: Callable[[], T]) -> T:
    """Call a function in this thread: the `Aside` of programs with one thread per request."""
    return work()


class Writer:
    """A connection for transactions, used by one thread or greenlet at a time.

    It waits for other writers and for the disk through `aside`. The statements between run in the
    caller's thread, because they take only microseconds once the database is locked.
    """

    def __init__(self, database: Database, aside: Aside = here) -> None:
        self._path = database.path
        self._aside = aside
        self._connection = database.open(busy_s=0)
        self._durable: bool | None = None

    @contextmanager
    def write(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """Run a block as one transaction, as `Database.write` does."""
        connection = self._connection
        with undone_on_error(connection, self._path):
            if durable is not self._durable:
                connection.execute(synchronous(durable))
                self._durable = durable
            try:
                connection.execute("begin immediate")
            except sqlite3.OperationalError:
                # Most likely another process is writing now.
                self._aside(self._begin_patiently)
            yield connection
            self._aside(connection.commit)

    def _begin_patiently(self) -> None:
        connection = self._connection
        connection.execute(f"pragma busy_timeout = {int(1000 * BUSY_S)}")
        try:
            connection.execute("begin immediate")
        finally:
            connection.execute("pragma busy_timeout = 0")
