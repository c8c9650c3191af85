# SPDX-License-Identifier: Apache-2.0
"""Commit many threads' writes together, so that one wait for the disk serves all that wait."""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, TypeVar

from referee.errors import Unavailable
from referee.store.database import Connection, Database

T = TypeVar("T")

# Writes that may wait, and writes committed at once: enough for every thread of a server, and
# small enough that a stalled disk is noticed instead of filling the memory.
_WAITING = 1024
_AT_ONCE = 256
_CATCH_UP_S = 5.0
_GATHER_S = 0.02

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    """Hold a write and who waits for it; nobody does for a note."""

    write: Callable[[Connection], Any]
    future: Future[Any] | None
    durable: bool = False

    def still_wanted(self) -> bool:
        """Tell whether it is to be written: a future is, unless the one who waited gave up."""
        return self.future is None or self.future.set_running_or_notify_cancel()


_Outcome = tuple[_Job, object, Exception | None]
_Runner = Callable[[Connection, _Job], tuple[object, Exception | None]]


class Journal:
    """Own the one thread of this process that writes contestants' facts.

    A write is a function of a connection, which may be called twice: those that are committed
    together run in one transaction, and if one of them fails again in savepoints of another, so
    that it leaves the others alone. Writes are committed in the order in which they were queued.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        # Set after a job that somebody waits for has been queued.
        self._awaited = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(self, write: Callable[[Connection], T]) -> Future[T]:
        """Queue a write; its future gives the result after the commit, or raises what it raised.

        When the future has a result, the write survives a power cut. Raises `Unavailable` when
        too many wait, that is when the disk has stalled.
        """
        if self._jobs.qsize() >= _WAITING:
            raise Unavailable("The referee's disk is too slow: try again in a second.")
        future: Future[T] = Future()
        self._jobs.put(_Job(write, future, durable=True))
        self._awaited.set()
        return future

    def note(self, write: Callable[[Connection], object]) -> None:
        """Queue a write that nobody waits for.

        It is committed within moments, survives the death of the process from then on, and a
        power cut from the next `submit` on: a batch of notes alone does not wait for the disk.
        Whoever is faster than the journal is held up until it has caught up; with a stalled disk
        the note is dropped after some seconds, and the log says so.
        """
        if self._jobs.qsize() >= _WAITING and not self.catch_up(_CATCH_UP_S):
            _log.error("the disk has stalled: a note was dropped")
            return
        self._jobs.put(_Job(write, None))

    def catch_up(self, timeout_s: float) -> bool:
        """Wait until everything queued so far can be read; tell whether that came about in time.

        It need not be durable by then, so this does not wait for the disk.
        """
        reached: Future[None] = Future()
        self._jobs.put(_Job(lambda connection: None, reached))
        self._awaited.set()
        try:
            reached.result(timeout_s)
        except FutureTimeoutError:
            reached.cancel()
            return False
        except Exception:
            return False  # The batch failed: whoever waits for its writes is told.
        return True

    def flush(self, timeout_s: float) -> None:
        """Wait until everything queued so far is committed."""
        self.submit(lambda connection: None).result(timeout_s)

    def close(self, timeout_s: float = 10.0) -> None:
        """Commit what is queued and end the thread; safe to call twice."""
        if self._thread.is_alive():
            self._jobs.put(None)
            self._awaited.set()
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            batch, last = self._take()
            # From here on a future cannot be cancelled; one that was is not written.
            batch = [job for job in batch if job.still_wanted()]
            if batch:
                self._commit(batch)
            if last:
                return

    def _take(self) -> tuple[list[_Job], bool]:
        """Wait for a job, then take along what else is there; notes wait a moment for more.

        A commit for each note would cost the server's threads more time than the request itself.
        """
        self._awaited.clear()
        batch = [self._jobs.get()]
        self._drain(batch)
        if batch[-1] is not None and all(job.future is None for job in batch if job):
            self._awaited.wait(_GATHER_S)
            self._drain(batch)
        return [job for job in batch if job is not None], batch[-1] is None

    def _drain(self, batch: list[_Job | None]) -> None:
        """Take what is there, up to the end mark and to as much as is committed at once."""
        while len(batch) < _AT_ONCE and batch[-1] is not None:
            try:
                batch.append(self._jobs.get_nowait())
            except queue.Empty:
                return

    def _commit(self, batch: list[_Job]) -> None:
        outcomes: list[_Outcome]
        durable = any(job.durable for job in batch)
        try:
            try:
                outcomes = self._write(batch, durable, _run_plainly)
            except sqlite3.OperationalError:
                raise  # The disk, not one of the writes: the whole batch fails.
            except Exception:
                # One of them failed, which is rare: all are written again, each on its own.
                outcomes = self._write(batch, durable, _run_apart)
        except Exception as error:
            # Nothing of the batch is on the disk: none of it may be acknowledged. The thread
            # itself must live on, since the disk may come back.
            outcomes = [(job, None, error) for job in batch]
        for job, value, failure in outcomes:
            _tell(job, value, failure)

    def _write(self, batch: list[_Job], durable: bool, run: _Runner) -> list[_Outcome]:
        with self._database.write(durable=durable) as connection:
            return [(job, *run(connection, job)) for job in batch]


def _run_plainly(connection: Connection, job: _Job) -> tuple[object, Exception | None]:
    return job.write(connection), None


def _run_apart(connection: Connection, job: _Job) -> tuple[object, Exception | None]:
    """Write in a savepoint, so that what fails leaves the others alone."""
    connection.execute("savepoint job")
    try:
        value = job.write(connection)
    except sqlite3.OperationalError:
        raise
    except Exception as error:
        connection.execute("rollback to job")
        connection.execute("release job")
        return None, error
    connection.execute("release job")
    return value, None


def _tell(job: _Job, value: object, failure: Exception | None) -> None:
    if job.future is None:
        if failure is not None:
            _log.error("a note was not stored: %s", failure)
    elif failure is None:
        job.future.set_result(value)
    else:
        job.future.set_exception(failure)
