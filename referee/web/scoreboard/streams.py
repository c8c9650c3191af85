# SPDX-License-Identifier: Apache-2.0
"""The endless answers: the stream of events to open pages, and the feed to programs.

All of them wait for the same snapshot, which one thread makes. No reader causes a query, and the
connection bounds a reader that takes too little (`referee/web/server/connection.py`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

from referee.core.aside import Aside
from referee.service.scoreboard.feed import Place, lines_after
from referee.service.scoreboard.publisher import Publisher, Snapshot

# The public sees each change within a second: it waits at most half of one here.
_INTERVAL_S = 0.5
# A stream looks this often whether the server ends.
_LOOK_S = 1.0
# A page that hears nothing for some of these says that it has no news.
_ALIVE_S = 5.0
# The contest API wants a newline at least every 120 s; 110 leaves time for the way.
_FEED_ALIVE_S = 110.0
_FIRST_S = 10.0
_CLOSE_S = 5.0

Flush = Callable[[], None]

_log = logging.getLogger(__name__)


class Streams:
    """The snapshot that everybody shares; its thread `publisher` makes it twice a second.

    `aside` runs the queries without delaying readers.
    """

    def __init__(self, publisher: Publisher, aside: Aside) -> None:
        self._publisher = publisher
        self._aside = aside
        self._changed = threading.Condition()
        self._snapshot: Snapshot | None = None
        self._trouble = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="publisher", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Let all streams and the thread end; a signal handler may call this."""
        self._stopping.set()

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        self.stop()
        self._thread.join(_CLOSE_S)

    def snapshot(self) -> Snapshot | None:
        """Return the newest snapshot; None if the database cannot be read since the start."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._snapshot is not None or self._trouble, timeout=_FIRST_S
            )
            return self._snapshot

    def events(self, flush: Flush) -> Iterator[str]:
        """Yield server-sent events: `view` and `live` with each change, else `alive`.

        `flush` sends what was yielded. If the database cannot be read, `trouble` comes instead of
        `alive`.
        """
        yield "retry: 2000\n\n"
        key, live, spoke_s = "", "", time.monotonic()
        seen: Snapshot | None = None
        while not self._stopping.is_set():
            flush()
            seen = self._next(seen)
            if seen is not None and seen.key != key:
                key, spoke_s = seen.key, time.monotonic()
                yield f'event: view\ndata: {{"key": "{key}", "view": {seen.view}}}\n\n'
            if seen is not None and seen.live != live:
                live, spoke_s = seen.live, time.monotonic()
                yield f"event: live\ndata: {live}\n\n"
            if time.monotonic() - spoke_s >= _ALIVE_S:
                spoke_s = time.monotonic()
                yield f"event: {'trouble' if self._trouble else 'alive'}\ndata: {{}}\n\n"

    def feed(self, place: Place, flush: Flush) -> Iterator[str]:
        """Yield the feed's lines after a place, and a newline when nothing has come for long."""
        spoke_s = time.monotonic()
        seen: Snapshot | None = None
        while not self._stopping.is_set():
            flush()
            seen = self._next(seen)
            lines, place = ([], place) if seen is None else lines_after(seen, place)
            if lines:
                yield "".join(lines)
                spoke_s = time.monotonic()
            elif time.monotonic() - spoke_s >= _FEED_ALIVE_S:
                yield "\n"
                spoke_s = time.monotonic()

    def _next(self, seen: Snapshot | None) -> Snapshot | None:
        """Wait a little for a snapshot that differs from `seen`, and return the newest."""
        with self._changed:
            self._changed.wait_for(lambda: self._snapshot is not seen, timeout=_LOOK_S)
            return self._snapshot

    def _refreshed(self) -> Snapshot | None:
        return self._aside(self._publisher.refresh)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                found, trouble = self._refreshed(), False
            except Exception:
                # The disk or the database fails. The pages keep what they have and say so. The log
                # tells the first failure of a series, not two each second.
                if not self._trouble:
                    _log.exception("the scoreboard cannot read the event's records")
                found, trouble = self._snapshot, True
            with self._changed:
                self._snapshot, self._trouble = found, trouble
                self._changed.notify_all()
            self._stopping.wait(_INTERVAL_S)
