# SPDX-License-Identifier: Apache-2.0
"""A bounded queue between threads that can be finished and abandoned."""

from __future__ import annotations

import collections
import threading
import time
from typing import Deque, Generic, Iterator, List, TypeVar

Item = TypeVar("Item")


class Channel(Generic[Item]):
    """A queue between threads; at most `room` items wait in it.

    Each of the `givers` calls `finish` after its last item. When all have finished, the takers get
    the remaining items and then empty lists. `abandon` ends both sides at once and drops the
    waiting items.
    """

    def __init__(self, room: int, givers: int = 1) -> None:
        self._room = room
        self._givers = givers
        self._items: Deque[Item] = collections.deque()
        self._abandoned = False
        self._changed = threading.Condition()
        self.starved_s = 0.0  # seconds that all takers together have waited

    def __len__(self) -> int:
        """Return the number of waiting items."""
        return len(self._items)

    def give(self, item: Item) -> bool:
        """Wait for room and put an item in; return False if the queue is abandoned."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._items) < self._room or self._abandoned)
            if not self._abandoned:
                self._items.append(item)
                self._changed.notify_all()
            return not self._abandoned

    def __iter__(self) -> Iterator[Item]:
        """Take items one by one until the end."""
        while True:
            items = self.take()
            if not items:
                return
            yield items[0]

    def take(self, most: int = 1) -> List[Item]:
        """Wait for an item, then return up to `most` items; an empty list means the end."""
        with self._changed:
            if not self._ready():
                started = time.monotonic()
                self._changed.wait_for(self._ready)
                self.starved_s += time.monotonic() - started
            items = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._changed.notify_all()
            return items

    def finish(self) -> None:
        """Say that one giver is done."""
        with self._changed:
            self._givers -= 1
            self._changed.notify_all()

    def abandon(self) -> None:
        """Drop the waiting items and wake all waiting threads."""
        with self._changed:
            self._abandoned = True
            self._items.clear()
            self._changed.notify_all()

    def _ready(self) -> bool:
        return bool(self._items) or self._abandoned or self._givers <= 0
