# SPDX-License-Identifier: Apache-2.0
"""The steps of a session: it is made, armed, ended, declared void, run again, or extended."""

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
    remaining_s,
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
    """The steps of one lane's sessions, one at a time: each takes the lane's lock.

    `lanes` are all lanes of the desk, since a team has one live session. Each operator's step and
    its audit are one transaction.
    """

    def __init__(
        self, contest: Contest, lane: Lane, lanes: Sequence[Lane], readiness: Readiness
    ) -> None:
        self._contest = contest
        self.lane = lane
        self._lanes = lanes
        self._readiness = readiness

    def arm(self, session_id: int, operator: str) -> None:
        """Prepare the meter and let the session's team log in; a repeat changes nothing.

        Raises `Refusal` if the session's state forbids arming, if another session of the lane
        is armed or running, or if a check before the event fails and nobody has overridden it
        (code `not_ready`). Raises `Unavailable` if the meter cannot be prepared, or if it holds a
        result that no session has fetched. The session then stays READY.
        """
        with self.lane.lock:
            session = self._load(session_id)
            state = self._state(session)
            if require(state, SessionEvent.ARM) is state:
                return
            self._require_may_arm(session)
            self.lane.finish_sessions()
            self.lane.metering.prepare(int(session.facts.length_s))
            with self._contest.database.write() as connection:
                self._require_team_free(session.team)
                _record_armed(connection, session_id, self._contest.clock.now(), operator)
            self.lane.expect_images(session_id)

    def arm_new(self, team: str, operator: str) -> SessionRecord:
        """Prepare the meter, then make an armed session; a failure makes no session."""
        obstacles = blockers(self._contest)
        if obstacles:
            raise Refusal("not_ready", " ".join(obstacles), tuple(obstacles))
        with self.lane.lock:
            self.lane.finish_sessions()
            self.lane.metering.prepare(self._contest.config.contest.seconds)
            now = self._contest.clock.now()
            with self._contest.database.write() as connection:
                session_id = make_session(self._contest, connection, team, self.lane.number, now)
                _record_armed(connection, session_id, now, operator)
            self.lane.expect_images(session_id)
        return self._load(session_id)

    def end(self, session_id: int, cause: EndCause, actor: str) -> None:
        """End a running session and stop the meter; a repeat changes nothing.

        The end is recorded before the meter is stopped. A meter that cannot be reached stops by
        its own timer. Its energy is read and judged as soon as it answers again.
        """
        with self.lane.lock:
            session = self._load(session_id)
            require(self._state(session), SessionEvent.END)
            self.lane.clear_display(session_id)
            if session.facts.ended is None and session.facts.started is not None:
                self._record_end(session, cause, actor)
            self.lane.settling.wake()

    def end_if_due(self) -> float | None:
        """End the lane's session if its time is over; return the seconds until then, if it runs."""
        live = self.lane.live()
        if live is None or live.facts.started is None:
            return None
        left_s = remaining_s(live.facts, self._contest.clock.now())
        if left_s > 0.0:
            return left_s
        with self.lane.lock:
            # Extra time may have moved the deadline since.
            facts = self._load(live.session_id).facts
            if remaining_s(facts, self._contest.clock.now()) <= 0.0:
                self.end(live.session_id, EndCause.DEADLINE, "clock")
        return None

    def log_out(self, session_id: int) -> None:
        """End a session for its team.

        Returns when the meter has got the command to stop, or is lost, after five seconds at most.
        """
        self.end(session_id, EndCause.LOGOUT, self._load(session_id).team)
        self.lane.settling.wait_for_stop(session_id)

    def void(self, session_id: int, operator: str, reason: str) -> None:
        """Declare a session void and record the reason; stop the session first if it runs."""
        if not reason.strip():
            raise Refusal("reason_missing", "Voiding a session needs a reason. Give one.")
        with self.lane.lock:
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
                    self.lane.stop_lost_start(session_id)
            now = self._contest.clock.now()
            with self._contest.database.write() as connection:
                require_provisional(connection)
                record_event(connection, session_id, "voided", now, actor=operator, cause=reason)
                insert_audit(connection, now, operator, "void", session_id, reason=reason)
            self.lane.clear_display(session_id)

    def rerun(self, session_id: int, operator: str, reason: str) -> int:
        """Void a session and make another for its team in the same lane; return its number.

        A repeat returns the number of the session that was made.
        """
        with self.lane.lock:
            self.void(session_id, operator, reason)
            session = self._load(session_id)
            made = standing_after(self._contest, session)
            if made is not None:
                return made
            return make_by_hand(self._contest, session.team, operator, session.lane)

    def extend(
        self, session_id: int, operator: str, seconds: int, reason: str, seen_length_s: float
    ) -> None:
        """Give a session that is not over more time, with a reason.

        `seen_length_s` is the length that the operator saw, so a repeat is refused (code
        `length_moved`) and adds nothing. An armed session's meter is prepared again, because its
        timer ends with the session. Raises `Refusal` (code `timer_runs`) for a running session
        with a meter: its timer cannot move any more, and time without energy has no score.
        """
        if not reason.strip():
            raise Refusal("reason_missing", "Extra time needs a reason. Give one.")
        with self.lane.lock:
            session = self._load(session_id)
            state = require(self._state(session), SessionEvent.EXTEND)
            _require_time(session, seconds, seen_length_s)
            has_meter = self.lane.metering.status.link is not LinkState.NONE
            if state is SessionState.RUNNING and has_meter:
                raise Refusal("timer_runs", _TIMER_RUNS.format(session_id))
            if state is SessionState.ARMED:
                self.lane.finish_sessions()
                self.lane.metering.prepare(int(session.facts.length_s) + seconds)
            self._record_extra_time(session, operator, seconds, reason)

    def _record_end(self, session: SessionRecord, cause: EndCause, actor: str) -> None:
        session_id = session.session_id
        with self._contest.database.write() as connection:
            # The time of the end is read inside the transaction. So an answer that was
            # committed earlier arrived before the end, and a later commit sees the end.
            now = self._contest.clock.now()
            at, why = end_to_record(session.facts, now, cause)
            record_event(connection, session_id, "ended", at, actor=actor, cause=why.value)
            if cause is EndCause.STOP:
                insert_audit(connection, now, actor, "stop", session_id)

    def _record_extra_time(
        self, session: SessionRecord, operator: str, seconds: int, reason: str
    ) -> None:
        own, detail = session.session_id, f"{seconds} s"
        with self._contest.database.write() as connection:
            require_provisional(connection)
            # The time is read inside the transaction: extra time revives no session.
            now = self._contest.clock.now()
            require(state_of(session.facts, now), SessionEvent.EXTEND)
            insert_extra_time(connection, own, seconds, now, operator=operator, reason=reason)
            insert_audit(connection, now, operator, "extra time", own, detail, reason=reason)

    def _require_may_arm(self, session: SessionRecord) -> None:
        live = self.lane.live()
        if live is not None:
            raise self._busy(live)
        self._require_team_free(session.team)
        self.lane.require_display()
        self._readiness.require(self.lane.number)

    def _load(self, session_id: int) -> SessionRecord:
        return load_session(self._contest.database.connection, session_id)

    def _state(self, session: SessionRecord) -> SessionState:
        return state_of(session.facts, self._contest.clock.now())

    def _require_team_free(self, team: str) -> None:
        """Raise `Refusal` if a session of the team is live in another lane."""
        for lane in self._lanes:
            live = lane.live()
            if live is not None and live.team == team and lane is not self.lane:
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
