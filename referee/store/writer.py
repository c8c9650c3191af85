# SPDX-License-Identifier: Apache-2.0
"""A connection that only writes, and that lets its owner go on while it waits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from referee.store.database import BUSY_S, Database, synchronous, undone_on_error

T = TypeVar("T")


class Aside(Protocol):
    """Calls a function that may block where nobody else waits for it; returns or raises as it."""

    def __call__(self, work: Callable[[], T], /) -> T: ...


def here(work: Callable[[], T]) -> T:
    """Call a function in this thread: the `Aside` of programs that give each wait a thread."""
    return work()


class Writer:
    """Run transactions on a connection of its own; belongs to one thread or greenlet at a time.

    It waits for other writers, and for the disk, `aside`. What happens between runs where the
    caller runs: statements take microseconds once the database is locked for them.
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
                # Another process writes, most likely.
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
