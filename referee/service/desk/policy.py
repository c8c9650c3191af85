# SPDX-License-Identifier: Apache-2.0
"""The effect of a login: the only difference between an event and a rehearsal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from referee.core.states import EndCause, SessionState, remaining_s, state_of
from referee.errors import Refusal
from referee.service.desk.lane import Lane
from referee.service.desk.session_steps import SessionSteps
from referee.service.setup.contest import Contest
from referee.service.setup.lane_words import other_lane
from referee.store.sessions import SessionRecord, latest_of_team

_MAY_BEGIN = (SessionState.ARMED, SessionState.RUNNING)


class LoginPolicy(Protocol):
    """The rule that chooses the session for a team's login in a lane, by the lane's steps."""

    def session_in(self, steps: SessionSteps, team: str) -> SessionRecord:
        """Return the team's ARMED or RUNNING session; the caller holds the lane's lock."""
        ...


class EventLogins:
    """The rule of an event: a login begins the session that an operator has armed."""

    def __init__(self, contest: Contest, lanes: Sequence[Lane]) -> None:
        self._contest = contest
        self._lanes = lanes

    def session_in(self, steps: SessionSteps, team: str) -> SessionRecord:
        """Return the lane's live session; raise `Refusal` if it is not this team's, or over."""
        lane = steps.lane
        live = lane.live()
        if live is None or live.team != team or not _may_begin(self._contest, live):
            raise self._not_your_turn(lane, team)
        if not _runs(self._contest, live):
            # The clock must not start while the team could see nothing.
            lane.require_open_display()
        return live

    def _not_your_turn(self, asked: Lane, team: str) -> Refusal:
        for lane in self._lanes:
            live = lane.live()
            if live is not None and live.team == team and lane is not asked:
                return other_lane(self._contest.config, lane.number, asked.number)
        latest = latest_of_team(self._contest.database.connection, team)
        if latest is not None and latest.facts.started is not None:
            return Refusal(
                "session_over", "Your session is over; only the operator can arm another one."
            )
        return Refusal(
            "not_armed", "It is not your turn yet: the operator has not armed your session."
        )


class PracticeLogins:
    """The rule of a rehearsal: each login makes, arms and begins a new session."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest

    def session_in(self, steps: SessionSteps, team: str) -> SessionRecord:
        """Return the team's live session, or free the lane and return a new session."""
        lane = steps.lane
        live = lane.live()
        if live is not None and live.team == team and _may_begin(self._contest, live):
            return live
        if live is not None:
            self._make_free(live, steps)
        # The clock must not start while the team could see nothing.
        lane.require_open_display()
        return steps.arm_new(team, "practice")

    def _make_free(self, live: SessionRecord, steps: SessionSteps) -> None:
        if _runs(self._contest, live):
            left = remaining_s(live.facts, self._contest.clock.now())
            raise Refusal(
                "other_session_live",
                f"A session of '{live.team}' is running; it ends in {left:.0f} s at the latest. To "
                f"end it now, press Stop on the console, or log in as '{live.team}', which gives "
                "its token again, and POST /logout with that token.",
            )
        if live.facts.started is None:
            steps.void(live.session_id, "practice", "its login did not succeed")
        else:
            steps.end(live.session_id, EndCause.DEADLINE, "practice")


def policy_of(contest: Contest, lanes: Sequence[Lane]) -> LoginPolicy:
    """Return the login policy of the configured mode."""
    if contest.config.contest.mode == "practice":
        return PracticeLogins(contest)
    return EventLogins(contest, lanes)


def _may_begin(contest: Contest, session: SessionRecord) -> bool:
    return state_of(session.facts, contest.clock.now()) in _MAY_BEGIN


def _runs(contest: Contest, session: SessionRecord) -> bool:
    return state_of(session.facts, contest.clock.now()) is SessionState.RUNNING
