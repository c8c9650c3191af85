# SPDX-License-Identifier: Apache-2.0
"""Who is served next: addresses take turns, and none has more than its share of the threads."""

from __future__ import annotations

from collections import Counter, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairLines(Generic[T]):
    """Hold a line of waiting requests for each address, and count those being served.

    An address with `share` requests being served waits, whoever else is there. Not safe to use
    from several threads at once.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._lines: dict[str, deque[T]] = {}
        # Each address that has a line, in the order of their turns.
        self._turns: deque[str] = deque()
        self._served: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._turns)

    def join(self, address: str, request: T) -> None:
        """Put a request at the end of its address's line."""
        line = self._lines.get(address)
        if line is None:
            self._lines[address] = deque((request,))
            self._turns.append(address)
        else:
            line.append(request)

    def take(self) -> T | None:
        """Return the request whose turn it is, which counts as served from now on, or None."""
        for _ in range(len(self._turns)):
            address = self._turns.popleft()
            line = self._lines[address]
            if self._served[address] >= self._share:
                self._turns.append(address)
                continue
            request = line.popleft()
            if line:
                self._turns.append(address)
            else:
                del self._lines[address]
            self._served[address] += 1
            return request
        return None

    def leave(self, address: str) -> None:
        """Count a request of the address as served no longer."""
        self._served[address] -= 1
        if not self._served[address]:
            del self._served[address]
