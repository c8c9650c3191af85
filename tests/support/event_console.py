# SPDX-License-Identifier: Apache-2.0
"""The console of an event in memory, open to a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from referee.programs.control_desk import run_own_command
from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.desk.readiness import Outside
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.served import served
from tests.web.desk.test_check import Outsider


@contextmanager
def event_console(folder: Path, scoreboard: str | None = None) -> Iterator[Event]:
    """Run the console of an event until the block ends; the event's `url` is its address.

    `scoreboard` is the address that its configuration names; nothing listens there. Slow checks
    last until the event's `slow` lets them end.
    """
    clock, slow = FakeClock(), Outsider()
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    server = replace(contest.config.server, scoreboard=scoreboard)
    contest = replace(contest, config=replace(contest.config, server=server))
    meter = FakeMeter(clock)
    with running_desk(contest, meter, outside=Outside(run=slow)) as desk:
        board = Board(contest, [ShownLane(lambda: desk.lanes[0].metering.status)])
        broadcast = Broadcast(board.show, 4)
        app = console_app(contest, desk, board, broadcast, run=run_own_command)
        with served(app) as url:
            broadcast.start()
            found = Event(contest, desk, meter)
            found.slow, found.url = slow, url
            yield found
            slow.end.set()
            broadcast.close()
    contest.database.close()
