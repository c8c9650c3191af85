# SPDX-License-Identifier: Apache-2.0
"""The routes of the three servers and the words of their requests, as the code itself has them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import Mock

from flask import Flask

from referee.core.blocking import run_here
from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.setup.extra import present_extras
from referee.web.contest.app import contest_app
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from referee.web.scoreboard.app import scoreboard_app
from tests.support.fakes import FakeClock, running_desk
from tests.support.ovic_contests import make_ovic_contest

_WEB = Path(__file__).parents[2] / "referee/web"
_GUESTS = Path(__file__).parents[2] / "referee/extras"
# A field of a form, of a JSON object or of a query is a short literal in the code that reads it.
_WORD = re.compile(r'"([A-Za-z][A-Za-z_]{1,19})"')


@dataclass(frozen=True)
class Route:
    """A rule of a server's map of addresses, with the methods that it takes."""

    server: str
    rule: str
    methods: tuple[str, ...]


@cache
def all_routes() -> tuple[Route, ...]:
    """Return the routes of all servers, those of OVIC and of the display included."""
    with tempfile.TemporaryDirectory() as name:
        contest = make_ovic_contest(Path(name), FakeClock(), mode="event")
        services = Mock(contest=contest)
        contestants = contest_app(services)
        for extra in present_extras(contest.config):
            extra.add_contest_routes(contestants, services, Mock(), lambda threads: run_here)
        with running_desk(contest, None) as desk:
            board = Board(contest, [ShownLane(lambda: desk.lanes[0].metering.status)])
            apps = {
                "contest": contestants,
                "console": console_app(contest, desk, board, Broadcast(board.show, 1)),
                "scoreboard": scoreboard_app(Mock()),
            }
        contest.database.close()
    return tuple(route for server, app in apps.items() for route in _routes(server, app))


def _routes(server: str, app: Flask) -> Iterator[Route]:
    rules = sorted(app.url_map.iter_rules(), key=lambda rule: (rule.rule, sorted(rule.methods)))
    for rule in rules:
        methods = sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        yield Route(server, rule.rule, tuple(methods))


@cache
def all_words() -> tuple[str, ...]:
    """Return the short texts of the web layer: the names of fields and choices are among them."""
    found: set[str] = set()
    for path in (*_WEB.rglob("*.py"), *_GUESTS.glob("*/pages/*.py")):
        found.update(_WORD.findall(path.read_text(encoding="utf-8")))
    return tuple(sorted(found))
