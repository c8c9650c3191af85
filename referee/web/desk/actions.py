# SPDX-License-Identifier: Apache-2.0
"""The operators' actions on the page: make, arm, stop and void sessions."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask, Response

from referee.core.states import EndCause
from referee.errors import Refusal
from referee.service.desk.control_desk import ControlDesk
from referee.service.display.display import Display
from referee.service.setup.contest import Contest
from referee.service.teams.registration import models_only
from referee.service.teams.roster import read_roster
from referee.web.desk.acting import acting
from referee.web.desk.arguments import posted_text, session_number
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.visitors import acting_operator


def register_actions(
    app: Flask, contest: Contest, desk: ControlDesk, broadcast: Broadcast, key: str
) -> None:
    """Add the routes of the operators' actions; each needs the page's key in `X-Form-Key`."""

    act = acting(broadcast, key)

    @app.post("/sessions")
    def new_session() -> Response:
        def do(arguments: dict[str, Any]) -> dict[str, Any]:
            operator = acting_operator(arguments)
            team, lane = posted_text(arguments, "team"), arguments.get("lane")
            return {"session": _new_session(contest, desk, team, lane, operator)}

        return act(do)

    @app.post("/display/card")
    def card() -> Response:
        def do(arguments: dict[str, Any]) -> dict[str, Any]:
            display = _display_of(desk, arguments.get("lane", desk.lanes[0].number))
            display.show_card(arguments.get("on") is True)
            return {"card": arguments.get("on") is True}

        return act(do)

    @app.post("/sessions/<number>/<any(arm, stop, void):move>")
    def move(number: str, move: str) -> Response:
        def do(arguments: dict[str, Any]) -> dict[str, Any]:
            return _move(desk, session_number(number), move, arguments)

        return act(do)


def _display_of(desk: ControlDesk, number: object) -> Display:
    for lane in desk.lanes:
        if lane.number == number and lane.display is not None:
            return lane.display
    raise Refusal("display_off", "There is no such display in this contest.")


def _new_session(
    contest: Contest, desk: ControlDesk, team: str, lane: object, operator: str
) -> int:
    """Make a session; the lane may be left out where there is only one."""
    if contest.config.contest.mode == "practice":
        raise Refusal("practice", "In practice every login makes its own session.")
    found = read_roster(contest).find(team)
    if found is None:
        raise Refusal(
            "team_unknown", f"'{team}' is not registered: run 'referee team add' with its name."
        )
    if found.withdrawn:
        raise Refusal("team_withdrawn", f"'{team}' has withdrawn ({found.reason}).")
    if not found.registration.sessions:
        raise Refusal("models_only", models_only(team))
    if lane is None and len(desk.lanes) == 1:
        lane = desk.lanes[0].number
    if not isinstance(lane, int) or isinstance(lane, bool):
        raise Refusal("lane_unknown", "Say in which lane the team runs.")
    return desk.new_session(team, operator, lane)


def _move(
    desk: ControlDesk, session_id: int, move: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Carry out an action if the session is still in the state that the operator saw."""
    seen, state = arguments.get("seen_state"), desk.state(session_id).value
    if seen is not None and seen != state:
        raise Refusal(
            "state_moved",
            f"Session {session_id} is {state} by now, not {json.dumps(seen)}. Look again.",
        )
    operator = acting_operator(arguments)
    if move == "arm":
        desk.arm(session_id, operator)
    elif move == "stop":
        desk.end(session_id, EndCause.STOP, operator)
    else:
        desk.void(session_id, operator, posted_text(arguments, "reason"))
    return {"session": session_id, "state": desk.state(session_id).value}
