# SPDX-License-Identifier: Apache-2.0
"""The line of those who wait for the check of a password: who is next, and who must leave."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

GUESSED_S = 600.0
"""How long an address stands behind the others after a wrong password."""

# How many addresses and names are remembered with their last turn; then all are equal again.
_SERVED = 10_000


@dataclass(eq=False)
class WaitingLogin:
    """Somebody in the line: the address of his connection, and the name that he gives."""

    address: str
    name: str


class Guesses(Protocol):
    """A memory of the addresses that have sent a wrong password."""

    def until_s(self, address: str) -> float:
        """Return until when an address counts as one that guesses; -inf for an unknown one."""
        ...

    def suspect(self, address: str, until_s: float) -> None:
        """Let an address count as one that guesses until this moment."""
        ...


class OwnGuesses:
    """The memory of one process."""

    def __init__(self) -> None:
        self._until_s: dict[str, float] = {}

    def until_s(self, address: str) -> float:
        """Return until when an address counts as one that guesses."""
        return self._until_s.get(address, -math.inf)

    def suspect(self, address: str, until_s: float) -> None:
        """Let an address count as one that guesses; forget those that count so no more."""
        if len(self._until_s) >= _SERVED:
            now_s = until_s - GUESSED_S
            self._until_s = {one: end for one, end in self._until_s.items() if end > now_s}
        self._until_s[address] = until_s


class LoginLine:
    """The order of a line: addresses without a wrong password go first, and each in its turn.

    A right password does not clear an address. Else whoever has one could guess at others between
    two logins of his own. Within both groups the address that was served longest ago is next, so
    an address that tries ten names gets no more than one that tries one. Of several such
    addresses, the one with the name that was served longest ago is next.
    """

    def __init__(self, most: int, guesses: Guesses | None = None) -> None:
        self._most = most
        self._line: list[WaitingLogin] = []
        self._guesses = guesses or OwnGuesses()
        self._served: dict[str, int] = {}
        self._served_names: dict[str, int] = {}
        self._turns = 0

    def join(self, waiting: WaitingLogin, now_s: float) -> WaitingLogin | None:
        """Put somebody into the line; return who must leave it, if the line is too long.

        That is the newest of the address with the most in the line, among those that guess.
        """
        self._line.append(waiting)
        if len(self._line) <= self._most:
            return None
        of_address = Counter(each.address for each in self._line)
        last = max(
            enumerate(self._line),
            key=lambda row: (
                self.has_guessed(row[1].address, now_s),
                of_address[row[1].address],
                row[0],
            ),
        )[1]
        self._line.remove(last)
        return last

    def next(self, now_s: float) -> WaitingLogin | None:
        """Return who is next, or None if nobody waits."""
        return min(
            self._line,
            key=lambda each: (
                self.has_guessed(each.address, now_s),
                self._served.get(each.address, 0),
                self._served_names.get(each.name, 0),
            ),
            default=None,
        )

    def leave(self, waiting: WaitingLogin, *, served: bool) -> None:
        """Take somebody out of the line; `served` counts it as a turn of address and name."""
        if waiting in self._line:
            self._line.remove(waiting)
        if served:
            self._turns += 1
            for turns, key in ((self._served, waiting.address), (self._served_names, waiting.name)):
                if len(turns) >= _SERVED:
                    turns.clear()
                turns[key] = self._turns

    def note_wrong(self, address: str, now_s: float) -> None:
        """Remember that a password from this address was wrong."""
        self._guesses.suspect(address, now_s + GUESSED_S)

    def has_guessed(self, address: str, now_s: float) -> bool:
        """Tell whether a password from this address was wrong in the last ten minutes."""
        # A later end was noted by another clock: the machine has started again since.
        return now_s < self._guesses.until_s(address) <= now_s + GUESSED_S
