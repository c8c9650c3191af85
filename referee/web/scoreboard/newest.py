# SPDX-License-Identifier: Apache-2.0
"""The newest of something, for many who wait for another one."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Newest(Generic[T]):
    """A value that one thread puts and any number wait for; only another value wakes them.

    It is None until the first `put`.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._value: T | None = None
        self._closed = False

    def put(self, value: T) -> None:
        """Replace the value, and wake all who wait, unless it equals the one before."""
        with self._changed:
            if value != self._value:
                self._value = value
                self._changed.notify_all()

    def close(self) -> None:
        """Wake all who wait; from now on nobody waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def other_than(self, seen: T | None, timeout_s: float) -> T | None:
        """Wait for a value that is another object than `seen`; return the newest in any case."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._value is not seen, timeout_s)
            return self._value
