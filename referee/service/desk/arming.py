# SPDX-License-Identifier: Apache-2.0
"""Arming: what must hold before a team may log in, and the preparation of the meter."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.instant import Instant
from referee.core.states import SessionEvent, require, state_of
from referee.errors import Refusal
from referee.service.desk.lane import Lane
from referee.service.desk.new_sessions import make_session
from referee.service.desk.readiness import Readiness
from referee.service.preflight.contest_checks import blockers
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import SessionRecord, load_session, record_event


class Arming:
    """The arming of sessions in a desk's lanes; a caller holds the lock of the session's lane."""

    def __init__(self, contest: Contest, lanes: Sequence[Lane], readiness: Readiness) -> None:
        self._contest = contest
        self._lanes = lanes
        self._readiness = readiness

    def arm(self, lane: Lane, session_id: int, operator: str) -> None:
        """Prepare the lane's meter and let a session's team log in, as `ControlDesk.arm` says."""
        session = load_session(self._contest.database.connection, session_id)
        state = state_of(session.facts, self._contest.clock.now())
        if require(state, SessionEvent.ARM) is state:
            return
        live = lane.live()
        if live is not None:
            raise self._busy(live)
        self._require_team_free(session)
        lane.require_display()
        self._readiness.require(lane.number)
        lane.prepare(session.facts.length_s)
        with self._contest.database.write() as connection:
            self._require_team_free(session)
            _record_armed(connection, session_id, self._contest.clock.now(), operator)
        lane.expect_images(session_id)

    def arm_new(self, lane: Lane, team: str, operator: str) -> SessionRecord:
        """Prepare the lane's meter, then make an armed session; a failure makes no session."""
        found = blockers(self._contest)
        if found:
            raise Refusal("not_ready", " ".join(found), tuple(found))
        lane.prepare(float(self._contest.config.contest.seconds))
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            session_id = make_session(self._contest, connection, team, lane.number, now)
            _record_armed(connection, session_id, now, operator)
        lane.expect_images(session_id)
        return load_session(self._contest.database.connection, session_id)

    def _require_team_free(self, session: SessionRecord) -> None:
        """Raise `Refusal` if a session of the same team is live in another lane."""
        for lane in self._lanes:
            live = lane.live()
            if live is not None and live.team == session.team and lane.number != session.lane:
                raise self._busy(live, f" in lane '{lane.name}'")

    def _busy(self, live: SessionRecord, where: str = "") -> Refusal:
        state = state_of(live.facts, self._contest.clock.now()).value
        return Refusal(
            "other_session_live",
            f"Session {live.session_id} of '{live.team}' is {state}{where}: stop or void it first.",
        )


def _record_armed(connection: Connection, session_id: int, now: Instant, operator: str) -> None:
    record_event(connection, session_id, "armed", now, actor=operator)
    insert_audit(connection, now, operator, "arm", session_id)
