# SPDX-License-Identifier: Apache-2.0
"""Who is served next: addresses take turns, and none has more than its share of the threads."""

from __future__ import annotations

from collections import Counter, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairLines(Generic[T]):
    """Hold a line of waiting requests for each address, and count those being served.

    An address with `share` requests being served waits, whoever else is there. It is true while
    there is a request that may be taken. Not safe to use from several threads at once.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._lines: dict[str, deque[T]] = {}
        # The addresses that have a line and are below their share, in the order of their turns.
        self._turns: deque[str] = deque()
        self._served: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._turns)

    def join(self, address: str, request: T) -> None:
        """Put a request at the end of its address's line."""
        self._line_of(address).append(request)

    def join_first(self, address: str, request: T) -> None:
        """Put a request at the head of its address's line."""
        self._line_of(address).appendleft(request)

    def take(self) -> T | None:
        """Return the request whose turn it is, which counts as served from now on, or None."""
        if not self._turns:
            return None
        address = self._turns.popleft()
        line = self._lines[address]
        request = line.popleft()
        self._served[address] += 1
        if not line:
            del self._lines[address]
        elif self._served[address] < self._share:
            self._turns.append(address)
        return request

    def leave(self, address: str) -> None:
        """Count a request of the address as served no longer."""
        if self._served[address] == self._share and address in self._lines:
            self._turns.append(address)
        self._served[address] -= 1
        if not self._served[address]:
            del self._served[address]

    def _line_of(self, address: str) -> deque[T]:
        line = self._lines.get(address)
        if line is None:
            line = self._lines[address] = deque()
            if self._served.get(address, 0) < self._share:
                self._turns.append(address)
        return line
