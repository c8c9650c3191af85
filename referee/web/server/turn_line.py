# SPDX-License-Identifier: Apache-2.0
"""The line of those who wait for a turn of a server: by address, a running session's first."""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import Generic, TypeVar

IN_A_ROW = 8
"""So many turns in a row has a rank while others wait; then one of those behind it has a turn."""

T = TypeVar("T")


class Rank(IntEnum):
    """Who goes first: the session that runs, then its address, then everybody else."""

    SESSION = 0
    ITS_ADDRESS = 1
    OTHERS = 2


class TurnLine(Generic[T]):
    """The order of a line. Within a rank each address has its turn, however many wait there.

    Those of one address go in the order in which they came. A rank goes before those behind it,
    but not for ever: nobody is kept out altogether. All steps take the same time in a long line as
    in a short one.
    """

    def __init__(self) -> None:
        self._ranks: tuple[dict[str, deque[T]], ...] = tuple({} for _ in Rank)
        self._in_a_row = [0 for _ in Rank]
        self._count = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._count

    def join(self, waiter: T, address: str, rank: Rank = Rank.OTHERS) -> None:
        """Put somebody into the line."""
        self._ranks[rank].setdefault(address, deque()).append(waiter)
        self._count += 1

    def best(self) -> Rank | None:
        """Return the best rank of those who wait, or None."""
        return next((rank for rank in Rank if self._ranks[rank]), None)

    def next(self) -> T:
        """Take whoever is next out of the line; raise `LookupError` if nobody waits."""
        waiting = [rank for rank in Rank if self._ranks[rank]]
        for rank in waiting:
            if self._in_a_row[rank] < IN_A_ROW or rank == waiting[-1]:
                self._in_a_row[rank] += 1
                return self._first_of(rank)
            self._in_a_row[rank] = 0
        raise LookupError("nobody waits")

    def leave(self, waiter: T) -> None:
        """Take somebody out who waits no more, wherever he stands."""
        for addresses in self._ranks:
            for address, ones in addresses.items():
                if waiter in ones:
                    ones.remove(waiter)
                    self._count -= 1
                    if not ones:
                        del addresses[address]
                    return

    def _first_of(self, rank: Rank) -> T:
        """Take out the first of the address whose turn it is, which then goes to the end."""
        addresses = self._ranks[rank]
        address = next(iter(addresses))
        ones = addresses.pop(address)
        first = ones.popleft()
        self._count -= 1
        if ones:
            addresses[address] = ones
        return first
