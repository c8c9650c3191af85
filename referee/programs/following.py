# SPDX-License-Identifier: Apache-2.0
"""Print on the terminal what happens to the sessions of a running contest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from referee.core.states import takes_no_more
from referee.programs.terminal import say, tell_on_terminal
from referee.service.entry.teams import PRACTICE_PASSWORD
from referee.service.results.rehearsal_text import late_text
from referee.service.results.result_text import result_text
from referee.service.setup.clock import Clock
from referee.service.setup.config import TlsFiles
from referee.service.setup.contest_tls import ca_words, name_to_check
from referee.service.setup.lane_words import display_path, lane_words
from referee.store.answers import count_answers
from referee.store.database import Database
from referee.store.notices import Notice, recent_notices
from referee.store.scores import newest_scoring_run
from referee.store.sessions import SessionRecord, all_sessions
from referee.tracks.track import Delivery, Track

_LOOK_S = 0.5


def follow_sessions(
    database: Database,
    track: Track[Any],
    report: Callable[[int], str] = lambda session_id: "",
    clock: Clock | None = None,
) -> None:
    """Print new notices, new scores and the report of each scored session, until interrupted.

    With a `clock`, a session's late answers are told when it takes no more.
    """
    teller = SessionTeller(database, track, report, clock)
    while True:
        teller.look()
        time.sleep(_LOOK_S)


class SessionTeller:
    """What has been told of a contest's sessions; what was there at first is not told."""

    def __init__(
        self,
        database: Database,
        track: Track[Any],
        report: Callable[[int], str],
        clock: Clock | None,
    ) -> None:
        self._connection = connection = database.connection
        self._track = track
        self._report = report
        self._clock = clock
        self._noticed = max((notice.notice_id for notice in recent_notices(connection)), default=0)
        sessions = [session.session_id for session in all_sessions(connection)]
        self._scored = {session: newest_scoring_run(connection, session) for session in sessions}
        self._closed = set(sessions)

    def look(self) -> None:
        """Print what is new."""
        for notice in reversed(recent_notices(self._connection)):
            if notice.notice_id > self._noticed:
                self._noticed = notice.notice_id
                say(f"{_place_of(notice)}{notice.text}")
        for session in all_sessions(self._connection):
            self._tell_score(session.session_id)
            self._tell_late(session)

    def _tell_score(self, session_id: int) -> None:
        run = newest_scoring_run(self._connection, session_id)
        if run is not None and run != self._scored.get(session_id):
            self._scored[session_id] = run
            say(f"{result_text(run, self._track)}\n{self._report(session_id)}")

    def _tell_late(self, session: SessionRecord) -> None:
        """Say how many answers came late, if any did, once the session takes no more."""
        if self._clock is None or session.session_id in self._closed:
            return
        if takes_no_more(session.facts, self._clock.now()):
            self._closed.add(session.session_id)
            count = count_answers(self._connection, session.session_id).late_answers
            if count:
                say(f"session {session.session_id}: WARNING {late_text(count)}")


def _place_of(notice: Notice) -> str:
    """Return what stands before a notice's text: its session, or its lane."""
    if notice.session_id is not None:
        return f"session {notice.session_id}: "
    lane = None if notice.subject is None else notice.subject.lane
    return lane_words(lane or "")


def tell_ca(files: TlsFiles | None) -> None:
    """Say what the teams' clients trust, if the contestants' servers have a CA of their own.

    OpenSSL prints the same digest: `openssl x509 -noout -fingerprint -sha256 -in FILE`.
    """
    if files is not None and files.ca is not None:
        tell_on_terminal(f"Clients take --ca-file {files.ca}: {ca_words(files)}")
        name = name_to_check(files)
        if name:
            tell_on_terminal(f"A board whose TLS knows no addresses checks the name {name}.")


def tell_password() -> None:
    """Say how to log in to a rehearsal of no event; the old refusal cannot tell the password."""
    tell_on_terminal(f"Log in with any user name and the password '{PRACTICE_PASSWORD}'.")


def tell_display(track: Track[Any], console_url: str, lanes: int = 1) -> None:
    """Say where the display page of each lane is, if the track shows its images on a screen."""
    if track.delivery is Delivery.SHOWN:
        pages = " and ".join(console_url + display_path(lane) for lane in range(1, lanes + 1))
        tell_on_terminal(
            f"Open {pages} on the monitor that the camera sees, and click on it: it must fill the "
            "screen."
        )
