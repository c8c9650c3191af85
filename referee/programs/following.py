# SPDX-License-Identifier: Apache-2.0
"""Print on the terminal what happens to the sessions of a running contest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from referee.core.states import takes_no_more
from referee.programs.terminal import say, tell_on_terminal
from referee.service.results.rehearsal_text import late_text
from referee.service.results.result_text import result_text
from referee.service.setup.clock import Clock
from referee.service.setup.config import TlsFiles
from referee.service.setup.contest_tls import ca_words
from referee.service.setup.lane_words import display_path
from referee.store.answers import count_answers
from referee.store.database import Database
from referee.store.notices import recent_notices
from referee.store.scores import newest_scoring_run
from referee.store.sessions import all_sessions
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
    late = set() if clock is None else {it.session_id for it in all_sessions(database.connection)}
    connection = database.connection
    noticed = max((notice.notice_id for notice in recent_notices(connection)), default=0)
    told = {
        session.session_id: newest_scoring_run(connection, session.session_id)
        for session in all_sessions(connection)
    }
    while True:
        for notice in reversed(recent_notices(connection)):
            if notice.notice_id > noticed:
                noticed = notice.notice_id
                place = "" if notice.session_id is None else f"session {notice.session_id}: "
                say(f"{place}{notice.text}")
        for session in all_sessions(connection):
            run = newest_scoring_run(connection, session.session_id)
            if run is not None and run != told.get(session.session_id):
                told[session.session_id] = run
                say(f"{result_text(run, track)}\n{report(session.session_id)}")
            if clock is not None and session.session_id not in late:
                if takes_no_more(session.facts, clock.now()):
                    late.add(session.session_id)
                    _tell_late(database, session.session_id)
        time.sleep(_LOOK_S)


def _tell_late(database: Database, session_id: int) -> None:
    """Say how many answers came late, if any did."""
    count = count_answers(database.connection, session_id).late_answers
    if count:
        say(f"session {session_id}: WARNING {late_text(count)}")


def tell_ca(files: TlsFiles | None) -> None:
    """Say which file the teams' clients trust, if the contestants' servers have a CA of their own.

    OpenSSL prints the same digest: `openssl x509 -noout -fingerprint -sha256 -in FILE`.
    """
    if files is not None and files.ca is not None:
        tell_on_terminal(f"Clients take --ca-file {files.ca}: {ca_words(files)}")


def tell_display(track: Track[Any], console_url: str, lanes: int = 1) -> None:
    """Say where the display page of each lane is, if the track shows its images on a screen."""
    if track.delivery is Delivery.SHOWN:
        pages = " and ".join(console_url + display_path(lane) for lane in range(1, lanes + 1))
        tell_on_terminal(
            f"Open {pages} on the monitor that the camera sees, and click on it: it must fill the "
            "screen."
        )
