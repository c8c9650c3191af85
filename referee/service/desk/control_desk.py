# SPDX-License-Identifier: Apache-2.0
"""The control desk: the one place that starts and ends sessions."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence

from power.meter import IntegrationStart
from referee.core.actors import REFEREE
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
from referee.service.desk.lane import Lane, MakeMetering
from referee.service.desk.logbook import Logbook
from referee.service.desk.metering import LinkState, Metering
from referee.service.desk.policy import policy_of
from referee.service.desk.readiness import Outside, Readiness
from referee.service.desk.session_clock import SessionClock
from referee.service.display.display import Display
from referee.service.preflight.blockers import blockers
from referee.service.setup.config import LENGTH_MOST_S
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.database import Connection
from referee.store.marks import insert_extra_time
from referee.store.notices import insert_audit
from referee.store.sessions import (
    FIRST_LANE,
    SessionRecord,
    all_sessions,
    create_session,
    load_session,
    record_event,
)

_log = logging.getLogger(__name__)

_TIMER_RUNS = (
    "The meter's timer ends the measurement of session {} with its present length, and cannot be "
    "moved while it runs. Time after that would have no energy. Let the session end, or void it, "
    "and give the extra time to the team's next session before its login."
)


class ControlDesk:
    """The owner of the lanes: it arms, begins, ends and voids their sessions.

    All state is in the database and in the meters, so a restarted desk continues where the killed
    one stopped. Each operator's action and its audit are one transaction. `meters` has one factory
    for each lane's meter owner, lane 1 first.
    """

    def __init__(
        self, contest: Contest, meters: Sequence[MakeMetering], outside: Outside | None = None
    ) -> None:
        self._contest = contest
        self._settings = contest.config.contest
        self.logbook = Logbook(contest)
        self.lanes = [
            Lane(number, contest, self.logbook, make)
            for number, make in enumerate(meters, FIRST_LANE)
        ]
        self._policy = policy_of(contest, self.lanes)
        self.readiness = Readiness(contest, self.lanes, outside or Outside(), self.logbook.alarm)
        self._clock = SessionClock(contest.clock, self.lanes, self._end_by_clock, self.logbook)

    @property
    def display(self) -> Display | None:
        """Return the first lane's display, or None in a track without one."""
        return self.lanes[0].display

    @property
    def metering(self) -> Metering:
        """Return the owner of the first lane's meter."""
        return self.lanes[0].metering

    def start(self) -> None:
        """Continue the work of an earlier desk, and start the threads."""
        for lane in self.lanes:
            lane.start()
            self._record_recovery(lane)
        self._clock.start()
        self.readiness.start()

    def close(self) -> None:
        """End the threads; a running session and the meter's integration continue."""
        self.readiness.close()
        self._clock.close()
        for lane in self.lanes:
            lane.close()
        self.logbook.close()

    def new_session(self, team: str, operator: str, lane: int = FIRST_LANE) -> int:
        """Make a session for a team in a lane and return its number.

        Raises `Refusal` if the team already has a READY session (code `session_ready`), and if
        there is no such lane (`lane_unknown`).
        """
        self._lane(lane, "The new session")
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            require_provisional(connection)
            for session in all_sessions(connection):
                if session.team == team and self._state(session) is SessionState.READY:
                    raise Refusal(
                        "session_ready",
                        f"Session {session.session_id} of '{team}' is READY: arm that one, or "
                        "void it first.",
                    )
            session_id = self._make_session(connection, team, lane, now)
            detail = f"team {team}" + (f", lane {lane}" if len(self.lanes) > 1 else "")
            insert_audit(connection, now, operator, "new session", session_id, detail)
        return session_id

    def arm(self, session_id: int, operator: str) -> None:
        """Prepare the meter and let the session's team log in; a repeat changes nothing.

        Raises `Refusal` if the session's state forbids arming, if another session of the lane
        is armed or running, or if a check before the event fails and nobody has overridden it
        (code `not_ready`). Raises `Unavailable` if the meter cannot be prepared, or if it holds a
        result that no session has fetched. The session then stays READY.
        """
        lane = self._lane_of(session_id)
        with lane.lock:
            session = self._load(session_id)
            state = self._state(session)
            if require(state, SessionEvent.ARM) is state:
                return
            live = lane.live()
            if live is not None:
                raise Refusal(
                    "other_session_live",
                    f"Session {live.session_id} of '{live.team}' is {self._state(live).value}: "
                    "stop or void it first.",
                )
            self._require_team_free(session)
            lane.require_display()
            self.readiness.require(lane.number)
            lane.require_spare()
            lane.prepare(session.facts.length_s)
            with self._contest.database.write() as connection:
                self._require_team_free(session)
                _record_armed(connection, session_id, self._contest.clock.now(), operator)
            lane.expect_images(session_id)

    def arm_new(self, lane: Lane, team: str, operator: str) -> SessionRecord:
        """Prepare a lane's meter, then make an armed session; a failure makes no session."""
        self._require_no_blockers()
        lane.prepare(float(self._settings.seconds))
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            session_id = self._make_session(connection, team, lane.number, now)
            _record_armed(connection, session_id, now, operator)
        lane.expect_images(session_id)
        return self._load(session_id)

    def begin(self, team: str, address: str, lane_number: int = FIRST_LANE) -> int:
        """Start the session of a team that has logged in at a lane's port; return its number.

        A repeat during the session returns the same number and changes nothing. Raises `Refusal`
        if it is not this team's turn, and `Unavailable` if the meter does not start. In both cases
        no session has begun.
        """
        asked = self._contest.clock.now()
        lane = self._lane(lane_number, "This port")
        with lane.lock:
            session = self._policy.session_in(lane, team, self)
            if self._state(session) is not SessionState.RUNNING:
                integration = lane.begin(session, asked)
                now = self._contest.clock.now()
                text = _login_text(team, address, now, integration)
                self.logbook.notify(session.session_id, "info", text)
                self._clock.look_now()
            return session.session_id

    def end(self, session_id: int, cause: EndCause, actor: str) -> None:
        """End a running session and stop the meter; a repeat changes nothing.

        The desk records the end before it stops the meter. A meter that cannot be reached stops by
        its own timer. The desk reads and judges its energy as soon as the meter answers again.
        """
        lane = self._lane_of(session_id)
        with lane.lock:
            session = self._load(session_id)
            require(self._state(session), SessionEvent.END)
            lane.clear_display(session_id)
            if session.facts.ended is None and session.facts.started is not None:
                with self._contest.database.write() as connection:
                    # The time of the end is read inside the transaction. So an answer that was
                    # committed earlier arrived before the end, and a later commit sees the end.
                    now = self._contest.clock.now()
                    at, why = end_to_record(session.facts, now, cause)
                    record_event(connection, session_id, "ended", at, actor=actor, cause=why.value)
                    if cause is EndCause.STOP:
                        insert_audit(connection, now, actor, "stop", session_id)
            lane.settling.wake()

    def log_out(self, session_id: int) -> None:
        """End a session for its team.

        Returns when the meter has got the command to stop, or is lost, after five seconds at most.
        """
        self.end(session_id, EndCause.LOGOUT, self._load(session_id).team)
        self._lane_of(session_id).settling.wait_for_stop(session_id)

    def void(self, session_id: int, operator: str, reason: str) -> None:
        """Declare a session void and record the reason; stop the session first if it runs."""
        if not reason.strip():
            raise Refusal("reason_missing", "Voiding a session needs a reason. Give one.")
        with self._lane_of(session_id).lock:
            session = self._load(session_id)
            state = self._state(session)
            if state is SessionState.VOID:
                return
            require(state, SessionEvent.ABORT)
            if session.facts.started is not None and session.facts.ended is None:
                # The session runs, or the clock has not recorded its deadline yet.
                self.end(session_id, EndCause.STOP, operator)
            now = self._contest.clock.now()
            with self._contest.database.write() as connection:
                require_provisional(connection)
                record_event(connection, session_id, "voided", now, actor=operator, cause=reason)
                insert_audit(connection, now, operator, "void", session_id, reason=reason)
            self._lane_of(session_id).clear_display(session_id)

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
        lane = self._lane_of(session_id)
        with lane.lock:
            session = self._load(session_id)
            state = require(self._state(session), SessionEvent.EXTEND)
            length_s = session.facts.length_s
            if seen_length_s != length_s:
                raise Refusal(
                    "length_moved",
                    f"Session {session_id} has {length_s:.0f} s by now, not {seen_length_s:.0f} s. "
                    "Look again.",
                )
            if not 0 < seconds <= LENGTH_MOST_S - length_s:
                raise Refusal(
                    "seconds_wrong", f"Give 1 to {LENGTH_MOST_S - length_s:.0f} seconds more."
                )
            if state is SessionState.RUNNING and lane.metering.status.link is not LinkState.NONE:
                raise Refusal("timer_runs", _TIMER_RUNS.format(session_id))
            if state is SessionState.ARMED:
                lane.prepare(length_s + seconds)
            with self._contest.database.write() as connection:
                require_provisional(connection)
                # The time is read inside the transaction: extra time revives no session.
                now = self._contest.clock.now()
                require(state_of(session.facts, now), SessionEvent.EXTEND)
                insert_extra_time(
                    connection, session_id, seconds, now, operator=operator, reason=reason
                )
                insert_audit(
                    connection,
                    now,
                    operator,
                    "extra time",
                    session_id,
                    f"{seconds} s",
                    reason=reason,
                )
            self._clock.look_now()

    def rerun(self, session_id: int, operator: str, reason: str) -> int:
        """Void a session and make another for its team in the same lane; return its number.

        A repeat returns the number of the session that was made.
        """
        session = self._load(session_id)
        with self._lane_of(session_id).lock:
            self.void(session_id, operator, reason)
            for other in all_sessions(self._contest.database.connection):
                later = other.session_id > session_id and other.team == session.team
                if later and other.facts.voided is None:
                    return other.session_id
            return self.new_session(session.team, operator, session.lane)

    def show(self, session_id: int, image: int, requested: Instant) -> float:
        """Show an image on the display of a running session's lane.

        Returns the session time at which the page had painted it. `requested` is the instant of the
        request's last byte. Raises `Refusal` (code `token_invalid`) if the session does not run,
        and as `Lane.show` does. The lane's lock is not held, so logins and ends do not wait.
        """
        session = self._load(session_id)
        state = self._state(session)
        if state is not SessionState.RUNNING:
            raise Refusal(
                "token_invalid", f"Session {session_id} does not run: it is {state.value}."
            )
        return self._lane_of(session_id).show(session, image, requested)

    def state(self, session_id: int) -> SessionState:
        """Return a session's present state; raise `Refusal` (code `session_unknown`) if none."""
        return self._state(self._load(session_id))

    def team_of(self, session_id: int) -> str:
        """Return a session's team; raise `Refusal` (code `session_unknown`) if there is none."""
        return self._load(session_id).team

    def obstacles(self) -> list[str]:
        """Return one sentence for each obstacle to starting a session now."""
        found = blockers(self._contest)
        for lane in self.lanes:
            status = lane.metering.status
            if status.link not in (LinkState.OK, LinkState.NONE):
                found.append(f"The power meter does not answer yet. {status.text}".strip())
        return found

    def _record_recovery(self, lane: Lane) -> None:
        """Put into the audit that this desk takes over a live session of an earlier desk."""
        live = lane.live()
        if live is None:
            return
        detail = f"the desk started anew and found the session {self._state(live).value}"
        try:
            with self._contest.database.write() as connection:
                now = self._contest.clock.now()
                insert_audit(connection, now, REFEREE, "recover", live.session_id, detail)
        except Unavailable:
            _log.exception("the recovery of session %d is not in the audit", live.session_id)

    def _make_session(self, connection: Connection, team: str, lane: int, now: Instant) -> int:
        """Add a session as configured; a shuffled one gets a secret random image order."""
        return create_session(
            connection,
            team=team,
            lane=lane,
            length_s=float(self._settings.seconds),
            order_seed=secrets.randbits(64) if self._settings.shuffle else None,
            now=now,
            track=self._contest.track.name,
        )

    def _lane_of(self, session_id: int) -> Lane:
        return self._lane(self._load(session_id).lane, f"Session {session_id}")

    def _lane(self, number: int, what: str) -> Lane:
        """Return a lane; raise `Refusal` (code `lane_unknown`) that says what belongs to it."""
        if not FIRST_LANE <= number < FIRST_LANE + len(self.lanes):
            raise Refusal(
                "lane_unknown",
                f"{what} belongs to lane {number}, but this desk has only {len(self.lanes)}. "
                "Declare the lane in contest.toml, and start the referee again.",
            )
        return self.lanes[number - FIRST_LANE]

    def _require_team_free(self, session: SessionRecord) -> None:
        """Raise `Refusal` if a session of the same team is live in another lane."""
        for lane in self.lanes:
            live = lane.live()
            if live is not None and live.team == session.team and lane.number != session.lane:
                raise Refusal(
                    "other_session_live",
                    f"Session {live.session_id} of '{live.team}' is {self._state(live).value} in "
                    f"lane '{lane.name}': stop or void it first.",
                )

    def _end_by_clock(self, session_id: int) -> None:
        with self._lane_of(session_id).lock:
            # Extra time may have moved the deadline since the clock looked.
            if remaining_s(self._load(session_id).facts, self._contest.clock.now()) <= 0.0:
                self.end(session_id, EndCause.DEADLINE, "clock")

    def _load(self, session_id: int) -> SessionRecord:
        return load_session(self._contest.database.connection, session_id)

    def _state(self, session: SessionRecord) -> SessionState:
        return state_of(session.facts, self._contest.clock.now())

    def _require_no_blockers(self) -> None:
        found = blockers(self._contest)
        if found:
            raise Refusal("not_ready", " ".join(found), tuple(found))


def _record_armed(connection: Connection, session_id: int, now: Instant, operator: str) -> None:
    record_event(connection, session_id, "armed", now, actor=operator)
    insert_audit(connection, now, operator, "arm", session_id)


def _login_text(team: str, address: str, now: Instant, start: IntegrationStart | None) -> str:
    if start is None:
        return f"'{team}' logged in from {address}; there is no meter."
    return (
        f"'{team}' logged in from {address}; the meter's START was confirmed "
        f"{start.confirmed_s - start.sent_s:.3f} s after it was sent, and the login is answered "
        f"{now.monotonic_s - start.written_s:.3f} s after the start."
    )
