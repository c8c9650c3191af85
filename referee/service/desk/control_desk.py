# SPDX-License-Identifier: Apache-2.0
"""The control desk: the one place that starts and ends sessions."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from power.meter import IntegrationStart
from referee.core.actors import REFEREE
from referee.core.devices import one_spelling
from referee.core.instant import Instant
from referee.core.states import EndCause, SessionState, remaining_s, state_of
from referee.errors import Refusal, Unavailable
from referee.service.desk.lane import Lane, MakeMetering
from referee.service.desk.logbook import Logbook
from referee.service.desk.policy import policy_of
from referee.service.desk.readiness import Outside, Readiness
from referee.service.desk.session_clock import SessionClock
from referee.service.desk.session_steps import SessionSteps, make_by_hand, standing_after
from referee.service.preflight.contest_checks import blockers
from referee.service.setup.contest import Contest
from referee.store.notices import insert_audit
from referee.store.sessions import FIRST_LANE, SessionRecord, load_session

_log = logging.getLogger(__name__)


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
        self.logbook = Logbook(contest)
        self.lanes = [
            Lane(number, contest, self.logbook, make)
            for number, make in enumerate(meters, FIRST_LANE)
        ]
        self._policy = policy_of(contest, self.lanes)
        self.readiness = Readiness(contest, self.lanes, outside or Outside(), self.logbook.alarm)
        self._steps = {
            lane.number: SessionSteps(contest, lane, self.lanes, self.readiness)
            for lane in self.lanes
        }
        self._clock = SessionClock(contest.clock, self.lanes, self._end_by_clock, self.logbook)

    def start(self) -> None:
        """Continue the work of an earlier desk, and start the threads."""
        for lane in self.lanes:
            lane.start()
            _record_recovery(self._contest, lane)
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
        return make_by_hand(self._contest, team, operator, lane)

    def arm(self, session_id: int, operator: str) -> None:
        """Prepare the meter and let the session's team log in; a repeat changes nothing.

        Raises `Refusal` if the session's state forbids arming, if another session of the lane
        is armed or running, or if a check before the event fails and nobody has overridden it
        (code `not_ready`). Raises `Unavailable` if the meter cannot be prepared, or if it holds a
        result that no session has fetched. The session then stays READY.
        """
        lane = self._lane_of(session_id)
        with lane.lock:
            self._steps[lane.number].arm(session_id, operator)

    def arm_new(self, lane: Lane, team: str, operator: str) -> SessionRecord:
        """Prepare a lane's meter, then make an armed session; a failure makes no session."""
        return self._steps[lane.number].arm_new(team, operator)

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
                integration = lane.begin(session, asked, address)
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
            self._steps[lane.number].end(session_id, cause, actor)

    def log_out(self, session_id: int) -> None:
        """End a session for its team.

        Returns when the meter has got the command to stop, or is lost, after five seconds at most.
        """
        self.end(session_id, EndCause.LOGOUT, self._load(session_id).team)
        self._lane_of(session_id).settling.wait_for_stop(session_id)

    def void(self, session_id: int, operator: str, reason: str) -> None:
        """Declare a session void and record the reason; stop the session first if it runs."""
        lane = self._lane_of(session_id)
        with lane.lock:
            self._steps[lane.number].void(session_id, operator, reason)

    def extend(
        self, session_id: int, operator: str, seconds: int, reason: str, seen_length_s: float
    ) -> None:
        """Give a session that is not over more time, with a reason.

        `seen_length_s` is the length that the operator saw, so a repeat is refused (code
        `length_moved`) and adds nothing. An armed session's meter is prepared again, because its
        timer ends with the session. Raises `Refusal` (code `timer_runs`) for a running session
        with a meter: its timer cannot move any more, and time without energy has no score.
        """
        lane = self._lane_of(session_id)
        with lane.lock:
            self._steps[lane.number].extend(session_id, operator, seconds, reason, seen_length_s)
            self._clock.look_now()

    def rerun(self, session_id: int, operator: str, reason: str) -> int:
        """Void a session and make another for its team in the same lane; return its number.

        A repeat returns the number of the session that was made.
        """
        session = self._load(session_id)
        with self._lane_of(session_id).lock:
            self.void(session_id, operator, reason)
            made = standing_after(self._contest, session)
            if made is not None:
                return made
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

    def lane_of(self, session_id: int) -> int:
        """Return the number of a session's lane; raise `Refusal` (code `session_unknown`)."""
        return self._load(session_id).lane

    def obstacles(self) -> list[str]:
        """Return one sentence for each obstacle to starting a session now."""
        obstacles = blockers(self._contest)
        return obstacles + [text for lane in self.lanes if (text := lane.obstacle())]

    def refusals_of_logins(self) -> list[str]:
        """Return one sentence for each reason why a login would be refused; it waits as one does.

        In a lane whose session runs its own team may log in again.
        """
        refusals = blockers(self._contest)
        return refusals + [text for lane in self.lanes if (text := lane.refusal_of_login())]

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

    def _end_by_clock(self, session_id: int) -> None:
        with self._lane_of(session_id).lock:
            # Extra time may have moved the deadline since the clock looked.
            if remaining_s(self._load(session_id).facts, self._contest.clock.now()) <= 0.0:
                self.end(session_id, EndCause.DEADLINE, "clock")

    def _load(self, session_id: int) -> SessionRecord:
        return load_session(self._contest.database.connection, session_id)

    def _state(self, session: SessionRecord) -> SessionState:
        return state_of(session.facts, self._contest.clock.now())


def _login_text(team: str, address: str, now: Instant, start: IntegrationStart | None) -> str:
    where = one_spelling(address)
    if start is None:
        return f"'{team}' logged in from {where}; there is no meter."
    return (
        f"'{team}' logged in from {where}; the meter's START was confirmed "
        f"{start.confirmed_s - start.sent_s:.3f} s after it was sent, and the login is answered "
        f"{now.monotonic_s - start.written_s:.3f} s after the start."
    )


def _record_recovery(contest: Contest, lane: Lane) -> None:
    """Put into the audit that this desk takes over a live session of an earlier desk, if any."""
    live = lane.live()
    if live is None:
        return
    state = state_of(live.facts, contest.clock.now())
    detail = f"the desk started anew and found the session {state.value}"
    try:
        with contest.database.write() as connection:
            now = contest.clock.now()
            insert_audit(connection, now, REFEREE, "recover", live.session_id, detail)
    except Unavailable:
        _log.exception("the recovery of session %d is not in the audit", live.session_id)
