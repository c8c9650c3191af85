# SPDX-License-Identifier: Apache-2.0
"""The steps of a session: it is made, armed, ended, declared void, or given more time."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress

from referee.core.instant import Instant
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
from referee.service.desk.metering import LinkState
from referee.service.desk.readiness import Readiness
from referee.service.preflight.contest_checks import blockers
from referee.service.setup.config import LENGTH_MOST_S
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.annotations import insert_extra_time
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import (
    SessionRecord,
    all_sessions,
    create_session,
    load_session,
    record_event,
)

_TIMER_RUNS = (
    "The meter's timer ends the measurement of session {} with its present length, and cannot be "
    "moved while it runs. Time after that would have no energy. Let the session end, or void it, "
    "and give the extra time to the team's next session before its login."
)


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


class SessionSteps:
    """The steps of one lane's sessions; a caller holds the lane's lock, but for `arm_new`.

    `lanes` are all lanes of the desk, since a team has one live session.
    """

    def __init__(
        self, contest: Contest, lane: Lane, lanes: Sequence[Lane], readiness: Readiness
    ) -> None:
        self._contest = contest
        self._lane = lane
        self._lanes = lanes
        self._readiness = readiness

    def arm(self, session_id: int, operator: str) -> None:
        """Prepare the lane's meter and let a session's team log in, as `ControlDesk.arm` says."""
        session = self._load(session_id)
        state = self._state(session)
        if require(state, SessionEvent.ARM) is state:
            return
        live = self._lane.live()
        if live is not None:
            raise self._busy(live)
        self._require_team_free(session.team)
        self._lane.require_display()
        self._readiness.require(self._lane.number)
        self._lane.prepare(session.facts.length_s)
        with self._contest.database.write() as connection:
            self._require_team_free(session.team)
            _record_armed(connection, session_id, self._contest.clock.now(), operator)
        self._lane.expect_images(session_id)

    def arm_new(self, team: str, operator: str) -> SessionRecord:
        """Prepare the lane's meter, then make an armed session; a failure makes no session."""
        obstacles = blockers(self._contest)
        if obstacles:
            raise Refusal("not_ready", " ".join(obstacles), tuple(obstacles))
        self._lane.prepare(float(self._contest.config.contest.seconds))
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            session_id = make_session(self._contest, connection, team, self._lane.number, now)
            _record_armed(connection, session_id, now, operator)
        self._lane.expect_images(session_id)
        return self._load(session_id)

    def end(self, session_id: int, cause: EndCause, actor: str) -> None:
        """End a running session, as `ControlDesk.end` says."""
        session = self._load(session_id)
        require(self._state(session), SessionEvent.END)
        self._lane.clear_display(session_id)
        if session.facts.ended is None and session.facts.started is not None:
            with self._contest.database.write() as connection:
                # The time of the end is read inside the transaction. So an answer that was
                # committed earlier arrived before the end, and a later commit sees the end.
                now = self._contest.clock.now()
                at, why = end_to_record(session.facts, now, cause)
                record_event(connection, session_id, "ended", at, actor=actor, cause=why.value)
                if cause is EndCause.STOP:
                    insert_audit(connection, now, actor, "stop", session_id)
        self._lane.settling.wake()

    def void(self, session_id: int, operator: str, reason: str) -> None:
        """Declare a session void, and stop it if it runs."""
        if not reason.strip():
            raise Refusal("reason_missing", "Voiding a session needs a reason. Give one.")
        session = self._load(session_id)
        state = self._state(session)
        if state is SessionState.VOID:
            return
        require(state, SessionEvent.ABORT)
        if session.facts.started is not None and session.facts.ended is None:
            # The session runs, or the clock has not recorded its deadline yet.
            self.end(session_id, EndCause.STOP, operator)
        if state is SessionState.ARMED:
            # A lost meter must not keep anybody from voiding. Its timer ends the integration.
            with suppress(Unavailable):
                self._lane.stop_lost_start(session_id)
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            require_provisional(connection)
            record_event(connection, session_id, "voided", now, actor=operator, cause=reason)
            insert_audit(connection, now, operator, "void", session_id, reason=reason)
        self._lane.clear_display(session_id)

    def extend(
        self, session_id: int, operator: str, seconds: int, reason: str, seen_length_s: float
    ) -> None:
        """Give a session more time, as `ControlDesk.extend` says."""
        if not reason.strip():
            raise Refusal("reason_missing", "Extra time needs a reason. Give one.")
        session = self._load(session_id)
        state = require(self._state(session), SessionEvent.EXTEND)
        length_s = session.facts.length_s
        _require_time(session, seconds, seen_length_s)
        if state is SessionState.RUNNING and self._lane.metering.status.link is not LinkState.NONE:
            raise Refusal("timer_runs", _TIMER_RUNS.format(session_id))
        if state is SessionState.ARMED:
            self._lane.prepare(length_s + seconds)
        with self._contest.database.write() as connection:
            require_provisional(connection)
            # The time is read inside the transaction: extra time revives no session.
            now = self._contest.clock.now()
            require(state_of(session.facts, now), SessionEvent.EXTEND)
            insert_extra_time(
                connection, session_id, seconds, now, operator=operator, reason=reason
            )
            detail = f"{seconds} s"
            insert_audit(connection, now, operator, "extra time", session_id, detail, reason=reason)

    def _load(self, session_id: int) -> SessionRecord:
        return load_session(self._contest.database.connection, session_id)

    def _state(self, session: SessionRecord) -> SessionState:
        return state_of(session.facts, self._contest.clock.now())

    def _require_team_free(self, team: str) -> None:
        """Raise `Refusal` if a session of the team is live in another lane."""
        for lane in self._lanes:
            live = lane.live()
            if live is not None and live.team == team and lane is not self._lane:
                raise self._busy(live, f" in lane '{lane.name}'")

    def _busy(self, live: SessionRecord, where: str = "") -> Refusal:
        return Refusal(
            "other_session_live",
            f"Session {live.session_id} of '{live.team}' is {self._state(live).value}{where}: "
            "stop or void it first.",
        )


def _record_armed(connection: Connection, session_id: int, now: Instant, operator: str) -> None:
    record_event(connection, session_id, "armed", now, actor=operator)
    insert_audit(connection, now, operator, "arm", session_id)


def _require_time(session: SessionRecord, seconds: int, seen_length_s: float) -> None:
    """Raise `Refusal` if a session's length has moved, or cannot grow by so many seconds."""
    length_s = session.facts.length_s
    if seen_length_s != length_s:
        raise Refusal(
            "length_moved",
            f"Session {session.session_id} has {length_s:.0f} s by now, not {seen_length_s:.0f} s. "
            "Look again.",
        )
    if not 0 < seconds <= LENGTH_MOST_S - length_s:
        raise Refusal("seconds_wrong", f"Give 1 to {LENGTH_MOST_S - length_s:.0f} seconds more.")


def standing_after(contest: Contest, session: SessionRecord) -> int | None:
    """Return the number of the team's newest later session that is not void, or None."""
    for other in all_sessions(contest.database.connection):
        later = other.session_id > session.session_id and other.team == session.team
        if later and other.facts.voided is None:
            return other.session_id
    return None
