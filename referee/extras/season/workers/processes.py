# SPDX-License-Identifier: Apache-2.0
"""The work of a season in processes of this machine."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from pebble import ProcessExpired, ProcessPool

from referee.core.counts import counted
from referee.errors import Unavailable
from referee.extras.season.executor import TRIES, Lost
from referee.service.setup.program import stop_with_parent

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# A session of ten million detections takes two minutes.
_ITEM_S = 3600.0
_LOOK_S = 1.0


@dataclass(frozen=True)
class Processes:
    """An executor of `jobs` processes; one that dies is replaced."""

    jobs: int

    @property
    def workers(self) -> str:
        """Return who works, for people."""
        return counted(self.jobs, "process", "processes")

    def outcomes(
        self, work: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[_Item, _Result | Lost]]:
        """Yield each item with its result, as `Executor` says; an item has an hour."""
        workers = [_Worker(work) for _ in range(min(self.jobs, len(items)))]
        free, busy = deque(workers), dict[_Worker[_Result], int]()
        waiting = deque(range(len(items)))
        arrived: SimpleQueue[_Worker[_Result]] = SimpleQueue()
        deaths: Counter[int] = Counter()
        try:
            while waiting or busy:
                while waiting and free:
                    worker, place = free.popleft(), waiting.popleft()
                    busy[worker] = place
                    worker.begin(items[place], arrived.put)
                worker = _next(arrived, busy)
                place = busy.pop(worker)
                free.append(worker)
                outcome = worker.outcome()
                deaths[place] += outcome is None
                if outcome is None and deaths[place] < TRIES:
                    waiting.append(place)
                    continue
                yield items[place], outcome or Lost(f"It killed {TRIES} workers, one by one.")
        finally:
            for worker in workers:
                worker.stop()
            for worker in workers:
                worker.end()


class _Worker(Generic[_Result]):
    """A process with one item at a time.

    It is a pool of one. A pool of several does not know whose item is lost if a process dies before
    the pool has read that it began one: it breaks, or the item waits for its whole hour.
    """

    def __init__(self, work: Callable[[Any], _Result]) -> None:
        self._work = work
        self._pool: ProcessPool | None = None
        self._future: Future[_Result] = Future()

    def begin(self, item: Any, ended: Callable[[_Worker[_Result]], None]) -> None:
        """Begin an item, and call `ended` from another thread at its end.

        Raises `Unavailable` if no process can be started.
        """
        try:
            if self._pool is None or not self._pool.active:
                self.end()
                self._pool = _pool_of_one()
            self._future = self._pool.schedule(self._work, args=(item,), timeout=_ITEM_S)
        except BrokenProcessPool as error:
            raise Unavailable(
                f"no worker process can be started ({error.__cause__}). What is done is kept: give"
                " the same command again"
            ) from None
        self._future.add_done_callback(lambda _: ended(self))

    @property
    def gone(self) -> bool:
        """Return whether nobody does its item any more, so that its end is never told."""
        return not self._future.done() and (self._pool is None or not self._pool.active)

    def outcome(self) -> _Result | Lost | None:
        """Return a result, or `Lost` for one that took too long, or None if the process died."""
        if not self.gone:
            try:
                return self._future.result()
            except TimeoutError:
                return Lost(f"It took more than {_ITEM_S:g} s.")
            except (ProcessExpired, BrokenProcessPool):
                pass
        self.end()  # What the dead process had locked stays locked in its pool.
        return None

    def stop(self) -> None:
        """Let the process end."""
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]

    def end(self) -> None:
        """Stop the process, and wait for its end."""
        self.stop()
        if self._pool is not None:
            self._pool.join()
        self._pool = None


def _pool_of_one() -> ProcessPool:
    return ProcessPool(
        max_workers=1,
        # A fresh process, because a copy of this one would have locks that its threads hold.
        context=get_context("spawn"),
        initializer=stop_with_parent,
        initargs=(os.getpid(),),
    )


def _next(
    arrived: SimpleQueue[_Worker[_Result]], busy: dict[_Worker[_Result], int]
) -> _Worker[_Result]:
    """Return the next worker whose item has ended, or that has gone with its item."""
    while True:
        try:
            worker = arrived.get(timeout=_LOOK_S)
        except Empty:
            gone = [worker for worker in busy if worker.gone]
            if gone:
                return gone[0]
        else:
            return worker
