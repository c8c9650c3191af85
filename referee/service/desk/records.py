# SPDX-License-Identifier: Apache-2.0
"""The records of making, arming, ending and voiding a session: the fact, and who did it.

Each function writes within its caller's transaction, so that no action lacks its audit.
"""

from __future__ import annotations

import secrets

from referee.core.instant import Instant
from referee.core.states import EndCause, end_to_record
from referee.service.setup.config import ContestSection
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import SessionRecord, create_session, record_event


def make_session(
    connection: Connection,
    settings: ContestSection,
    team: str,
    lane: int,
    now: Instant,
    track: str,
) -> int:
    """Add a session of the configured length and return its number.

    If the configuration asks for it, the session gets a secret random image order. `track` is the
    name of the contest's track.
    """
    return create_session(
        connection,
        team=team,
        lane=lane,
        length_s=float(settings.seconds),
        order_seed=secrets.randbits(64) if settings.shuffle else None,
        now=now,
        track=track,
    )


def record_armed(connection: Connection, session_id: int, now: Instant, operator: str) -> None:
    """Record that an operator armed a session."""
    record_event(connection, session_id, "armed", now, actor=operator)
    audit(connection, now, operator, "arm", session_id)


def record_end(
    connection: Connection, session: SessionRecord, now: Instant, cause: EndCause, actor: str
) -> None:
    """Record a session's end; after the deadline, record the deadline as the end."""
    at, why = end_to_record(session.facts, now, cause)
    record_event(connection, session.session_id, "ended", at, actor=actor, cause=why.value)
    if cause is EndCause.STOP:
        audit(connection, now, actor, "stop", session.session_id)


def record_void(
    connection: Connection, session_id: int, now: Instant, operator: str, reason: str
) -> None:
    """Record that an operator voided a session, and why."""
    record_event(connection, session_id, "voided", now, actor=operator, cause=reason)
    audit(connection, now, operator, "void", session_id, reason)


def audit(
    connection: Connection,
    now: Instant,
    operator: str,
    action: str,
    session_id: int,
    detail: str = "",
) -> None:
    """Record who did what to a session."""
    insert_audit(
        connection,
        utc=now.utc.isoformat(),
        operator=operator,
        action=action,
        session_id=session_id,
        detail=detail,
    )
