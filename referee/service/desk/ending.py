# SPDX-License-Identifier: Apache-2.0
"""The end of a session, and its void: what is recorded, and what stops."""

from __future__ import annotations

from contextlib import suppress

from referee.core.states import (
    EndCause,
    SessionEvent,
    SessionState,
    end_to_record,
    require,
    state_of,
)
from referee.errors import Refusal, Unavailable
from referee.service.desk.lane import Lane
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.notices import insert_audit
from referee.store.sessions import load_session, record_event


def end_session(contest: Contest, lane: Lane, session_id: int, cause: EndCause, actor: str) -> None:
    """End a running session of a lane, as `ControlDesk.end` says; the caller has its lock."""
    session = load_session(contest.database.connection, session_id)
    require(state_of(session.facts, contest.clock.now()), SessionEvent.END)
    lane.clear_display(session_id)
    if session.facts.ended is None and session.facts.started is not None:
        with contest.database.write() as connection:
            # The time of the end is read inside the transaction. So an answer that was committed
            # earlier arrived before the end, and a later commit sees the end.
            now = contest.clock.now()
            at, why = end_to_record(session.facts, now, cause)
            record_event(connection, session_id, "ended", at, actor=actor, cause=why.value)
            if cause is EndCause.STOP:
                insert_audit(connection, now, actor, "stop", session_id)
    lane.settling.wake()


def void_session(contest: Contest, lane: Lane, session_id: int, operator: str, reason: str) -> None:
    """Declare a session of a lane void, and stop it if it runs; the caller has the lane's lock."""
    if not reason.strip():
        raise Refusal("reason_missing", "Voiding a session needs a reason. Give one.")
    session = load_session(contest.database.connection, session_id)
    state = state_of(session.facts, contest.clock.now())
    if state is SessionState.VOID:
        return
    require(state, SessionEvent.ABORT)
    if session.facts.started is not None and session.facts.ended is None:
        # The session runs, or the clock has not recorded its deadline yet.
        end_session(contest, lane, session_id, EndCause.STOP, operator)
    if state is SessionState.ARMED:
        # A lost meter must not keep anybody from voiding. Its timer ends the integration.
        with suppress(Unavailable):
            lane.stop_lost_start(session_id)
    now = contest.clock.now()
    with contest.database.write() as connection:
        require_provisional(connection)
        record_event(connection, session_id, "voided", now, actor=operator, cause=reason)
        insert_audit(connection, now, operator, "void", session_id, reason=reason)
    lane.clear_display(session_id)
