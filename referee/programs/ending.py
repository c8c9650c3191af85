# SPDX-License-Identifier: Apache-2.0
"""The end of an event on purpose: not by a closed window, and not by one Ctrl-C in a session."""

from __future__ import annotations

import logging
import math
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from types import FrameType

from referee.errors import RefereeError
from referee.programs.terminal import tell_on_terminal
from referee.service.preflight.contest_checks import under_way
from referee.service.setup.config import Config
from referee.service.setup.contest import open_contest
from referee.store.database import Database
from referee.store.notices import insert_notice

AGAIN_S = 10.0
"""A second Ctrl-C within this time is meant."""

_END_S = 10.0
_log = logging.getLogger(__name__)


class Asking:
    """The rule for Ctrl-C: it ends what nobody needs at once, and a session only when repeated."""

    def __init__(self) -> None:
        self._asked_s = -math.inf

    def ends(self, busy: bool, now_s: float) -> bool:
        """Tell whether a Ctrl-C at this moment ends the event; if not, the next one may."""
        if not busy or now_s - self._asked_s < AGAIN_S:
            return True
        self._asked_s = now_s
        return False


@contextmanager
def ended_on_purpose(config: Config) -> Iterator[None]:
    """Let an event go on when its window is closed, and ask back at Ctrl-C during a session.

    The thread `wishes` answers the signals, because an answer reads the database. SIGTERM is left
    alone: it ends the event in order, and so does Ctrl-C in the end.
    """
    wishes: queue.SimpleQueue[int] = queue.SimpleQueue()

    def wish(number: int, frame: FrameType | None) -> None:
        wishes.put(number)

    # A program that nohup started ignores SIGHUP, and must go on ignoring it.
    numbers = [signal.SIGINT, signal.SIGHUP]
    numbers = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
    before = {number: signal.signal(number, wish) for number in numbers}
    thread = threading.Thread(target=_answer, args=(config, wishes.get), name="wishes", daemon=True)
    thread.start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        wishes.put(0)
        thread.join(_END_S)


def _answer(config: Config, next_wish: Callable[[], int]) -> None:
    """Answer one signal after the other, until 0 comes or the event ends."""
    asking = Asking()
    while (number := next_wish()) != 0:
        if number == signal.SIGHUP:
            _outlive_window(config)
            continue
        busy = _busy(config)
        if asking.ends(bool(busy), time.monotonic()):
            main = threading.main_thread().ident
            if main is not None:
                signal.pthread_kill(main, signal.SIGTERM)
            return
        tell_on_terminal(
            f"{busy} Without the referee it gets no image and no answer is taken. Press Ctrl-C "
            f"again within {AGAIN_S:.0f} s to end the referee all the same."
        )


def _busy(config: Config) -> str:
    """Return a sentence about a session that an end would harm, or ''."""
    if not config.database.exists():
        return ""
    try:
        contest = open_contest(config, read_only=True)
        try:
            return under_way(contest)
        finally:
            contest.database.close()
    except RefereeError as error:
        return f"Nobody can tell whether a session runs ({error})."
    except Exception:
        _log.exception("the records cannot be read")  # They are not made yet, or are damaged.
        return ""


def _outlive_window(config: Config) -> None:
    """Go on without a window, and say on the console how the event is ended."""
    text = (
        "The window of the referee was closed. The event carries on. To end it, run on the laptop: "
        f"kill {os.getpid()}"
    )
    _log.warning("%s", text)
    with suppress(RefereeError):
        database = Database(config.database)
        try:
            with database.write() as connection:
                insert_notice(connection, None, datetime.now(UTC).isoformat(), "info", text)
        finally:
            database.close()
