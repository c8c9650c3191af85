# SPDX-License-Identifier: Apache-2.0
"""The endless answers: the stream of events to open pages, and the feed to programs.

All of them wait for the same news, which one thread makes and encodes. No reader causes a query,
and the connection bounds a reader that takes too little (`referee/web/server/connection.py`).
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

from referee.core.blocking import BlockingRunner
from referee.service.scoreboard.feed import FeedPlace, lines_after
from referee.service.scoreboard.publisher import PublicSnapshot
from referee.web.server.numbered import NumberedStates
from referee.web.server.pieces import Piece, in_plain

# The public sees each change within a second: it waits at most half of one here.
_INTERVAL_S = 0.5
# A page that hears nothing for some of these says that the connection is lost.
_ALIVE_S = 5.0
# The contest API wants a newline at least every 120 s; 110 leaves time for the way.
_FEED_ALIVE_S = 110.0
_FIRST_S = 10.0
_CLOSE_S = 5.0
_NOTHING = Piece(b"")
_RETRY = Piece(b"retry: 2000\n\n")
_ALIVE = Piece(b"event: alive\ndata: {}\n\n")
_TROUBLE = Piece(b"event: trouble\ndata: {}\n\n")

Flush = Callable[[], None]

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Newest(Generic[T]):
    """A value that one thread puts and any number wait for; only another value wakes them.

    It is None until the first `put`.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._value: T | None = None
        self._closed = False

    def put(self, value: T) -> None:
        """Replace the value, and wake all who wait, unless it equals the one before."""
        with self._changed:
            if value != self._value:
                self._value = value
                self._changed.notify_all()

    def close(self) -> None:
        """Wake all who wait; from now on nobody waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def other_than(self, seen: T | None, timeout_s: float) -> T | None:
        """Wait for a value that is another object than `seen`; return the newest in any case."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._value is not seen, timeout_s)
            return self._value


class SnapshotMaker(Protocol):
    """The maker of snapshots: of one event, or of a joint board."""

    def refresh(self) -> PublicSnapshot:
        """Return the newest snapshot."""
        ...


@dataclass(frozen=True)
class _News:
    """What the pages are told now: three events, and whether the database cannot be read."""

    view: Piece
    live: Piece
    race: Piece
    trouble: bool

    def after(self, seen: _News | None) -> list[Piece]:
        """Return what a page lacks that has got `seen`; without news, a sign of life."""
        now = (self.view, self.live, self.race)
        old = (_NOTHING,) * 3 if seen is None else (seen.view, seen.live, seen.race)
        news = [event for event, before in zip(now, old, strict=True) if event != before]
        return news or [_TROUBLE if self.trouble else _ALIVE]


class Streams:
    """The snapshot that everybody shares; its thread `publisher` makes it twice a second.

    `run_blocking` runs the queries without delaying readers.
    """

    def __init__(self, publisher: SnapshotMaker, run_blocking: BlockingRunner) -> None:
        self._publisher = publisher
        self._run_blocking = run_blocking
        self._snapshot: PublicSnapshot | None = None
        self._states = NumberedStates()
        self._parts: dict[str, tuple[str, Any]] = {}
        self._news: Newest[_News] = Newest()
        self._published: Newest[PublicSnapshot] = Newest()
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

    def snapshot(self) -> PublicSnapshot | None:
        """Return the newest snapshot; None if the database cannot be read since the start."""
        self._news.other_than(None, _FIRST_S)
        return self._snapshot

    def events(self, flush: Flush) -> Iterator[bytes]:
        """Yield the events of `wholes` as they are."""
        return in_plain(self.wholes(flush))

    def wholes(self, flush: Flush) -> Iterator[Piece]:
        """Yield server-sent events: `view`, `live`, `race` with each change, else `alive`.

        `flush` sends what was yielded. If the database cannot be read, `trouble` comes instead of
        `alive`.
        """
        yield _RETRY
        seen: _News | None = None
        while not self._stopping.is_set():
            flush()
            news = self._news.other_than(seen, _ALIVE_S)
            if news is not None:
                yield _joined(tuple(news.after(seen)))
            seen = news

    def differences(self, since: str, flush: Flush) -> Iterator[Piece]:
        """Yield the same news as events of numbered states: `whole` once, then `change`.

        `since` is the number of the state that the page has; '' if it has none.
        """
        yield _RETRY
        seen: _News | None = None
        while not self._stopping.is_set():
            flush()
            seen = self._news.other_than(seen, _ALIVE_S)
            if seen is not None and self._states.newest:
                is_old = since != self._states.newest
                since, event = self._states.after(since)
                yield _TROUBLE if seen.trouble and not is_old else event
            elif seen is not None:
                yield _TROUBLE

    def feed(self, place: FeedPlace, flush: Flush) -> Iterator[str]:
        """Yield the feed's lines after a place, and a newline when nothing has come for long."""
        seen, spoke_s = None, time.monotonic()
        while not self._stopping.is_set():
            flush()
            left_s = spoke_s + _FEED_ALIVE_S - time.monotonic()
            seen = self._published.other_than(seen, max(0.0, left_s))
            lines, place = ([], place) if seen is None else lines_after(seen, place)
            if lines or time.monotonic() - spoke_s >= _FEED_ALIVE_S:
                spoke_s = time.monotonic()
                yield "".join(lines) or "\n"

    def look(self) -> PublicSnapshot:
        """Make the newest snapshot now, as the thread does, and return it."""
        snapshot = self._run_blocking(self._publisher.refresh)
        self._publish(snapshot)
        return snapshot

    def _run(self) -> None:
        trouble = False
        while not self._stopping.is_set():
            try:
                self.look()
                trouble = False
            except Exception:
                # The disk or the database fails. The pages keep what they have and say so. The log
                # tells the first failure of a series, not two each second.
                if not trouble:
                    _log.exception("the scoreboard cannot read the event's records")
                trouble = True
                self._news.put(_news_of(self._snapshot, trouble))
            self._stopping.wait(_INTERVAL_S)
        self._news.close()
        self._published.close()

    def _publish(self, snapshot: PublicSnapshot) -> None:
        old, self._snapshot = self._snapshot, snapshot
        if old is None or snapshot.publication != old.publication:
            self._published.put(snapshot)
        texts = {"view": _keyed(snapshot), "live": snapshot.live, "race": snapshot.race}
        self._states.put({name: self._part(name, text) for name, text in texts.items()})
        self._news.put(_news_of(snapshot, False))

    def _part(self, name: str, text: str) -> Any:
        """Return what a text says; of one that stays the same, the same object."""
        if name not in self._parts or self._parts[name][0] != text:
            self._parts[name] = (text, json.loads(text))
        return self._parts[name][1]


@lru_cache(maxsize=8)
def _joined(events: tuple[Piece, ...]) -> Piece:
    """Return events as one piece; all pages that lack the same ones share it."""
    return Piece(b"".join(event.plain for event in events))


def _keyed(snapshot: PublicSnapshot) -> str:
    return f'{{"key": "{snapshot.key}", "view": {snapshot.view}}}'


def _news_of(snapshot: PublicSnapshot | None, trouble: bool) -> _News:
    if snapshot is None:
        return _News(_NOTHING, _NOTHING, _NOTHING, trouble)
    texts = {"view": _keyed(snapshot), "live": snapshot.live, "race": snapshot.race}
    view, live, race = (
        Piece(f"event: {name}\ndata: {text}\n\n".encode()) for name, text in texts.items()
    )
    return _News(view, live, race, trouble)
