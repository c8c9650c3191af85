# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and a closed terminal: ask for an end, then insist, always in bounded time."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from power.clock import real_elapsed_s
from power.signal_flag import SignalFlag

# A closed terminal is a wish to end, too. Windows has no SIGHUP.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_LOOK_S = 0.05

LAST_S = 1.6
"""So long after a wish for an end the talk with a lost meter is over."""


class _Early:
    """Whether somebody has wanted the end before a command could listen."""

    asked = False


_early = _Early()


class Interrupt:
    """A wish to end, made by a signal; the second wish is an order.

    `asked_s` is the monotonic time of the first wish, infinite before it. While `abort` is true,
    `sleep` raises KeyboardInterrupt at the first wish: nothing is lost yet.
    """

    def __init__(self) -> None:
        self.abort = True
        self.asked_s = math.inf
        self._asked = SignalFlag()
        self._ordered = SignalFlag()
        if _early.asked:
            self.ask()

    @property
    def ordered(self) -> bool:
        """Tell whether somebody asked twice."""
        return self._ordered.is_set()

    def asked(self) -> bool:
        """Tell whether somebody asked for the end."""
        return self._asked.is_set()

    def since_s(self) -> float:
        """Return since when somebody wants the end; an order means since ever."""
        return -math.inf if self.ordered else self.asked_s

    def ask(self) -> None:
        """Ask for the end; the second time, order it."""
        if self._asked.is_set():
            self._ordered.set()
        else:
            self.asked_s = real_elapsed_s()
        self._asked.set()

    def sleep(self, seconds: float) -> None:
        """Sleep; the first wish for an end ends the sleep at which it comes."""
        if self._asked.is_set():
            if self.abort:
                raise KeyboardInterrupt
            time.sleep(seconds)
        elif self._asked.wait(seconds) and self.abort:
            raise KeyboardInterrupt


@contextmanager
def listening(answer: Callable[[], object]) -> Iterator[None]:
    """Call `answer` for each signal that asks for an end; only in the main thread."""
    with listening_by_number(lambda number: answer()):
        yield


@contextmanager
def listening_by_number(answer: Callable[[int], object]) -> Iterator[None]:
    """Call `answer` with the number of each signal that asks for an end; see `listening`."""

    def handle(number: int, frame: FrameType | None) -> None:
        answer(number)

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    # A program that nohup started ignores SIGHUP, and must go on ignoring it.
    numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def raise_interrupt() -> None:
    """Answer a signal with KeyboardInterrupt, and remember it.

    Python drops one that comes while it calls back, as at the end of an import.
    """
    _early.asked = True
    raise KeyboardInterrupt


def raise_if_dropped() -> None:
    """Raise KeyboardInterrupt if `raise_interrupt` has, and the program goes on all the same."""
    if _early.asked:
        raise KeyboardInterrupt


def forget_dropped() -> None:
    """Forget what `raise_interrupt` remembers, when a command has ended."""
    _early.asked = False


class _Thread(threading.Thread):
    """The thread of a job."""


def hanging() -> bool:
    """Tell whether a job hangs in a call that would hold an ordinary exit of the program."""
    return any(isinstance(thread, _Thread) for thread in threading.enumerate())


class Job:
    """A job in a thread of its own, so that no call that hangs can hold the program."""

    def __init__(self, work: Callable[[], object], name: str) -> None:
        self._work = work
        self._error: BaseException | None = None
        # A daemon, because a thread that hangs in a driver must not keep the program alive.
        self._thread = _Thread(target=self._run, name=name, daemon=True)

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: B036  `wait` raises it again
            self._error = error

    def wait(
        self,
        gives_up_s: Callable[[], float],
        ordered: Callable[[], bool],
        look: Callable[[], object] = lambda: None,
    ) -> bool:
        """Start the job and wait; return whether it has ended, and raise its error.

        It counts as hanging after `gives_up_s()` on the monotonic clock, or once `ordered` says so.
        `look` is called again and again meanwhile.
        """
        self._thread.start()
        while self._thread.is_alive():
            self._thread.join(_LOOK_S)
            look()
            if ordered() or real_elapsed_s() > gives_up_s():
                break
        if self._thread.is_alive():
            return False
        if self._error is not None:
            raise self._error
        return True


def leave(code: int) -> NoReturn:
    """End the program at once, even if a job hangs in a call.

    All files are closed by then. Python's own way out takes 0.1 s, and 0.8 s on a busy machine: too
    long for somebody who wants the end.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
