# SPDX-License-Identifier: Apache-2.0
"""The journal: it commits the writes of many requests together, with one wait for the disk."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, TypeVar

from referee.core.blocking import BlockingRunner, run_here
from referee.errors import Unavailable
from referee.store.database import Connection, Database, Writer

T = TypeVar("T")

# The largest number of writes that may wait. It is enough for every connection of a server, and
# small enough that a stalled disk is noticed before the memory is full.
_WAITING = 1024
# The memory that all waiting large writes may use together. _WAITING alone bounds the small ones.
_LARGE_BYTES = 64 * 1024 * 1024
_SMALL_BYTES = 64 * 1024
# The largest number of writes in one transaction.
_AT_ONCE = 256
_CATCH_UP_S = 5.0
# Notes wait this long, so that many share a commit. One commit per note would cost more than the
# requests themselves.
_COMPANY_S = 0.02

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    """A queued write whose caller waits for the result."""

    write: Callable[[Connection], Any]
    future: Future[Any]
    durable: bool
    large_bytes: int

    def run(self, connection: Connection) -> Any:
        return self.write(connection)

    def tell(self, value: object, failure: Exception | None) -> None:
        if failure is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(failure)


@dataclass(frozen=True, slots=True)
class _Note:
    """A queued row that no caller waits for, and the function that writes rows of its kind."""

    write: Callable[[Connection, Sequence[Any]], object]
    row: object

    def run(self, connection: Connection) -> None:
        self.write(connection, [self.row])

    def tell(self, value: object, failure: Exception | None) -> None:
        if failure is not None:
            _log.error("a note was not stored: %s", failure)


_Entry = _Job | _Note
_Outcome = tuple[_Entry, object, Exception | None]
_Runner = Callable[[Connection, Sequence[_Entry]], list[_Outcome]]


class Journal:
    """The writer of all requests of this process: it commits many writes in one transaction.

    A write is a function of a connection. Writes are committed in the order in which they were
    queued. The journal may call a write twice: if one write of a transaction fails, all of them
    run again in a second transaction, each in its own savepoint. So a failed write does not harm
    the others. Notes are written at the end of their transaction, with one call per kind.

    The thread `journal` does this work on its own connection. It waits for other writers and for
    the disk through `run_blocking`, so a server with one thread for all requests does not stall.
    """

    def __init__(self, database: Database, run_blocking: BlockingRunner = run_here) -> None:
        self._writer = Writer(database, run_blocking)
        self._entries: deque[_Entry] = deque()
        self._weighing = threading.Lock()
        self._large_bytes = 0
        self._stalled = False
        # Why the newest commit failed; None after a good one.
        self._refused: Exception | None = None
        # `_begun`: an entry may be in the queue. `_awaited`: a caller may wait for one.
        self._begun = threading.Event()
        self._awaited = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(self, write: Callable[[Connection], T], *, size_bytes: int = 0) -> Future[T]:
        """Queue a write; its future gives the write's result, or its exception, after the commit.

        When the future has a result, the write survives a power cut. `size_bytes` is the memory
        that the write holds while it waits. Raises `Unavailable` if too many writes or too many
        bytes wait, which means that the disk has stalled.
        """
        if len(self._entries) >= _WAITING or self._large_bytes > _LARGE_BYTES:
            raise self.held_up("try again in a second.")
        large = size_bytes if size_bytes >= _SMALL_BYTES else 0
        if large:
            self._weigh(large)
        return self._queue(write, large, durable=True)

    def held_up(self, then: str) -> Unavailable:
        """Return the error for a write that waits too long: why it waits, and what to do then.

        A disk that refuses the writes before it, because it is full, is not called slow.
        """
        if self._refused is not None:
            return Unavailable(f"{str(self._refused).rstrip('.')}; {then}")
        return Unavailable(f"The referee's disk is too slow: {then}")

    def note(self, write: Callable[[Connection, Sequence[T]], object], row: T) -> None:
        """Queue a row and return at once; `write` gets all rows of one commit together.

        The row is committed within moments and then survives the death of the process. It survives
        a power cut after the next `submit`, because a batch of notes alone does not wait for the
        disk. A caller that outruns the journal waits until the journal has caught up. If that
        takes more than five seconds, the disk has stalled: the journal logs this once and drops
        notes until the disk works again.
        """
        if len(self._entries) >= _WAITING and (self._stalled or not self.catch_up(_CATCH_UP_S)):
            if not self._stalled:
                why = self._refused or "the disk has stalled"
                _log.error("%s: notes are dropped until it goes on", why)
            self._stalled = True
            return
        self._entries.append(_Note(write, row))
        _set(self._begun)

    def catch_up(self, timeout_s: float) -> bool:
        """Wait until readers can see everything queued so far; return whether that succeeded.

        The result is False after `timeout_s` or if the commit failed. This does not wait for the
        disk, so the writes may not be durable yet.
        """
        reached = self._queue(lambda connection: None, durable=False)
        try:
            reached.result(timeout_s)
        except FutureTimeoutError:
            reached.cancel()
            return False
        except Exception:
            return False  # The batch failed. Its callers get the error themselves.
        return True

    def flush(self, timeout_s: float) -> None:
        """Wait until everything queued so far is committed."""
        self.submit(lambda connection: None).result(timeout_s)

    def close(self, timeout_s: float = 10.0) -> None:
        """Commit the queue and end the thread; safe to call twice."""
        self._closing = True
        self._awaited.set()
        self._begun.set()
        self._thread.join(timeout_s)

    def _weigh(self, size_bytes: int) -> None:
        with self._weighing:
            self._large_bytes += size_bytes

    def _queue(
        self, write: Callable[[Connection], T], large_bytes: int = 0, *, durable: bool
    ) -> Future[T]:
        future: Future[T] = Future()
        self._entries.append(_Job(write, future, durable, large_bytes))
        _set(self._awaited)
        _set(self._begun)
        return future

    def _run(self) -> None:
        """Commit the queue: jobs at once, notes alone after `_COMPANY_S`."""
        while not self._closing or self._entries:
            self._begun.wait()
            self._awaited.wait(_COMPANY_S)
            # Clear before taking the batch: a later entry sets the events for the next round.
            self._begun.clear()
            self._awaited.clear()
            for _ in range(1 + len(self._entries) // _AT_ONCE):
                self._commit_batch()

    def _commit_batch(self) -> None:
        """Commit the oldest entries, at most `_AT_ONCE` of them."""
        batch: list[_Entry] = []
        large_bytes = 0
        while self._entries and len(batch) < _AT_ONCE:
            entry = self._entries.popleft()
            if isinstance(entry, _Job):
                large_bytes += entry.large_bytes
            # A cancelled entry is not written. From here on a future cannot be cancelled.
            if isinstance(entry, _Note) or entry.future.set_running_or_notify_cancel():
                batch.append(entry)
        if batch:
            self._commit(batch)
        if large_bytes:
            self._weigh(-large_bytes)
        self._stalled = False

    def _commit(self, batch: list[_Entry]) -> None:
        outcomes: list[_Outcome]
        try:
            try:
                outcomes = self._write(batch, _run_together)
            except (sqlite3.OperationalError, Unavailable):
                raise  # The disk failed, not one of the writes, so the whole batch fails.
            except Exception:
                # One write failed, which is rare. Write all again, each in its own savepoint.
                outcomes = self._write(batch, _run_apart)
        except Exception as error:
            # Nothing of the batch is on the disk, so every caller gets the error. The thread must
            # live on, because the disk may recover.
            outcomes = [(entry, None, error) for entry in batch]
            self._refused = error
        else:
            self._refused = None
        for entry, value, failure in outcomes:
            entry.tell(value, failure)

    def _write(self, batch: list[_Entry], run: _Runner) -> list[_Outcome]:
        durable = any(isinstance(entry, _Job) and entry.durable for entry in batch)
        with self._writer.write(durable=durable) as connection:
            return run(connection, batch)


def _set(event: threading.Event) -> None:
    """Set an event; the check first is cheap, and the event is usually set already."""
    if not event.is_set():
        event.set()


def _run_together(connection: Connection, batch: Sequence[_Entry]) -> list[_Outcome]:
    """Write the jobs in their order, then the notes of each kind with one call."""
    outcomes: list[_Outcome] = []
    kinds: dict[Callable[[Connection, Sequence[Any]], object], list[object]] = {}
    for entry in batch:
        if isinstance(entry, _Note):
            kinds.setdefault(entry.write, []).append(entry.row)
        else:
            outcomes.append((entry, entry.run(connection), None))
    for write, rows in kinds.items():
        write(connection, rows)
    return outcomes


def _run_apart(connection: Connection, batch: Sequence[_Entry]) -> list[_Outcome]:
    """Write each entry in its own savepoint, so that one failure does not harm the others."""
    return [_run_alone(connection, entry) for entry in batch]


def _run_alone(connection: Connection, entry: _Entry) -> _Outcome:
    connection.execute("savepoint entry")
    try:
        value = entry.run(connection)
    except sqlite3.OperationalError:
        raise
    except Exception as error:
        connection.execute("rollback to entry")
        connection.execute("release entry")
        return entry, None, error
    connection.execute("release entry")
    return entry, value, None
