# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for work, and that the process does not wait for when it ends."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable


class Crew:
    """Run work in daemon threads named `NAME_1`, `NAME_2` and so on, started as they are needed.

    `concurrent.futures` has no such threads: a program that uses its pool cannot end while a
    single request is stuck. What is handed over beyond `size` waits for a thread.
    """

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self._work: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0
        self._free = 0

    def run(self, work: Callable[[], object]) -> None:
        """Have a thread do something; it must not raise."""
        with self._lock:
            start = self._free <= 0 and self._started < self._size
            if start:
                self._started += 1
                name = f"{self._name}_{self._started}"
            else:
                # Below zero: so many more wait for a thread than there are free ones.
                self._free -= 1
        self._work.put(work)
        if start:
            threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._work.get()()
            with self._lock:
                self._free += 1
