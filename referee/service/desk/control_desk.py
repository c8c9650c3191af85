# SPDX-License-Identifier: Apache-2.0
"""The control desk: the one place that starts and ends sessions."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from power.meter import IntegrationStart
from referee.core.actors import REFEREE
from referee.core.devices import one_spelling
from referee.core.instant import Instant
from referee.core.states import SessionState, state_of
from referee.errors import Refusal, Unavailable
from referee.service.desk.lane import Lane, MakeMetering
from referee.service.desk.logbook import Logbook
from referee.service.desk.policy import policy_of
from referee.service.desk.readiness import Outside, Readiness
from referee.service.desk.session_clock import SessionClock
from referee.service.desk.session_steps import SessionSteps, make_by_hand
from referee.service.preflight.contest_checks import blockers
from referee.service.setup.contest import Contest
from referee.store.notices import insert_audit
from referee.store.sessions import FIRST_LANE, SessionRecord, load_session

_log = logging.getLogger(__name__)


class ControlDesk:
    """The owner of the lanes; a login begins their sessions, and `steps_of` has all other steps.

    All state is in the database and in the meters, so a restarted desk continues where the killed
    one stopped. `meters` has one factory for each lane's meter owner, lane 1 first.
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
        self._steps = [
            SessionSteps(contest, lane, self.lanes, self.readiness) for lane in self.lanes
        ]
        self._clock = SessionClock(self._steps, self.logbook)

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
        self._steps_in(lane, "The new session")
        return make_by_hand(self._contest, team, operator, lane)

    def begin(self, team: str, address: str, lane_number: int = FIRST_LANE) -> int:
        """Start the session of a team that has logged in at a lane's port; return its number.

        A repeat during the session returns the same number and changes nothing. Raises `Refusal`
        if it is not this team's turn, and `Unavailable` if the meter does not start. In both cases
        no session has begun.
        """
        asked = self._contest.clock.now()
        steps = self._steps_in(lane_number, "This port")
        with steps.lane.lock:
            session = self._policy.session_in(steps, team)
            if self._state(session) is not SessionState.RUNNING:
                integration = steps.lane.begin(session, asked, address)
                now = self._contest.clock.now()
                text = _login_text(team, address, now, integration)
                self.logbook.notify(session.session_id, "info", text)
            return session.session_id

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
        return self.steps_of(session_id).lane.show(session, image, requested)

    def steps_of(self, session_id: int) -> SessionSteps:
        """Return the steps of a session's lane; raise `Refusal` (code `session_unknown`)."""
        return self._steps_in(self._load(session_id).lane, f"Session {session_id}")

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

    def _steps_in(self, number: int, what: str) -> SessionSteps:
        """Return a lane's steps; raise `Refusal` (`lane_unknown`) that says what belongs to it."""
        if not FIRST_LANE <= number < FIRST_LANE + len(self.lanes):
            raise Refusal(
                "lane_unknown",
                f"{what} belongs to lane {number}, but this desk has only {len(self.lanes)}. "
                "Declare the lane in contest.toml, and start the referee again.",
            )
        return self._steps[number - FIRST_LANE]

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
