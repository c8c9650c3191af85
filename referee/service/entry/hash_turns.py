# SPDX-License-Identifier: Apache-2.0
"""The turns of password hashes: one at a time in a process, and guesses behind all others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from referee.errors import Refusal
from referee.service.entry.login_line import LoginLine, WaitingLogin
from referee.service.entry.machine_turn import MachineTurn

# How long somebody waits for a turn. The clients of contestants wait for half a minute.
_WAIT_S = 20.0
# Another process holds the machine's turn: whoever is next looks again after this time.
_LOOK_S = 0.01
# A process that stands still keeps its turn. An address without a guess waits so long for it.
_STALLED_S = 2.0
# The longest line where nobody says another length.
_ANY = 1000


@dataclass(eq=False)
class _CalledLogin(WaitingLogin):
    """Somebody in the line; `called` wakes the thread that waits, and it looks where it stands."""

    called: threading.Event = field(default_factory=lambda: threading.Event())
    out: bool = False


class HashTurns:
    """The turns of a process; safe to use from many threads.

    `machine` is the turn of all processes; without it this process is the only one.
    """

    def __init__(
        self,
        seconds: Callable[[], float] = time.monotonic,
        machine: MachineTurn | None = None,
        most: int = _ANY,
    ) -> None:
        self._seconds = seconds
        self._machine = machine
        self._line = LoginLine(most, machine)
        self._lock = threading.Lock()
        self._taken = False

    @contextmanager
    def turn(self, address: str, name: str) -> Iterator[None]:
        """Wait for a turn of this address with this name, and hold it during the block.

        Raises `Refusal` (code `login_busy`) if none comes in time, or if too many wait.
        """
        mine = _CalledLogin(address, name)
        with self._lock:
            last = self._line.join(mine, self._seconds())
            if isinstance(last, _CalledLogin):
                last.out = True
                last.called.set()
            self._call_next()
        try:
            self._wait(mine)
        except BaseException:
            with self._lock:
                self._line.leave(mine, served=False)
                self._end_turn(taken=self._taken)
            raise
        try:
            yield
        finally:
            with self._lock:
                self._end_turn(taken=False)

    def note_wrong(self, address: str) -> None:
        """Let this address stand behind the others from now on."""
        with self._lock:
            self._line.note_wrong(address, self._seconds())

    def _wait(self, mine: _CalledLogin) -> None:
        """Return when the turn has come."""
        begun_s = self._seconds()
        until_s, called_s = begun_s + _WAIT_S, None
        while True:
            with self._lock:
                now_s = self._seconds()
                if mine.out or now_s >= until_s:
                    raise _busy()
                mine.called.clear()
                is_next = not self._taken and self._line.next(now_s) is mine
                if is_next:
                    called_s = now_s if called_s is None else called_s
                    if self._take(mine, stalled=now_s - called_s >= _STALLED_S):
                        return
            mine.called.wait(_LOOK_S if is_next else until_s - now_s)

    def _take(self, mine: _CalledLogin, *, stalled: bool) -> bool:
        alone = self._line.has_guessed(mine.address, self._seconds())
        if self._machine is not None and not self._machine.take(alone=alone):
            if alone or not stalled:
                return False
        self._line.leave(mine, served=True)
        self._taken = True
        return True

    def _end_turn(self, *, taken: bool) -> None:
        """Call the next one, unless somebody else has the turn still."""
        self._taken = taken
        if self._machine is not None and not taken:
            self._machine.give_back()
        self._call_next()

    def _call_next(self) -> None:
        """Wake whoever is next; the others sleep on."""
        if self._taken:
            return
        following = self._line.next(self._seconds())
        if isinstance(following, _CalledLogin):
            following.called.set()


def _busy() -> Refusal:
    return Refusal(
        "login_busy", "Too many passwords are tried at the moment: wait a second, then try again."
    )
