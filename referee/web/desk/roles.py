# SPDX-License-Identifier: Apache-2.0
"""Who may ask what of the console: one line for each route; a route without a line is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from flask import request

from referee.core.actors import Role
from referee.service.setup.extra import all_extras


@dataclass(frozen=True)
class Access:
    """What a route asks of its visitor.

    `at_desk` lets a browser on the laptop itself in without a login. `page` is a page for people:
    without a login it leads to the login page. `by_hand` is asked for by a person and not by a
    timer, so it counts as use of the login. `action` is the name of a change in the audit log; it
    may have the route's own words in braces.
    """

    least: Role
    at_desk: bool = False
    page: bool = False
    by_hand: bool = False
    action: str = ""


_ANYBODY = Access(Role.PUBLIC)
_PAGE = Access(Role.ASSISTANT, page=True, by_hand=True)
_WATCH = Access(Role.ASSISTANT)
# The second monitor's browser has nobody who could log in. Its pictures are the contest's secret,
# so another machine needs a login.
_DISPLAY = Access(Role.ASSISTANT, at_desk=True)
# A program on the laptop that watches the referee has no login either.
_MONITOR = Access(Role.ASSISTANT, at_desk=True)


def _act(action: str, least: Role = Role.OPERATOR) -> Access:
    return Access(least, by_hand=True, action=action)


_OF_GUESTS = {"page": _PAGE, "watch": _WATCH}

ROUTES: Mapping[str, Access] = {
    "GET /login": _ANYBODY,
    "POST /login": _ANYBODY,
    "POST /logout": _ANYBODY,
    "GET /me": Access(Role.PUBLIC, by_hand=True),
    "GET /form-key": _ANYBODY,
    "GET /static/<path:name>": _ANYBODY,
    "GET /": _PAGE,
    "GET /<any(teams, results):name>": _PAGE,
    "GET /check": _PAGE,
    "GET /audit": _PAGE,
    "GET /audit/now": _WATCH,
    "GET /health": _MONITOR,
    "GET /metrics": _MONITOR,
    "GET /board": _WATCH,
    "GET /events": _WATCH,
    "GET /sessions/<number>": _WATCH,
    "GET /sessions/<number>/power": _WATCH,
    "GET /sessions/<number>/slip": _PAGE,
    "GET /teams/now": _WATCH,
    "GET /results/now": _WATCH,
    "GET /results/images": Access(Role.ASSISTANT, by_hand=True),
    "GET /check/now": _WATCH,
    "GET /display": _DISPLAY,
    "GET /display/events": _DISPLAY,
    "GET /display/frames/<session>/<number>": _DISPLAY,
    "GET /display/card": _DISPLAY,
    "POST /display/screen": _DISPLAY,
    "POST /display/take": _DISPLAY,
    "POST /display/painted": _DISPLAY,
    "POST /display/bye": _DISPLAY,
    "POST /display/card": _act("test card"),
    "POST /alarms/seen": _act("alarm seen", Role.ASSISTANT),
    "POST /sessions": _act("new session"),
    "POST /sessions/<number>/<any(arm, stop, void, rerun, extra):move>": _act("{move}"),
    "POST /sessions/<number>/<any(rehearsal, counts):mark>": _act("{mark}"),
    "POST /sessions/<number>/<any(seen, note):mark>": _act("{mark}", Role.ASSISTANT),
    "POST /sessions/<number>/review": _act("review"),
    "POST /sessions/review": _act("review"),
    "POST /teams/<any(add, lottery, order, defer, rename, withdraw, return):what>": _act(
        "{what} team"
    ),
    "POST /teams/slips": _act("slips"),
    "GET /teams/slips/<once>": Access(Role.OPERATOR, by_hand=True),
    "POST /bundles": _act("export"),
    "GET /bundles/<name>": Access(Role.OPERATOR, by_hand=True),
    "POST /check/again": _act("slow checks"),
    "POST /check/override": _act("override check"),
    "POST /check/overrides/<int:number>/end": _act("take back override"),
    "POST /results/<any(finalize, reopen):what>": _act("{what}"),
    "POST /scoreboard/<any(freeze, unfreeze):what>": _act("{what} scoreboard"),
    "POST /break/<any(begin, end):what>": _act("{what} break"),
    "POST /proposals": _act("make proposal"),
    "POST /proposals/<int:number>/<any(apply, cancel):what>": _act("{what} proposal"),
}

_OF_LANE = re.compile(r"^/lanes/[0-9]+/display")
_CHOICE = re.compile(r"<any\(([^)]+)\):(\w+)>")


@cache
def all_routes() -> Mapping[str, Access]:
    """Return the table with the routes of the guests, who may show things but change nothing."""
    guests = {
        route: _OF_GUESTS[kind] for extra in all_extras() for route, kind in extra.console.items()
    }
    return {**ROUTES, **guests}


def access_of_request() -> Access | None:
    """Return the line of the table for the present request, or None if it has none."""
    if request.url_rule is None:
        return None
    method = "GET" if request.method == "HEAD" else request.method
    return all_routes().get(f"{method} {shared_rule(request.url_rule.rule)}")


def shared_rule(rule: str) -> str:
    """Return a route's rule without its lane: the display of every lane has the same routes."""
    return _OF_LANE.sub("/display", rule)


def action_of_request() -> str:
    """Return the action of the present request as the table names it, '' if it changes nothing."""
    access = access_of_request()
    return "" if access is None else access.action


def actions_of(role: Role) -> list[str]:
    """Return the actions that a role may do, by their names in the audit log.

    The pages enable the buttons of these alone.
    """
    allowed = [(route, one.action) for route, one in ROUTES.items() if role.may(one.least)]
    return [name for route, action in allowed if action for name in _names(route, action)]


def _names(route: str, action: str) -> Iterator[str]:
    """Return the names of a route's actions, one for each of the words that it takes."""
    choice = _CHOICE.search(route)
    if choice is None:
        yield action
        return
    for word in choice[1].split(", "):
        yield action.format(**{choice[2]: word})
