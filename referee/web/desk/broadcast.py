# SPDX-License-Identifier: Apache-2.0
"""The broadcast of the board: it is computed once and sent to every open page."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

from referee.service.desk.watched_thread import WatchedThread

# Twice a second is smooth enough, because the page itself counts down between two boards.
_INTERVAL_S = 0.5
# The server notices only when it sends something that a page has gone away.
_SIGN_OF_LIFE_S = 5.0
_CLOSE_S = 10.0

_FULL = (
    "retry: 5000\nevent: full\n"
    'data: {"text": "Too many pages are open: close one. This page tries again by itself."}\n\n'
)
_TROUBLE = {"text": "The desk cannot read its own records; its log says why."}

_log = logging.getLogger(__name__)


class Broadcast:
    """The publisher of the board: its thread `board` works twice a second while a page is open.

    `viewers_most` bounds the number of open pages, because each holds a thread of the server.
    `tell` gets a sentence when the thread has died, before the thread is restarted.
    """

    def __init__(
        self,
        compute: Callable[[], dict[str, Any]],
        viewers_most: int,
        tell: Callable[[str], object] = lambda text: None,
    ) -> None:
        self._compute = compute
        self._viewers_most = viewers_most
        self._viewers = 0
        self._changed = threading.Condition()
        self._number = 0
        self._event = ""
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

    def publish_now(self) -> None:
        """Publish without waiting for the next turn, after an operator's action."""
        self._publish()

    def stream(self) -> Generator[str, None, None]:
        """Yield server-sent events until the page goes away.

        The events are `board`, or `trouble` if the board cannot be computed. If no place is free,
        the only event is `full`. A stream takes a place when the server asks for its first event,
        so a stream that nobody reads takes none.
        """
        with self._changed:
            if self._viewers >= self._viewers_most:
                seen = None
            else:
                # The first viewer waits for a new board, because the last one may be hours old.
                seen = self._number if self._viewers == 0 else -1
                self._viewers += 1
                self._changed.notify_all()
        if seen is None:
            yield _FULL
            return
        try:
            yield from self._events(seen)
        finally:
            with self._changed:
                self._viewers -= 1

    def _events(self, seen: int) -> Iterator[str]:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopping.is_set() or self._number != seen,  # noqa: B023
                    timeout=_SIGN_OF_LIFE_S,
                )
                if self._stopping.is_set():
                    return
                number, event = self._number, self._event
            yield ": still here\n\n" if number == seen else f"id: {number}\n{event}"
            seen = number

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping.is_set() or self._viewers > 0)
                if self._stopping.is_set():
                    return
            self._publish()
            with self._changed:
                self._changed.wait_for(self._stopping.is_set, timeout=_INTERVAL_S)

    def _publish(self) -> None:
        try:
            name, text = "board", json.dumps(self._compute(), allow_nan=False)
        except Exception:
            # The pages keep the last board and say that it is old.
            _log.exception("the board could not be computed")
            name, text = "trouble", json.dumps(_TROUBLE)
        with self._changed:
            self._number += 1
            self._event = f"event: {name}\ndata: {text}\n\n"
            self._changed.notify_all()
