# SPDX-License-Identifier: Apache-2.0
"""The control desk's logbook: it stores notices and readings without delaying the desk.

The lines of a meter's log reach the disk before the facts that rest on them.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from power.meter import Reading
from referee.core.instant import Instant, seconds_between
from referee.errors import Unavailable
from referee.service.desk.watched_thread import WatchedThread
from referee.service.setup.contest import Contest
from referee.service.setup.lane_words import lane_words
from referee.store.database import Connection
from referee.store.notices import Level, Notice, Subject, insert_notice
from referee.store.readings import insert_reading
from referee.store.sessions import SessionRecord

_FLUSH_S = 15.0
_CLOSE_S = 10.0
_AGAIN_S = 1.0
_AT_ONCE = 256
# Entries kept in memory while the disk refuses them: half an hour at ten readings a second.
_KEPT_MOST = 20_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Entry:
    """One row on its way to the database: its notice, or the log that must be on the disk first."""

    write: Callable[[Connection], object]
    notice: Notice | None = None
    wire_log: Path | None = None


class Logbook:
    """The queue of the desk's notices and readings on their way to the database.

    Callers do not wait for the disk, because the thread `logbook` writes. If the disk is full or
    fails, the entries stay in memory and are tried again every second. The order is kept.
    """

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._waiting: deque[_Entry] = deque()
        self._left = 0
        self._changed = threading.Condition()
        self._refused = False
        self._stopping = threading.Event()
        self._thread = WatchedThread("logbook", self._run, self._stopping, self.alarm)
        self._thread.start()

    def notify(
        self,
        session_id: int | None,
        level: Level,
        text: str,
        subject: Subject = Subject(),  # noqa: B008 - a frozen value
    ) -> None:
        """Add a notice; it appears on the console and in the evidence."""
        utc = self._contest.clock.now().utc.isoformat()
        place = lane_words(subject.lane or "")
        _log.log(logging.INFO if level == "info" else logging.WARNING, "%s%s", place, text)
        self._add(
            _Entry(
                lambda connection: insert_notice(connection, session_id, utc, level, text, subject),
                Notice(0, session_id, utc, level, text, subject),
            )
        )

    def alarm(self, text: str) -> None:
        """Raise an alarm that belongs to no session."""
        self.notify(None, "alarm", text)

    def keep(self, session: SessionRecord, reading: Reading) -> None:
        """Store a reading of a started session, with its session time."""
        started = session.facts.started
        if started is None:
            return
        boot_id = self._contest.clock.now().boot_id
        elapsed = seconds_between(started, Instant(reading.monotonic_s, reading.utc, boot_id))
        self._add(
            _Entry(
                lambda connection: insert_reading(
                    connection, session.session_id, elapsed, reading, boot_id
                ),
                wire_log=self._contest.config.wire_log_of(session.lane),
            )
        )

    def store(self, write: Callable[[Connection], object]) -> None:
        """Store another fact, after those before it."""
        self._add(_Entry(write))

    def unstored_notices(self) -> list[Notice]:
        """Return the notices that are not on the disk yet, the newest first."""
        with self._changed:
            notices = [entry.notice for entry in self._waiting if entry.notice is not None]
        return notices[::-1]

    def flush(self) -> None:
        """Wait until all entries so far are stored; raise `Unavailable` after 15 seconds."""
        with self._changed:
            # Entries are stored in order, so a count of stored entries is enough.
            last = self._left + len(self._waiting)
            if not self._changed.wait_for(lambda: self._left >= last, _FLUSH_S):
                raise Unavailable(
                    "The referee's disk is full or does not respond: make room on it."
                )

    def close(self) -> None:
        """Store the waiting entries as long as the disk accepts them, and end the thread."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(_CLOSE_S)

    def _add(self, entry: _Entry) -> None:
        with self._changed:
            if len(self._waiting) >= _KEPT_MOST:
                _log.error("too much waits for the disk: a row is dropped")
                return
            self._waiting.append(entry)
            self._changed.notify_all()

    def _run(self) -> None:
        while not self._stopping.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopping.is_set())
            if not self._store_batch():
                self._stopping.wait(_AGAIN_S)
        while self._waiting and self._store_batch():
            pass

    def _store_batch(self) -> bool:
        """Store the oldest entries in one transaction; return False if the disk refuses them."""
        with self._changed:
            batch = list(islice(self._waiting, _AT_ONCE))
        try:
            self._store(batch)
        except Unavailable as error:
            self._tell_refusal(error)
            return False
        if self._refused:
            self._refused = False
            self.notify(None, "info", "The disk takes the desk's records again.")
        return True

    def _store(self, batch: Sequence[_Entry]) -> None:
        for wire_log in {entry.wire_log for entry in batch if entry.wire_log is not None}:
            secure_wire_log(wire_log)
        try:
            with self._contest.database.write() as connection:
                for entry in batch:
                    entry.write(connection)
        except Unavailable:
            raise
        except Exception:
            if len(batch) > 1:
                # One entry can never be stored. Store each alone, so that only that one is lost.
                for entry in batch:
                    self._store([entry])
                return
            _log.exception("a fact cannot be stored and is left out")
        self._leave(len(batch))

    def _leave(self, count: int) -> None:
        with self._changed:
            for _ in range(count):
                self._waiting.popleft()
            self._left += count
            self._changed.notify_all()

    def _tell_refusal(self, error: Unavailable) -> None:
        if not self._refused:
            self._refused = True
            self.alarm(
                f"The disk refuses the desk's records: {error} Make room on it. Until then the "
                "readings stay in memory."
            )


def secure_wire_log(path: Path) -> None:
    """Wait until every line that was written so far survives a power cut.

    A start or a reading that outlived its lines would look as if nobody had measured it. A log that
    cannot be synced keeps no fact from being stored; a contest without a meter has no log.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    except OSError as error:
        _log.warning("%s cannot be synced: %s", path, error)
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        _log.warning("%s cannot be synced: %s", path, error)
    finally:
        os.close(descriptor)
