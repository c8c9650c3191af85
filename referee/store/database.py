# SPDX-License-Identifier: Apache-2.0
"""Open the database, keep its promises (durable, one writer at a time), bring its schema up."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from referee.errors import InputError, Unavailable

Connection = sqlite3.Connection
"""What queries are given: other layers pass it on and never look into it."""

# Longest wait for another process's write. A writer holds the lock for one commit, some
# milliseconds; whoever waits this long is told so instead of hanging.
BUSY_S = 10.0

# Pages of the log (32 MB) after which a commit also brings the database up to date. That holds up
# everybody who waits for the commit for some 20 ms; with SQLite's 1,000 pages it came four times
# a second under a flood of answers, and took a sixth of the time.
_WAL_PAGES = 8000


class Database:
    """Give each thread its own connection to one SQLite file.

    WAL lets readers go on while one writes; `synchronous=FULL` makes a commit survive a power
    cut (https://sqlite.org/pragma.html#pragma_synchronous). Close it once, from the thread that
    owns it, after the other threads have ended.

    A thread is a thread of the operating system here. A server that runs many requests in one
    thread has one connection for all of them, so none of them may pause inside `read` or `write`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connections: dict[int, sqlite3.Connection] = {}
        self._opened: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    @property
    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection, opened at the first use."""
        thread = threading.get_native_id()
        existing = self._connections.get(thread)
        if existing is None:
            existing = self._connections[thread] = self.open()
        return existing

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Run a block as one transaction: committed at its end, undone when it raises.

        One that need not be durable outlives this process, but a power cut only once a later
        durable one is committed; it does not wait for the disk. Raises `Unavailable` when the
        disk is full or another process holds the database too long.
        """
        connection = self.connection
        with undone_on_error(connection, self.path):
            connection.execute(synchronous(durable))
            connection.execute("begin immediate")
            yield connection
            connection.commit()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Run a block on one consistent snapshot of the database."""
        connection = self.connection
        connection.execute("begin")
        try:
            yield connection
        finally:
            connection.rollback()

    def migrate(self) -> None:
        """Create the schema, or bring an older one up to date, one transaction a step.

        Raises `InputError` when the file was written by a newer referee.
        """
        steps = _migrations()
        with self.write() as connection:
            done = int(connection.execute("pragma user_version").fetchone()[0])
            if done > len(steps):
                raise InputError(
                    f"{self.path} has schema {done} and this referee knows {len(steps)}: "
                    "it was written by a newer version, use that one."
                )
            for number, script in enumerate(steps[done:], done + 1):
                for statement in _statements(script):
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {number}")

    def close(self) -> None:
        """Close every connection; safe to call twice."""
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    def open(self, busy_s: float | None = None) -> sqlite3.Connection:
        """Return a connection of the caller's own; `close` closes it with the others.

        It waits `busy_s` seconds for another's write. Raises `InputError` when the file is no
        database.
        """
        connection = None
        try:
            connection = sqlite3.connect(
                self.path,
                timeout=BUSY_S if busy_s is None else busy_s,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.row_factory = sqlite3.Row
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
            # macOS only: a plain fsync leaves the data in the disk's own memory there.
            connection.execute("pragma fullfsync = on")
            connection.execute("pragma foreign_keys = on")
            connection.execute(f"pragma wal_autocheckpoint = {_WAL_PAGES}")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise InputError(f"{self.path} cannot be opened as a database: {error}.") from error
        with self._lock:
            self._opened.append(connection)
        return connection


def synchronous(durable: bool) -> str:
    """Return the statement that makes the next commits wait for the disk, or not."""
    return f"pragma synchronous = {'full' if durable else 'normal'}"


@contextmanager
def undone_on_error(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Undo the block's transaction when it raises; what SQLite cannot do is `Unavailable`."""
    try:
        yield
    except BaseException as error:
        if connection.in_transaction:
            connection.rollback()
        if isinstance(error, sqlite3.OperationalError):
            raise Unavailable(f"The database {path} could not be written: {error}.") from error
        raise


def _migrations() -> list[str]:
    folder = resources.files("referee.store") / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(folder / name).read_text(encoding="utf-8") for name in names]


def _statements(script: str) -> Iterator[str]:
    """Split a script where SQLite itself sees the end of a statement, triggers included."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        raise ValueError(f"a migration ends inside a statement: {pending[:60]!r}")
