# SPDX-License-Identifier: Apache-2.0
"""More time for a session that is not over."""

from __future__ import annotations

from referee.core.states import SessionEvent, SessionState, require, state_of
from referee.errors import Refusal
from referee.service.desk.lane import Lane
from referee.service.desk.metering import LinkState
from referee.service.setup.config import LENGTH_MOST_S
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.marks import insert_extra_time
from referee.store.notices import insert_audit
from referee.store.sessions import load_session

_TIMER_RUNS = (
    "The meter's timer ends the measurement of session {} with its present length, and cannot be "
    "moved while it runs. Time after that would have no energy. Let the session end, or void it, "
    "and give the extra time to the team's next session before its login."
)


def extend(
    contest: Contest,
    lane: Lane,
    session_id: int,
    operator: str,
    *,
    seconds: int,
    reason: str,
    seen_length_s: float,
) -> None:
    """Give a session of a lane more time, as `ControlDesk.extend` says; the caller has its lock."""
    if not reason.strip():
        raise Refusal("reason_missing", "Extra time needs a reason. Give one.")
    session = load_session(contest.database.connection, session_id)
    state = require(state_of(session.facts, contest.clock.now()), SessionEvent.EXTEND)
    length_s = session.facts.length_s
    if seen_length_s != length_s:
        raise Refusal(
            "length_moved",
            f"Session {session_id} has {length_s:.0f} s by now, not {seen_length_s:.0f} s. "
            "Look again.",
        )
    if not 0 < seconds <= LENGTH_MOST_S - length_s:
        raise Refusal("seconds_wrong", f"Give 1 to {LENGTH_MOST_S - length_s:.0f} seconds more.")
    if state is SessionState.RUNNING and lane.metering.status.link is not LinkState.NONE:
        raise Refusal("timer_runs", _TIMER_RUNS.format(session_id))
    if state is SessionState.ARMED:
        lane.prepare(length_s + seconds)
    with contest.database.write() as connection:
        require_provisional(connection)
        # The time is read inside the transaction: extra time revives no session.
        now = contest.clock.now()
        require(state_of(session.facts, now), SessionEvent.EXTEND)
        insert_extra_time(connection, session_id, seconds, now, operator=operator, reason=reason)
        detail = f"{seconds} s"
        insert_audit(connection, now, operator, "extra time", session_id, detail, reason=reason)
