# SPDX-License-Identifier: Apache-2.0
"""What the control desk writes down while it goes on with its work: notices and readings."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future

from power.meter import Reading
from referee.core.instant import Instant, seconds_between
from referee.errors import Unavailable
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.notices import Level, insert_notice
from referee.store.readings import insert_reading
from referee.store.sessions import SessionRecord

_FLUSH_S = 15.0

_log = logging.getLogger(__name__)


class DeskRecord:
    """Own the desk's journal; whoever writes does not wait, and a failure stands in the log."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._journal = Journal(contest.database)

    def notify(self, session_id: int | None, level: Level, text: str) -> None:
        """Tell the operators something; it stands on the console and in the evidence."""
        utc = self._contest.clock.now().utc.isoformat()
        _log.log(logging.INFO if level == "info" else logging.WARNING, "%s", text)
        self._submit(lambda connection: insert_notice(connection, session_id, utc, level, text))

    def keep(self, session: SessionRecord, reading: Reading) -> None:
        """Store a reading of a session that has started, by its second of the session."""
        started = session.facts.started
        if started is None:
            return
        boot_id = self._contest.clock.now().boot_id
        elapsed = seconds_between(started, Instant(reading.monotonic_s, reading.utc, boot_id))
        self._submit(
            lambda connection: insert_reading(
                connection, session.session_id, elapsed, reading, boot_id
            )
        )

    def flush(self) -> None:
        """Wait until everything so far is stored; raises `Unavailable` when the disk stalls."""
        try:
            self._journal.flush(_FLUSH_S)
        except TimeoutError:
            raise Unavailable("The referee's disk has stalled.") from None

    def close(self) -> None:
        """Store what is queued and end the journal's thread."""
        self._journal.close()

    def _submit(self, write: Callable[[Connection], None]) -> None:
        try:
            future: Future[None] = self._journal.submit(write)
        except Unavailable:
            _log.exception("a fact could not be queued")
            return
        future.add_done_callback(_log_failure)


def _log_failure(future: Future[None]) -> None:
    error = future.exception()
    if error is not None:
        _log.error("a fact was not stored: %s", error)
