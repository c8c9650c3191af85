# SPDX-License-Identifier: Apache-2.0
"""The broadcast of the board: it is computed once and sent to every open page."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

from msgspec import to_builtins

from referee.core.changes import is_same
from referee.service.desk.watched_thread import WatchedThread
from referee.web.server.numbered import NumberedStates, sent_event
from referee.web.server.pieces import Piece

# Twice a second is smooth enough, because the page itself counts down between two boards.
_INTERVAL_S = 0.5
# A page that hears nothing for some of these says that the desk does not answer.
_ALIVE_S = 1.0
_CLOSE_S = 10.0

_AGAIN = Piece(b"retry: 5000\n")
_FULL = Piece(
    _AGAIN.plain
    + sent_event(
        "full",
        {"text": "Too many pages are open: close one. This page tries again by itself."},
    ).plain
)
_TROUBLE = sent_event(
    "trouble", {"text": "The desk cannot read its own records; its log says why."}
)
# A line that no page hears: the server notices only when it sends that a page has gone away.
_UNHEARD = Piece(b": still here\n\n")

_ALIVE = sent_event("alive", {})

_log = logging.getLogger(__name__)


def all_of_it(board: object) -> object:
    """Return the whole board: any other one is news."""
    return board


class Broadcast:
    """The publisher of the board: its thread `board` works twice a second while a page is open.

    `viewers_most` bounds the number of open pages, because each holds a thread of the server.
    `tell` gets a sentence when the thread has died, before the thread is restarted. `steady`
    returns what of a board is news: boards in which it is equal are sent once.
    """

    def __init__(
        self,
        compute: Callable[[], object],
        viewers_most: int,
        tell: Callable[[str], object] = lambda text: None,
        steady: Callable[[Any], object] = all_of_it,
    ) -> None:
        self._compute = compute
        self._steady = steady
        self._viewers_most = viewers_most
        self._viewers = 0
        self._changed = threading.Condition()
        self._states = NumberedStates()
        self._told: Any = None
        self._whole = _UNHEARD
        self._trouble = False
        # How often there were news, and how often the board was computed without a fault.
        self._news = 0
        self._looks = 0
        self._stopping = threading.Event()
        self._thread = WatchedThread("board", self._run, self._stopping, tell)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Tell the open streams and the thread to end; a signal handler may call this."""
        with self._changed:
            self._stopping.set()
            self._changed.notify_all()

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        self.stop()
        self._thread.join(_CLOSE_S)

    def stream(self, since: str | None = None) -> Generator[Piece, None, None]:
        """Yield server-sent events until the page goes away.

        A page that says the number of the state that it holds, or '' for none, gets `whole` once
        and then `change`. Without a number each event is a whole `board`. While nothing is new,
        `alive` comes each second; `trouble` comes if the board cannot be computed. If no place is
        free, the only event is `full`. A stream takes a place when the server asks for its first
        event, so a stream that nobody reads takes none.
        """
        with self._changed:
            has_place = self._viewers < self._viewers_most
            if has_place:
                # The first viewer waits for a new board, because the last one may be hours old.
                seen = (self._news, self._looks) if self._viewers == 0 else (-1, -1)
                self._viewers += 1
                self._changed.notify_all()
        if not has_place:
            yield _FULL
            return
        try:
            yield from self._events(since, *seen)
        finally:
            with self._changed:
                self._viewers -= 1

    def _events(self, since: str | None, news: int, looks: int) -> Iterator[Piece]:
        whole: Piece | None = None
        while True:
            with self._changed:
                self._wait_for_news(news, looks if whole is None else None)
                if self._stopping.is_set():
                    return
                computed, news, looks = self._looks != looks, self._news, self._looks
                trouble, newest = self._trouble, self._whole
            if trouble:
                yield _TROUBLE
            elif not (computed and self._states.newest):
                yield _UNHEARD  # Nobody has looked, so nobody may say that nothing is new.
            elif since is not None:
                since, event = self._states.after(since)
                yield event
            else:
                yield newest if newest is not whole else _ALIVE
            whole = newest

    def _wait_for_news(self, news: int, looks: int | None) -> None:
        """Wait for news, for the end, or for a second; `looks` waits for any board instead."""
        self._changed.wait_for(
            lambda: (
                self._stopping.is_set()
                or self._news != news
                or (looks is not None and self._looks != looks)
            ),
            timeout=_ALIVE_S,
        )

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping.is_set() or self._viewers > 0)
                if self._stopping.is_set():
                    return
            self.publish_now()
            with self._changed:
                self._changed.wait_for(self._stopping.is_set, timeout=_INTERVAL_S)

    def publish_now(self) -> None:
        """Publish without waiting for the next turn, after an operator's action."""
        try:
            # What is kept is a copy: parts of a board may be shared with those who go on writing.
            board = self._compute()
            whole = to_builtins(board, str_keys=True)
            json.dumps(whole, allow_nan=False)  # No NaN reaches a page: it would stop its script.
            news = to_builtins(self._steady(board), str_keys=True)
        except Exception:
            # The pages keep the last board and say that it is old.
            _log.exception("the board could not be computed")
            with self._changed:
                self._trouble = True
                self._news += 1
                self._changed.notify_all()
            return
        with self._changed:
            if self._trouble or not is_same(news, self._told):
                self._states.put(whole)
                self._told = news
                self._whole = sent_event("board", whole, self._states.newest)
                self._news += 1
            self._trouble = False
            self._looks += 1
            self._changed.notify_all()
