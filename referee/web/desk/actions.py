# SPDX-License-Identifier: Apache-2.0
"""The operators' actions on sessions: each is one function that gets the operator's name."""

from __future__ import annotations

import json

from flask import Flask

from referee.core.states import EndCause
from referee.core.turns import counted_attempt
from referee.errors import Refusal
from referee.service.board.alarms import AlarmKey, AlarmRecord, key_of
from referee.service.desk.control_desk import ControlDesk
from referee.service.display.display import Display
from referee.service.event.annotations import add_note, see_result, set_rehearsal
from referee.service.setup.contest import Contest
from referee.service.teams.lanes import require_right_lane
from referee.service.teams.registration import models_only
from referee.service.teams.roster import RosterTeam, read_roster
from referee.web.desk.acting import Answer, posted_fields
from referee.web.desk.arguments import ALARM_MOST, PostedFields, session_number
from referee.web.desk.visitors import acting_operator

# The red bar has one alarm a lane, and one that belongs to none.
_ALARMS_MOST = 20
_UNSEEN = object()


def register_actions(app: Flask, contest: Contest, desk: ControlDesk, alarms: AlarmRecord) -> None:
    """Add the routes of the operators' actions."""

    @app.post("/sessions")
    def new_session() -> Answer:
        posted = posted_fields()
        operator = acting_operator(posted)
        team, lane = posted.text("team"), posted.get("lane")
        seen = posted.get("seen_counted", _UNSEEN)
        return {"session": _new_session(contest, desk, team, lane, seen, operator)}

    @app.post("/alarms/seen")
    def see_alarm() -> Answer:
        posted = posted_fields()
        alarms.see(_alarms(posted), acting_operator(posted))
        return {}

    @app.post("/display/card")
    def card() -> Answer:
        posted = posted_fields()
        display = _display_of(desk, posted.get("lane", desk.lanes[0].number))
        display.show_card(posted.get("on") is True)
        return {"card": posted.get("on") is True}

    @app.post("/sessions/<number>/<any(arm, stop, void, rerun, extra):move>")
    def move(number: str, move: str) -> Answer:
        posted = posted_fields()
        return _move(contest, desk, session_number(number), move, posted)

    @app.post("/sessions/<number>/<any(seen, note):mark>")
    @app.post("/sessions/<number>/<any(rehearsal, counts):mark>")
    def write_mark(number: str, mark: str) -> Answer:
        posted = posted_fields()
        _mark(contest, session_number(number), mark, posted)
        return {}


def _display_of(desk: ControlDesk, number: object) -> Display:
    for lane in desk.lanes:
        if lane.number == number and lane.display is not None:
            return lane.display
    raise Refusal("display_off", "There is no such display in this contest.")


def _alarms(posted: PostedFields) -> list[AlarmKey]:
    """Return the alarms that the page showed when its button was pressed."""
    listed = posted.get("alarms")
    if not isinstance(listed, list) or not 0 < len(listed) <= _ALARMS_MOST:
        raise Refusal("text_wrong", "Name the alarms that you have seen.")
    shown = [PostedFields(one if isinstance(one, dict) else {}) for one in listed]
    return [key_of(one.text("lane"), one.text("text", ALARM_MOST)) for one in shown]


def _new_session(
    contest: Contest, desk: ControlDesk, team: str, lane: object, seen: object, operator: str
) -> int:
    """Make a session; the lane may be left out where there is only one.

    `seen` is the number of the team's session that counted when the operator decided, None for
    none, or `_UNSEEN`.
    """
    if lane is None and len(desk.lanes) == 1:
        lane = desk.lanes[0].number
    if not isinstance(lane, int) or isinstance(lane, bool):
        raise Refusal("lane_unknown", "Say in which lane the team runs.")
    roster_team = _require_may_run(contest, team, lane)
    if seen is not _UNSEEN:
        _require_seen(roster_team, seen)
    return desk.new_session(roster_team.name, operator, lane)


def _require_seen(team: RosterTeam, seen: object) -> None:
    """Raise `Refusal` if another session of the team counts than the operator saw (None: none)."""
    counted = counted_attempt(team.attempts)
    if (None if counted is None else counted.session_id) != seen:
        now = "no session" if counted is None else f"session {counted.session_id}"
        raise Refusal("state_moved", f"Of '{team.name}' {now} counts now. Look again.")


def _require_may_run(contest: Contest, team: str, lane: int) -> RosterTeam:
    if contest.config.contest.mode == "practice":
        raise Refusal("practice", "In practice every login makes its own session.")
    roster = read_roster(contest)
    roster_team = roster.find(team)
    if roster_team is None:
        raise Refusal(
            "team_unknown", f"'{team}' is not registered: run 'referee team add' with its name."
        )
    if roster_team.withdrawn:
        raise Refusal("team_withdrawn", f"'{team}' has withdrawn ({roster_team.reason}).")
    if not roster_team.registration.sessions:
        raise Refusal("models_only", models_only(team))
    require_right_lane(roster, roster_team, lane)
    return roster_team


def _move(
    contest: Contest,
    desk: ControlDesk,
    session_id: int,
    move: str,
    posted: PostedFields,
) -> Answer:
    """Carry out an action if the session is still in the state that the operator saw."""
    seen, state = posted.get("seen_state"), desk.state(session_id).value
    if seen is not None and seen != state:
        raise Refusal(
            "state_moved",
            f"Session {session_id} is {state} now, not {json.dumps(seen)}. Look again.",
        )
    operator, reason = acting_operator(posted), posted.text("reason")
    steps = desk.steps_of(session_id)
    if move == "arm":
        steps.arm(session_id, operator)
    elif move == "stop":
        steps.end(session_id, EndCause.STOP, operator)
    elif move == "extra":
        seconds, length_s = posted.number("seconds"), posted.get("seen_length_s")
        seen_s = length_s if isinstance(length_s, (int, float)) else -1.0
        steps.extend(session_id, operator, seconds, reason, seen_s)
    elif move == "rerun":
        _require_may_run(contest, desk.team_of(session_id), desk.lane_of(session_id))
        session_id = steps.rerun(session_id, operator, reason)
    else:
        steps.void(session_id, operator, reason)
    return {"session": session_id, "state": desk.state(session_id).value}


def _mark(contest: Contest, session_id: int, mark: str, posted: PostedFields) -> None:
    operator = acting_operator(posted)
    reason = posted.text("reason")
    if mark == "seen":
        see_result(contest, session_id, operator)
    elif mark == "note":
        add_note(contest, session_id, operator, reason)
    else:
        set_rehearsal(contest, session_id, operator, mark == "rehearsal", reason)
