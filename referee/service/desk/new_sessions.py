# SPDX-License-Identifier: Apache-2.0
"""New sessions: what each begins with, and when an operator may make one."""

from __future__ import annotations

import secrets

from referee.core.instant import Instant
from referee.core.states import SessionState, state_of
from referee.errors import Refusal
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import SessionRecord, all_sessions, create_session


def make_session(
    contest: Contest, connection: Connection, team: str, lane: int, now: Instant
) -> int:
    """Add a session as configured; a shuffled one gets a secret random image order."""
    settings = contest.config.contest
    return create_session(
        connection,
        team=team,
        lane=lane,
        length_s=float(settings.seconds),
        order_seed=secrets.randbits(64) if settings.shuffle else None,
        now=now,
        track=contest.track.name,
    )


def make_by_hand(contest: Contest, team: str, operator: str, lane: int) -> int:
    """Make a session for a team in a lane, with its audit, and return its number.

    Raises `Refusal` if the team already has a READY session (code `session_ready`).
    """
    now = contest.clock.now()
    with contest.database.write() as connection:
        require_provisional(connection)
        for session in all_sessions(connection):
            ready = state_of(session.facts, contest.clock.now()) is SessionState.READY
            if session.team == team and ready:
                raise Refusal(
                    "session_ready",
                    f"Session {session.session_id} of '{team}' is READY: arm that one, or void it "
                    "first.",
                )
        session_id = make_session(contest, connection, team, lane, now)
        detail = f"team {team}" + (f", lane {lane}" if len(contest.config.lanes) > 1 else "")
        insert_audit(connection, now, operator, "new session", session_id, detail)
    return session_id


def standing_after(contest: Contest, session: SessionRecord) -> int | None:
    """Return the number of the team's newest later session that is not void, or None."""
    for other in all_sessions(contest.database.connection):
        later = other.session_id > session.session_id and other.team == session.team
        if later and other.facts.voided is None:
            return other.session_id
    return None
