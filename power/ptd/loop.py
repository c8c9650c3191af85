# SPDX-License-Identifier: Apache-2.0
"""The thread that owns a session: it samples in time, and answers one request after the other."""

from __future__ import annotations

import logging
import math
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from dataclasses import dataclass, field

from power.ptd.session import PtdSession

_log = logging.getLogger(__name__)

LONGEST_ANSWER_S = 60.0
"""A request that has no answer after this time gets one that says so."""

_SLOW = f"Error: the meter did not answer within {LONGEST_ANSWER_S:g} s"
_ENDING = "Error: this program is ending"
# Requests of all clients that wait; each client has one at a time.
_MOST_WAITING = 64


@dataclass
class _Asked:
    """A request, and when it waits no longer for a sample."""

    line: str
    answer: Future[list[str]] = field(default_factory=Future)
    until_s: float = math.inf


class SessionThread:
    """A session in a thread of its own, named `ptd-session`.

    It ends when `stop` is called, or when the session raises what it must not; then `broken` holds
    that error, and each request gets an answer that says so.
    """

    def __init__(self, session: PtdSession, clock: Callable[[], float]) -> None:
        self._session = session
        self._clock = clock
        self._inbox: queue.Queue[_Asked | None] = queue.Queue(_MOST_WAITING)
        self._waiting: list[_Asked] = []
        self._thread = threading.Thread(target=self._run, name="ptd-session", daemon=True)
        self.broken: BaseException | None = None

    def start(self) -> None:
        """Begin to take samples and to answer."""
        self._thread.start()

    def ask(self, line: str) -> list[str]:
        """Return the lines that answer a request, after `LONGEST_ANSWER_S` at most."""
        asked = _Asked(line)
        try:
            self._inbox.put(asked, timeout=LONGEST_ANSWER_S)
            return asked.answer.result(LONGEST_ANSWER_S if self.alive() else 0.0)
        except (queue.Full, NoAnswer):
            return [_SLOW if self.alive() else _ENDING]

    def alive(self) -> bool:
        """Tell whether the thread runs."""
        return self._thread.is_alive()

    def stop(self, seconds: float) -> bool:
        """Ask the thread to end; return whether it has ended within so many seconds."""
        with suppress(queue.Full):
            self._inbox.put_nowait(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        """Wait for the end of the thread, so long at most."""
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while self._turn():
                pass
            self._session.close()
        except BaseException as error:  # noqa: B036  the owner of this thread reads it
            _log.exception("the session has ended by an error")
            self.broken = error
        finally:
            self._dismiss()

    def _turn(self) -> bool:
        """Take the sample that is due, or else one request; return False at the end."""
        if self._session.due_s <= self._clock():
            self._session.step()
            self._look_again()
            return True
        try:
            asked = self._inbox.get(timeout=self._pause_s())
        except queue.Empty:
            self._look_again()
            return True
        if asked is None:
            return False
        asked.until_s = self._clock() + self._session.patience_s
        self._try(asked)
        return True

    def _pause_s(self) -> float | None:
        """Return the time to the next sample, or to the end of a wait for one; None is for ever."""
        next_s = min([self._session.due_s, *(asked.until_s for asked in self._waiting)])
        return None if next_s == math.inf else max(0.0, next_s - self._clock())

    def _look_again(self) -> None:
        """Answer the requests that a new sample, or the end of their wait, has made answerable."""
        waiting, self._waiting = self._waiting, []
        for asked in waiting:
            self._try(asked)

    def _try(self, asked: _Asked) -> None:
        lines = self._session.answer(asked.line, last=self._clock() >= asked.until_s)
        if lines is None:
            self._waiting.append(asked)
        else:
            asked.answer.set_result(lines)

    def _dismiss(self) -> None:
        """Answer everybody who waits: there is nobody left to carry requests out."""
        left = self._waiting
        with suppress(queue.Empty):
            while True:
                asked = self._inbox.get_nowait()
                left += [asked] if asked is not None else []
        for asked in left:
            with suppress(InvalidStateError):
                asked.answer.set_result([_ENDING])
