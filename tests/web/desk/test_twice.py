# SPDX-License-Identifier: Apache-2.0
"""Every change that the console offers, made twice: the second press changes nothing."""

from __future__ import annotations

from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.event.rescoring import Filter, make_proposal
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from referee.web.desk.roles import ROUTES
from tests.support.contests import make_contest, no_room
from tests.support.doors import post
from tests.support.fakes import running_desk
from tests.support.shown import as_json
from tests.web.desk.test_state_by_action import facts

# Each row: a route as in the table of roles, the path, and the body. In this order each action
# changes something at its first press. Session 1 has an energy that is SUSPECT.
BREAK = "/break/<any(begin, end):what>"
CHANGES = [
    ("/sessions/<number>/review", "/sessions/1/review", {"reason": "the gap lies before the load"}),
    ("/scoreboard/<any(freeze, unfreeze):what>", "/scoreboard/freeze", {}),
    ("/scoreboard/<any(freeze, unfreeze):what>", "/scoreboard/unfreeze", {}),
    (BREAK, "/break/begin", {"text": "Lunch", "minutes": 30}),
    (BREAK, "/break/end", {}),
    ("/proposals/<int:number>/<any(apply, cancel):what>", "/proposals/1/apply", {"reason": "ok"}),
    ("/proposals/<int:number>/<any(apply, cancel):what>", "/proposals/2/cancel", {"reason": "no"}),
    ("/check/override", "/check/override", {"reason": "a short event"}),
    ("/check/overrides/<int:number>/end", "/check/overrides/1/end", {"reason": "room was made"}),
]
TEAMS = "/teams/<any(add, lottery, order, defer, rename, withdraw, return):what>"
CHANGES += [
    (TEAMS, "/teams/add", {"team": "wasps", "prizes": False, "sessions": False}),
    ("/teams/slips", "/teams/slips", {"teams": ["wasps"], "once": 32 * "a"}),
    (TEAMS, "/teams/lottery", {"seed": "noon", "reason": "drawn"}),
    (TEAMS, "/teams/order", {"teams": ["bees", "ants"], "reason": "has a train to catch"}),
    (TEAMS, "/teams/defer", {"team": "bees", "reason": "its train is late"}),
    (TEAMS, "/teams/rename", {"team": "ants", "new_name": "Ants II"}),
    (TEAMS, "/teams/withdraw", {"team": "bees", "reason": "ill"}),
    (TEAMS, "/teams/return", {"team": "bees", "reason": "well again"}),
    (TEAMS, "/teams/withdraw", {"team": "bees", "reason": "ill again"}),
]
FINAL = "/results/<any(finalize, reopen):what>"
CHANGES += [
    (FINAL, "/results/finalize", {"names": ["Ada", "Grace"]}),
    (FINAL, "/results/reopen", {"reason": "forgot a team"}),
    ("/sessions", "/sessions", {"team": "Ants II", "lane": 1}),
]
# These are pressed twice elsewhere: moves and marks in `test_state_by_action.py`, slow checks in
# `test_check.py`, reviews of several sessions in `test_event.py`, alarms in `test_actions.py`, the
# test card below, bundles and new proposals in `test_commands.py`.
ELSEWHERE = {
    "POST /sessions/review",
    "POST /alarms/seen",
    "POST /sessions/<number>/<any(arm, stop, void, rerun, extra):move>",
    "POST /sessions/<number>/<any(rehearsal, counts):mark>",
    "POST /sessions/<number>/<any(seen, note):mark>",
    "POST /check/again",
    "POST /display/card",
    "POST /bundles",
    "POST /proposals",
}


def test_every_change_is_in_the_table():
    """A new action without a row fails."""
    actions = {route for route, access in ROUTES.items() if access.action}
    assert actions == ELSEWHERE | {f"POST {route}" for route, _, _ in CHANGES}


def test_every_change_twice(door, monkeypatch):
    """Each change made twice ends as if it was made once, also where the repeat is refused."""
    door.event.play("ants", verdict="SUSPECT")
    no_room(monkeypatch)
    kim = door.visitor("Kim")
    for _, path, body in CHANGES:
        if path.startswith("/proposals/"):
            make_proposal(door.contest, Filter(), "Ada", "the same again")
        before = facts(door.contest)
        body = body | (failed(kim) if path == "/check/override" else {})
        first = post(kim, path, **body)
        assert 200 == first.status_code, (path, first.get_json())
        once = facts(door.contest)
        assert once != before, path
        post(kim, path, **body)
        assert once == facts(door.contest), path


def failed(client):
    """Return the finding that fails, as the page names it."""
    findings = client.get("/check/now").get_json()["findings"]
    (bad,) = [one for one in findings if one["level"] == "FAIL"]
    return {key: bad[key] for key in ("group", "item", "text")}


def test_a_login_and_a_logout_twice(door):
    """A second login is another login of the same person, and a second logout ends nothing more."""
    kim, other = door.visitor("Kim"), door.visitor("Kim")
    assert 200 == door.log_in(kim, "Kim").status_code
    assert "Kim" == kim.get("/me").get_json()["name"]
    assert [200, 200] == [post(kim, "/logout").status_code for _ in range(2)]
    assert [401, 200] == [one.get("/board").status_code for one in (kim, other)]


def test_the_test_card_twice(tmp_path):
    """A second press shows the card that is shown, and a second press on the other hides it."""
    contest = make_contest(tmp_path, mode="event", track="camera")
    with running_desk(contest, None) as desk:
        board = Board(
            contest,
            [ShownLane(lambda: desk.lanes[0].metering.status, display=desk.lanes[0].display)],
        )
        client = console_app(contest, desk, board, Broadcast(board.show, 2)).test_client()
        for on in (True, True, False, False):
            assert {"card": on} == post(client, "/display/card", on=on).get_json()
            assert on == as_json(board.show())["lanes"][0]["display"]["card"]
        desk.lanes[0].display.close()
    contest.database.close()
