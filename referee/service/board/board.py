# SPDX-License-Identifier: Apache-2.0
"""The operators' board: one JSON object that says what happens now and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from referee.core.instant import Instant
from referee.core.states import SessionState
from referee.errors import RefereeError
from referee.service.board.addresses import contestants_urls
from referee.service.board.meter_view import MeterView
from referee.service.board.session_view import session_card, session_row
from referee.service.board.shown_session import shown_session
from referee.service.board.wording import alarm_of
from referee.service.desk.metering import MeterStatus
from referee.service.display.display import Display
from referee.service.display.facts import display_facts
from referee.service.entry.teams import PRACTICE_PASSWORD
from referee.service.results.flag_counts import FlagCounts
from referee.service.setup.contest import Contest
from referee.service.submission.views import line_view, standing_entries
from referee.service.teams.roster import read_roster
from referee.store.database import Connection
from referee.store.notices import Notice, recent_notices
from referee.store.sessions import SessionRecord, all_sessions, load_session
from referee.store.watching import recent_power

_SESSIONS_SHOWN = 50
# The chart shows 300 s, and the meter's shortest update interval is 0.1 s.
_SAMPLES_SHOWN = 3000


class Board:
    """The state that the console's pages show; its methods may be called from any thread.

    `meter_status` returns the newest status of the meter. `server_address` is the address on which
    the contest server really listens; by default the configured one. `unstored` returns the
    notices that are not on the disk yet, the newest first. `display` is the screen of a track that
    shows its images.
    """

    def __init__(
        self,
        contest: Contest,
        meter_status: Callable[[], MeterStatus],
        server_address: str | None = None,
        *,
        unstored: Callable[[], Sequence[Notice]] = tuple,
        display: Display | None = None,
    ) -> None:
        self._contest = contest
        self._server_address = server_address or contest.config.server.contest
        self._meter = MeterView(contest, meter_status)
        self._unstored = unstored
        self._display = display
        self._flag_counts = FlagCounts(contest)

    def show(self) -> dict[str, Any]:
        """Return the whole board, ready for JSON.

        `current` is the session on the big card (see `shown_session`), or None without sessions.
        `ovic` is the state of the line of entries, or None where no task of OVIC is open.
        `figures` says how to display the track's accuracy and score. `next` is the oldest READY
        session, or None. `display` is None in a track without one. `alarm` is the text of the red
        bar, or None while nothing is wrong. The sessions and the meter contain their own texts
        (see `wording`).
        """
        contest = self._contest
        connection = contest.database.connection
        now = contest.clock.now()
        sessions = all_sessions(connection, _SESSIONS_SHOWN)
        shown = shown_session(sessions, now)
        settings = contest.config.contest
        meter = self._meter.show(shown, now)
        display = self._display_facts()
        current = None if shown is None else self._card(shown, now, meter, display)
        rows = [session_row(contest, session, now) for session in sessions]
        ready = [row for row in reversed(rows) if row["state"] == SessionState.READY.value]
        unstored = [_notice(notice, sessions, now) for notice in self._unstored()]
        stored = [_notice(notice, sessions, now) for notice in recent_notices(connection)]
        return {
            "contest": settings.name,
            "mode": settings.mode,
            "seconds": settings.seconds,
            "images": contest.image_count,
            "classes": len(contest.classes),
            "figures": {
                "accuracy": asdict(contest.track.accuracy),
                "score": asdict(contest.track.score),
            },
            "utc": now.utc.isoformat(),
            "contestants": self._contestants(),
            **self._teams(),
            "meter": meter,
            "display": display,
            "ovic": self._ovic(connection),
            "alarm": alarm_of(meter, rows, stored, now.utc, unstored, display),
            "current": current,
            "next": next(({"id": r["id"], "team": r["team"]} for r in ready), None),
            "sessions": rows,
            "notices": [*unstored, *stored],
        }

    def session(self, session_id: int) -> dict[str, Any]:
        """Return one session in the form of `current`; raise `Refusal` for an unknown number."""
        now = self._contest.clock.now()
        session = load_session(self._contest.database.connection, session_id)
        return self._card(session, now, self._meter.show(session, now), self._display_facts())

    def power(self, session_id: int, after: int = 0) -> list[list[float | int | None]]:
        """Return the session's newest readings above the number `after`: [number, second, watts].

        The second is the session time. The watts are None if the meter gave no number.
        """
        connection = self._contest.database.connection
        return [
            [sample.reading_id, round(sample.elapsed_s, 3), sample.power_w]
            for sample in recent_power(connection, session_id, after, _SAMPLES_SHOWN)
        ]

    def contestants_urls(self) -> list[str]:
        """Return the URLs for contestants; the list is empty while the machine has no network."""
        return contestants_urls(self._server_address)

    def _card(
        self,
        session: SessionRecord,
        now: Instant,
        meter: dict[str, Any],
        display: dict[str, Any] | None,
    ) -> dict[str, Any]:
        return session_card(self._contest, self._flag_counts, session, now, meter, display)

    def _display_facts(self) -> dict[str, Any] | None:
        return None if self._display is None else display_facts(self._display.status())

    def _ovic(self, connection: Connection) -> dict[str, Any] | None:
        if not self._contest.config.ovic.is_open:
            return None
        return line_view(standing_entries(connection))

    def _contestants(self) -> dict[str, Any]:
        practice = self._contest.config.contest.mode == "practice"
        return {
            "urls": self.contestants_urls(),
            "password": PRACTICE_PASSWORD if practice else None,
        }

    def _teams(self) -> dict[str, Any]:
        """Return the teams in the running order and the next one, or why they cannot be read."""
        if self._contest.config.contest.mode == "practice":
            return {"teams": [], "next_team": None, "teams_text": None}
        try:
            roster = read_roster(self._contest)
        except (RefereeError, OSError) as error:
            return {"teams": [], "next_team": None, "teams_text": str(error)}
        teams = [team.name for team in roster.active]
        if roster.order is None:
            teams.sort()
        return {"teams": teams, "next_team": roster.next, "teams_text": None}


def _notice(notice: Notice, sessions: Sequence[SessionRecord], now: Instant) -> dict[str, Any]:
    """Return a notice with its session and the session time.

    A notice without a session gets the session that ran when the notice was made.
    """
    at = datetime.fromisoformat(notice.utc)
    session_id, second = notice.session_id, None
    for session in sessions:
        started, ended = session.facts.started, session.facts.ended
        if started is None or session_id not in (None, session.session_id):
            continue
        if session_id is not None or started.utc <= at <= (ended or now).utc:
            session_id, second = session.session_id, (at - started.utc).total_seconds()
            break
    return {
        "id": notice.notice_id,
        "session": session_id,
        "at_s": second,
        "utc": notice.utc,
        "level": notice.level,
        "text": notice.text,
    }
