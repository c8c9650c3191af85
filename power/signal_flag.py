# SPDX-License-Identifier: Apache-2.0
"""A flag that the handler of a signal may set."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue


class SignalFlag:
    """A flag that a signal's handler may set while the interrupted thread waits for it.

    `threading.Event` is none: its `set` takes a lock, and the interrupted thread may hold this lock
    in its `wait`, so both would wait for ever. `SimpleQueue.put` may interrupt itself and `get`
    (Python's documentation of `queue`, "reentrant").
    """

    def __init__(self) -> None:
        self._told: SimpleQueue[None] = SimpleQueue()
        self._is_set = False

    def set(self) -> None:
        """Set the flag, for ever; a signal's handler may call this."""
        self._is_set = True
        self._told.put(None)

    def is_set(self) -> bool:
        """Tell whether the flag is set."""
        return self._is_set

    def wait(self, timeout_s: float) -> bool:
        """Wait until the flag is set, for at most so long, and tell whether it is."""
        if not self._is_set:
            with suppress(Empty):
                self._told.get(timeout=max(0.0, timeout_s))
                self._told.put(None)  # for another thread that waits
        return self._is_set
