# SPDX-License-Identifier: Apache-2.0
"""Role by route: who may ask what of the console, from each place, and who is sent to the login."""

from __future__ import annotations

import re

import pytest

from referee.core.actors import Role
from referee.web.desk.roles import actions_of, all_routes, shared_rule
from tests.support.doors import AWAY, post

# The least role of each route. A 'page' leads somebody without a login to the login page. A
# 'program' on the laptop itself needs no login; elsewhere it is for assistants.
TABLE = {
    "GET /login": "public",
    "POST /login": "public",
    "POST /logout": "public",
    "GET /me": "public",
    "GET /form-key": "public",
    "GET /static/<path:name>": "public",
    "GET /": "page",
    "GET /<any(teams, results):name>": "page",
    "GET /check": "page",
    "GET /ovic": "page",
    "GET /audit": "page",
    "GET /audit/now": "assistant",
    "GET /board": "assistant",
    "GET /events": "assistant",
    "GET /sessions/<number>": "assistant",
    "GET /sessions/<number>/power": "assistant",
    "GET /sessions/<number>/slip": "page",
    "GET /teams/now": "assistant",
    "GET /results/now": "assistant",
    "GET /results/images": "assistant",
    "GET /check/now": "assistant",
    "GET /coach/<int:number>": "page",
    "GET /ceremony": "page",
    "GET /ceremony/scenes": "assistant",
    "GET /ceremony/picture/<int:number>": "assistant",
    "GET /ovic/leaderboard": "assistant",
    "GET /ovic/entries": "assistant",
    "GET /health": "program",
    "GET /metrics": "program",
    "GET /display": "program",
    "GET /display/events": "program",
    "GET /display/frames/<session>/<number>": "program",
    "GET /display/card": "program",
    "POST /display/screen": "program",
    "POST /display/painted": "program",
    "POST /display/take": "program",
    "POST /display/bye": "program",
    "POST /display/card": "operator",
    "POST /alarms/seen": "assistant",
    "POST /sessions": "operator",
    "POST /sessions/<number>/<any(arm, stop, void, rerun, extra):move>": "operator",
    "POST /sessions/<number>/<any(rehearsal, counts):mark>": "operator",
    "POST /sessions/<number>/<any(seen, note):mark>": "assistant",
    "POST /sessions/<number>/review": "operator",
    "POST /sessions/review": "operator",
    "POST /teams/<any(add, lottery, order, defer, rename, withdraw, return):what>": "operator",
    "POST /teams/slips": "operator",
    "GET /teams/slips/<once>": "operator",
    "POST /bundles": "operator",
    "GET /bundles/<name>": "operator",
    "POST /check/again": "operator",
    "POST /check/override": "operator",
    "POST /check/overrides/<int:number>/end": "operator",
    "POST /results/<any(finalize, reopen):what>": "operator",
    "POST /scoreboard/<any(freeze, unfreeze):what>": "operator",
    "POST /break/<any(begin, end):what>": "operator",
    "POST /proposals": "operator",
    "POST /proposals/<int:number>/<any(apply, cancel):what>": "operator",
}
LOGOUT = "POST /logout"
WATCHING = {"public", "page", "assistant", "program"}
# Who, whether at the laptop itself, and what of the table they get.
VISITORS = [
    ("Kim", True, WATCHING | {"operator"}),
    ("Kim", False, WATCHING | {"operator"}),
    ("Sam", True, WATCHING),
    ("Sam", False, WATCHING),
    (None, True, {"public", "program"}),
    (None, False, {"public"}),
]


def served(app):
    """Return 'METHOD rule' of every route that the application serves, with those of each lane."""
    return {
        (f"{method} {shared_rule(rule.rule)}", f"{method} {rule.rule}")
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def paths(rule):
    """Return every path of a rule, with each of its words, and with a number in other places."""
    found = re.search(r"<any\(([^)]*)\):\w+>", rule)
    words = [rule.replace(found[0], word.strip()) for word in found[1].split(",")] if found else []
    return [re.sub(r"<[^>]*>", "1", path) for path in words or [rule]]


def test_every_route_has_a_row(empty):
    """A new route without a row here, or without a line in the table of roles, fails."""
    routes = {shared for shared, _ in served(empty.app)}
    assert set(TABLE) == routes == set(all_routes())


@pytest.mark.parametrize(("who", "here", "allowed"), VISITORS)
def test_role_by_route(door, who, here, allowed):
    """Everybody gets what the table says, and nobody gets more, on any path of a route."""
    wrong = []
    door.broadcast.start()
    client = door.visitor(who, **({} if here else AWAY))
    # The logout comes last, because it ends the login.
    for shared, route in sorted(served(door.app), key=lambda pair: (pair[0] == LOGOUT, pair)):
        method, rule = route.split(" ", 1)
        for path in paths(rule):
            with client.open(path, method=method, json={}) as answer:
                streams = answer.mimetype == "text/event-stream"
                code = "" if streams else (answer.get_json(silent=True) or {}).get("code")
                turned_away = answer.status_code in (401, 303) or code == "role_forbids"
                led = answer.headers.get("Location") == f"/login?next={path}"
            kind = TABLE[shared]
            if turned_away != (kind not in allowed) or led != (kind == "page" and who is None):
                wrong.append((route, path, answer.status_code))
    door.broadcast.close()
    assert [] == wrong


def test_every_action_needs_the_key_of_a_page(empty):
    """What any other program on the laptop posts changes nothing, on each route of an action."""
    client = empty.app.test_client()
    acts = [route for route, access in all_routes().items() if access.action]
    asked = [path for route in acts for path in paths(route.removeprefix("POST "))]
    codes = {path: client.post(path, json={}).get_json()["code"] for path in asked}
    assert codes.keys() > {"/sessions/1/arm", "/teams/add", "/bundles", "/break/end"}
    assert {"form_key_wrong"} == set(codes.values())


def test_a_refused_action_changes_nothing_and_is_on_record(door):
    """An assistant's press on a button of operators is in the audit, and nothing else happens."""
    door.event.desk.new_session("ants", "Kim")
    sam = door.visitor("Sam")
    assert 403 == post(sam, "/sessions/1/void", reason="I may not").status_code
    assert "READY" == door.event.desk.state(1).value
    rows = sam.get("/audit/now").get_json()["rows"]
    assert ("Sam", "void") == (rows[0]["who"], rows[0]["action"])
    assert "only an operator may do this" in rows[0]["refusal"]


def test_a_page_knows_what_its_visitor_may_do() -> None:
    """The names of the actions come from the same table, a name for each word of a route."""
    assert {"seen", "note", "alarm seen"} == set(actions_of(Role.ASSISTANT))
    assert set() == set(actions_of(Role.PUBLIC))
    wanted = {"arm", "counts", "new session", "order team", "reopen", "unfreeze scoreboard"}
    assert wanted < set(actions_of(Role.OPERATOR))
