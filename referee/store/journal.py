# SPDX-License-Identifier: Apache-2.0
"""Commit many threads' writes together, so that one wait for the disk serves all that wait."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from referee.errors import Unavailable
from referee.store.database import Database

__all__ = ["Journal"]

T = TypeVar("T")
_Job = tuple[Callable[[sqlite3.Connection], object], "Future[object]"]

# Writes that may wait, and writes committed at once: enough for every thread of a server, and
# small enough that a stalled disk is noticed instead of filling the memory.
_WAITING = 1024
_AT_ONCE = 256


class Journal:
    """Own the one thread of this process that writes contestants' facts.

    A write is a function of a connection. It runs inside a savepoint of a shared transaction, so
    that one that fails leaves the others alone; its future resolves only after the commit.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._jobs: queue.Queue[_Job | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(self, write: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Queue a write; its future gives the result after the commit, or raises what it raised.

        Raises `Unavailable` when the queue is full, that is when the disk has stalled.
        """
        future: Future[T] = Future()
        try:
            self._jobs.put_nowait((write, future))  # type: ignore[arg-type]
        except queue.Full:
            raise Unavailable("The referee's disk is too slow: try again in a second.") from None
        return future

    def close(self, timeout_s: float = 10.0) -> None:
        """Commit what is queued and end the thread; safe to call twice."""
        if self._thread.is_alive():
            self._jobs.put(None)
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            batch, last = self._take()
            # From here on a future cannot be cancelled; one that was is not written.
            batch = [job for job in batch if job[1].set_running_or_notify_cancel()]
            if batch:
                self._commit(batch)
            if last:
                return

    def _take(self) -> tuple[list[_Job], bool]:
        """Wait for a job, then take along whatever else is already there."""
        batch: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) == _AT_ONCE:
                return batch, False
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _commit(self, batch: list[_Job]) -> None:
        outcomes: list[tuple[Future[object], object, BaseException | None]] = []
        try:
            with self._database.write() as connection:
                for write, future in batch:
                    outcomes.append((future, *_attempt(connection, write)))
        except Exception as error:
            # Nothing of the batch is on the disk: none of it may be acknowledged. The thread
            # itself must live on, since the disk may come back.
            for _, future in batch:
                future.set_exception(error)
            return
        for future, value, failure in outcomes:
            if failure is None:
                future.set_result(value)
            else:
                future.set_exception(failure)


def _attempt(
    connection: sqlite3.Connection, write: Callable[[sqlite3.Connection], object]
) -> tuple[object, BaseException | None]:
    connection.execute("savepoint job")
    try:
        value = write(connection)
    except sqlite3.OperationalError:
        raise  # The disk, not this write: the whole batch fails.
    except Exception as error:
        connection.execute("rollback to job")
        connection.execute("release job")
        return None, error
    connection.execute("release job")
    return value, None
