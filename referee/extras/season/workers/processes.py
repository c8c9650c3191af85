# SPDX-License-Identifier: Apache-2.0
"""The work of a season in processes of this machine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing import get_context
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from pebble import ProcessExpired, ProcessPool

from referee.errors import Unavailable
from referee.extras.season.executor import TRIES, Lost
from referee.service.setup.parent import stop_with_parent

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
        return "1 process" if self.jobs == 1 else f"{self.jobs} processes"

    def outcomes(
        self, work: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[_Item, _Result | Lost]]:
        """Yield each item with its result, as `Executor` says; an item has an hour."""
        if not items:
            return
        arrived: SimpleQueue[tuple[int, Future[_Result]]] = SimpleQueue()
        # Fresh processes, because a copy of this one would have locks that its threads hold.
        pool = ProcessPool(
            max_workers=min(self.jobs, len(items)),
            context=get_context("spawn"),
            initializer=stop_with_parent,
            initargs=(os.getpid(),),
        )

        def begin(place: int) -> None:
            future = pool.schedule(work, args=(items[place],), timeout=_ITEM_S)
            future.add_done_callback(lambda it: arrived.put((place, it)))

        try:
            for place in range(len(items)):
                begin(place)
            deaths: Counter[int] = Counter()
            waiting = len(items)
            while waiting:
                place, future = _next(arrived, pool)
                outcome = _outcome(future)
                deaths[place] += outcome is None
                if outcome is None and deaths[place] < TRIES:
                    begin(place)
                    continue
                waiting -= 1
                yield items[place], outcome or Lost(f"It killed {TRIES} workers, one by one.")
        finally:
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()


def _next(arrived: SimpleQueue[Any], pool: ProcessPool) -> Any:
    """Return what arrives next, as long as the pool lives."""
    while True:
        try:
            return arrived.get(timeout=_LOOK_S)
        except Empty:
            if not pool.active:
                raise Unavailable(
                    "the worker processes cannot go on. What is done is kept: give the same"
                    " command again"
                ) from None


def _outcome(future: Future[_Result]) -> _Result | Lost | None:
    """Return a result, or `Lost` for one that took too long, or None if its worker died."""
    try:
        return future.result()
    except TimeoutError:
        return Lost(f"It took more than {_ITEM_S:g} s.")
    except ProcessExpired:
        return None
