# SPDX-License-Identifier: Apache-2.0
"""The database: connections, and durable transactions with one writer at a time."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from referee.core.blocking import BlockingRunner, run_here
from referee.errors import InputError, Unavailable
from referee.store import chain, schema
from referee.store.readable import refusal_of_writes
from referee.store.team_words import give_logins

_log = logging.getLogger(__name__)

Connection = sqlite3.Connection
"""A connection as other layers see it: they pass it to queries and never use it directly."""

# The longest wait for another process's write. A writer normally holds the lock for a few
# milliseconds, so a caller that has waited this long gets an error.
BUSY_S = 10.0
# A disk with less room than this takes no commit.
_FULL_BYTES = 1 << 20

# When the write-ahead log has this many pages (32 MB), a commit also copies them into the database.
# The copy delays that commit by about 20 ms. With SQLite's default of 1,000 pages it happened four
# times a second under a flood of answers, and took a sixth of the time.
_WAL_PAGES = 8000
# A log that has grown beyond this, because somebody read for long, is cut when it begins anew.
# Without a limit SQLite keeps its largest size for ever.
_WAL_KEPT_BYTES = 64 * 2**20


class Database:
    """One SQLite file, with one connection per thread.

    With `read_only` SQLite refuses every statement that would write. `copy` is opened in place of
    `path`, which messages name: see `referee.store.readable`.

    WAL mode lets readers continue while one thread writes. `synchronous=FULL` makes a commit
    survive a power cut (https://sqlite.org/pragma.html#pragma_synchronous). The thread that owns
    the database closes it after the other threads have ended.

    "Thread" means a thread of the operating system. All greenlets of one thread share one
    connection, so a greenlet must not pause inside `read` or `write`.
    """

    def __init__(self, path: Path, *, read_only: bool = False, copy: Path | None = None) -> None:
        self.path = path
        self._file = copy or path
        self.read_only = read_only
        self._connections: dict[int, sqlite3.Connection] = {}
        self._opened: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    @property
    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection; the first use opens it."""
        thread = threading.get_native_id()
        existing = self._connections.get(thread)
        if existing is None:
            existing = self._connections[thread] = self.open()
        return existing

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Run a block as one transaction: commit it at its end, undo it if the block raises.

        A durable commit waits for the disk. Other commits survive the death of this process, but
        survive a power cut only after the next durable commit. Raises `Unavailable` if the disk is
        full or read-only, or if another process holds the database too long.
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

    def migrate(self, rooms: Mapping[str, Path] | None = None) -> None:
        """Create the schema, or run the scripts that it lacks, in one transaction.

        `rooms` are the folders of the guests that take part, by name. A database that is brought up
        to date is copied before, beside itself, and the log says where. Raises `InputError` for a
        file of before the first release, or of a later referee.
        """
        copy = None
        with self.write() as connection:
            names = schema.lacking(connection, self.path, rooms or {})
            # What stands in for a database on a disk without writes is a copy already.
            if names and self._file == self.path and not schema.is_new(connection):
                copy = free_copy(self.path, names[0])
                copy_database(self.path, copy)
            schema.migrate(connection, self.path, rooms or {})
            # A team of an earlier version has none, and no script could make one.
            give_logins(connection)
        if copy is not None:
            _log.warning(
                "%s was brought up to date; %s is as it was before: %s",
                self.path,
                copy.name,
                schema.way_back(self.path),
            )

    def release(self) -> None:
        """Close this thread's connection, if it has one.

        A thread that ends before the program calls it last: its connection holds memory and files
        of the process, and nobody else can reach it.
        """
        connection = self._connections.pop(threading.get_native_id(), None)
        if connection is not None:
            with self._lock:
                self._opened.remove(connection)
            connection.close()

    def close(self) -> None:
        """Close every connection; safe to call twice."""
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    def open(self, busy_s: float | None = None) -> sqlite3.Connection:
        """Return a new connection for the caller; `close` closes it with the others.

        The connection waits up to `busy_s` seconds for another writer, `BUSY_S` by default. Raises
        `InputError` if the file is not a database.
        """
        connection = None
        try:
            connection = sqlite3.connect(
                self._file,
                timeout=BUSY_S if busy_s is None else busy_s,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.row_factory = sqlite3.Row
            chain.register_functions(connection)
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
            # Only macOS needs this: there a plain fsync leaves the data in the disk's cache.
            connection.execute("pragma fullfsync = on")
            connection.execute("pragma foreign_keys = on")
            connection.execute(f"pragma wal_autocheckpoint = {_WAL_PAGES}")
            connection.execute(f"pragma journal_size_limit = {_WAL_KEPT_BYTES}")
            connection.execute(f"pragma query_only = {int(self.read_only)}")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            why = refusal_of_writes(self._file.parent) or error
            raise InputError(f"{self.path} cannot be opened as a database: {why}.") from error
        with self._lock:
            self._opened.append(connection)
        return connection


def copy_database(path: Path, copy: Path) -> None:
    """Write what a database holds into a new file, which appears whole or not at all.

    Its own user alone can read the copy. A writer's open transaction is not in it.
    """
    part = copy.with_name(f"{copy.name}.part")
    part.unlink(missing_ok=True)
    part.touch(0o600)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part)) as target:
            source.backup(target)
            # A file alone can be copied and moved: no log stands beside it.
            target.execute("pragma journal_mode = delete")
        part.replace(copy)
    finally:
        part.unlink(missing_ok=True)


def free_copy(path: Path, script: str) -> Path:
    """Return where a copy of before a script will be; an earlier copy keeps its name."""
    stem = f"{path.stem}-before-{script.replace('/', '-')}"
    names = (f"{stem}{f'-{number}' if number else ''}{path.suffix}" for number in count())
    return next(copy for copy in map(path.with_name, names) if not copy.exists())


def synchronous(durable: bool) -> str:
    """Return the statement that decides whether the next commits wait for the disk."""
    return f"pragma synchronous = {'full' if durable else 'normal'}"


@contextmanager
def undone_on_error(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Undo the block's transaction if it raises; turn SQLite's failures into `Unavailable`."""
    try:
        yield
    except BaseException as error:
        if connection.in_transaction:
            connection.rollback()
        if isinstance(error, sqlite3.OperationalError):
            why = "the disk is full" if _is_full(error, path) else refusal_of_writes(path.parent)
            why = why or str(error)
            raise Unavailable(f"The database {path.name} could not be written: {why}.") from error
        raise


def _is_full(error: sqlite3.OperationalError, path: Path) -> bool:
    """Tell whether a failure means a full disk; SQLite also says "disk I/O error" there."""
    # The last byte is the primary code, the others say where it happened.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return True
    try:
        failed = code == sqlite3.SQLITE_IOERR
        return failed and shutil.disk_usage(path.parent).free < _FULL_BYTES
    except OSError:
        return False


class Writer:
    """A connection for transactions, used by one thread or greenlet at a time.

    It waits for other writers and for the disk through `run_blocking`. The statements between run
    in the caller's thread, because they take only microseconds once the database is locked.
    """

    def __init__(self, database: Database, run_blocking: BlockingRunner = run_here) -> None:
        self._path = database.path
        self._run_blocking = run_blocking
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
                self._run_blocking(self._begin_patiently)
            yield connection
            self._run_blocking(connection.commit)

    def _begin_patiently(self) -> None:
        connection = self._connection
        connection.execute(f"pragma busy_timeout = {int(1000 * BUSY_S)}")
        try:
            connection.execute("begin immediate")
        finally:
            connection.execute("pragma busy_timeout = 0")
