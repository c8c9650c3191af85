# SPDX-License-Identifier: Apache-2.0
"""The turns of one worker's greenlets, and its places for work in threads: both by address.

A greenlet that has a request runs on until it waits. Without turns all that are ready would run
one after the other before anybody looks at the sockets again, and an address with a hundred
connections would have a hundred requests served between two of everybody else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import gevent

from referee.service.setup.clock import elapsed_s
from referee.web.server.turn_line import IN_A_ROW, Rank, TurnLine

FIRST_S = 60.0
"""How long a connection and its address go first after a request of the running session."""

# Before and after the sockets' callbacks of one look, which have libev's priority 0.
_BEFORE_SOCKETS = 2
_AFTER_SOCKETS = -2
_MOST_FIRST = 64


class FirstAddresses:
    """The addresses of the running session, as far as this worker has seen requests of it."""

    def __init__(self) -> None:
        self._until_s: dict[str, float] = {}

    def prefer(self, address: str, until_s: float) -> None:
        """Let an address go first until this moment."""
        if address not in self._until_s and len(self._until_s) >= _MOST_FIRST:
            self._until_s.clear()
        self._until_s[address] = until_s

    def include(self, address: str, now_s: float) -> bool:
        """Tell whether an address goes first now."""
        return self._until_s.get(address, 0.0) > now_s


class Party:
    """Whose turn it is: a connection and its address. The server itself, without one, is first."""

    def __init__(self, address: str = "", first: FirstAddresses | None = None) -> None:
        self.address = address
        self._addresses = first
        self._first_until_s = 0.0

    def belong_to(self, address: str) -> None:
        """Count the connection at another address: a trusted proxy passes on somebody else."""
        if address != self.address:
            self.address, self._first_until_s = address, 0.0

    def go_first(self) -> None:
        """Let this connection and its address go first for a while."""
        self._first_until_s = time.monotonic() + FIRST_S
        if self._addresses is not None:
            self._addresses.prefer(self.address, self._first_until_s)

    def rank(self) -> Rank:
        """Return the rank now."""
        now_s = time.monotonic()
        if self._addresses is None or now_s < self._first_until_s:
            return Rank.SESSION
        return Rank.ITS_ADDRESS if self._addresses.include(self.address, now_s) else Rank.OTHERS


PRESENT: ContextVar[Party] = ContextVar("present_party")
"""The party whose connection the present greenlet serves."""

_SERVER = Party()


def let_go_first(environ: Mapping[str, object]) -> None:
    """Let the connection of a request and its address go first: it has a running session's token.

    Under a worker of threads there are no turns.
    """
    party = getattr(environ.get("gunicorn.socket"), "party", None)
    if isinstance(party, Party):
        party.go_first()


class Turns:
    """The turns of a worker: one between two looks at the sockets, or a few of a running session.

    Where nobody waits, a turn costs a comparison. All calls come from greenlets of one thread.
    `looked_s` is when the worker looked last, on the sessions' clock, and `looked_before_s` when it
    did before: what a connection had to wait for until the last look was missing then.
    """

    def __init__(self) -> None:
        self._hub: Any = gevent.get_hub()
        self._line: TurnLine[Any] = TurnLine()
        self._taken_in, self._taken = -1, 0
        loop = self._hub.loop
        # A timer of no time runs at the next look at the sockets.
        self._next_look = loop.timer(0.0)
        self._next_look.priority = _AFTER_SOCKETS
        self.looked_s = self.looked_before_s = -math.inf
        self._watch = loop.check(ref=False)
        self._watch.priority = _BEFORE_SOCKETS
        self._watch.start(self._note_look)

    def take(self, party: Party) -> None:
        """Return when it is this party's turn, which lasts until its greenlet waits again."""
        if not self._line and self._is_free(party):
            return
        present = gevent.getcurrent()
        self._line.join(present, party.address, party.rank())
        self._call_at_next_look()
        try:
            self._hub.switch()
        except BaseException:
            self._line.leave(present)
            raise

    def _is_free(self, party: Party) -> bool:
        """Take a turn of the present look if there is one: a running session has several."""
        look = self._hub.loop.iteration
        if look != self._taken_in:
            self._taken_in, self._taken = look, 1
            return True
        if self._taken >= IN_A_ROW or party.rank() is not Rank.SESSION:
            return False
        self._taken += 1
        return True

    def _note_look(self) -> None:
        self.looked_before_s, self.looked_s = self.looked_s, elapsed_s()

    def _call_at_next_look(self) -> None:
        if self._line and not self._next_look.active:
            self._next_look.start(self._call)

    def _call(self) -> None:
        """Let the next ones run, and look at the sockets before those after them."""
        self._taken_in, self._taken = self._hub.loop.iteration, 0
        while self._line and self._taken < IN_A_ROW:
            self._taken += 1
            self._line.next().switch()
            if self._line.best() is not Rank.SESSION:
                break
        self._call_at_next_look()


class Places:
    """Room for so much work at once; who waits for a place has it by address, too.

    The worker's greenlets alone may call this.
    """

    def __init__(self, most: int) -> None:
        self._hub: Any = gevent.get_hub()
        self._free = most
        self._line: TurnLine[Any] = TurnLine()

    @contextmanager
    def held(self, most_s: float | None = None) -> Iterator[None]:
        """Wait for a place, and hold it during the block, or for `most_s` of it."""
        self._take()
        # Whoever comes first gives the place back: the end of the block, or the timer.
        holds = [True]

        def give_back() -> None:
            if holds:
                holds.clear()
                self._give_back()

        timer = self._hub.loop.timer(0.0 if most_s is None else most_s)
        if most_s is not None:
            timer.start(give_back)
        try:
            yield
        finally:
            timer.close()
            give_back()

    def _take(self) -> None:
        if self._free:
            self._free -= 1
            return
        present, party = gevent.getcurrent(), PRESENT.get(_SERVER)
        self._line.join(present, party.address, party.rank())
        try:
            self._hub.switch()
        except BaseException:
            self._line.leave(present)
            raise

    def _give_back(self) -> None:
        """Hand the place on, or keep it free."""
        if self._line:
            self._hub.loop.run_callback(self._line.next().switch)
        else:
            self._free += 1
