# SPDX-License-Identifier: Apache-2.0
"""The console of an event of several lanes, with meters and a clock in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from werkzeug.serving import make_server

from referee.service.board.board import board_of
from referee.service.desk.control_desk import ControlDesk
from referee.service.setup.contest import Contest
from referee.service.setup.lane_config import LaneSection
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.teams import give_password

PLACES = ((1, "left"), (2, "right"), (3, "back"), (4, "front"))
LONG = "a team with as many letters in its name as a form lets it be"


@contextmanager
def lanes_event(folder: Path, count: int, resource: str = "", *teams: str) -> Iterator[Event]:
    """Run an event of so many lanes until the block ends; its `url` is the console's.

    `resource` is what the configuration says of each meter.
    """
    clock = FakeClock()
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    places, meter = PLACES[:count], contest.config.meter
    meter = replace(meter, resource=resource) if resource else meter
    lanes = [LaneSection(name, f"127.0.0.1:80{n}0", meter) for n, name in places]
    contest = replace(contest, config=replace(contest.config, declared_lanes=tuple(lanes)))
    for team in teams or ("ants", "bees", LONG, "wasps"):
        give_password(contest.config.teams, team)
    meters = [FakeMeter(clock) for _ in places]
    with running_desk(contest, *meters) as desk, served(contest, desk) as url:
        found = Event(contest, desk, meters[0])
        found.meters = meters
        found.url = url
        yield found
    contest.database.close()


@contextmanager
def served(contest: Contest, desk: ControlDesk) -> Iterator[str]:
    """Serve the console of a desk until the block ends, and return its address."""
    board = board_of(contest, desk)
    broadcast = Broadcast(board.show, 4)
    server = make_server("127.0.0.1", 0, console_app(contest, desk, board, broadcast), True)
    thread = threading.Thread(target=server.serve_forever, name="console", daemon=True)
    thread.start()
    broadcast.start()
    yield f"http://127.0.0.1:{server.port}"
    broadcast.close()
    server.shutdown()
    thread.join()
    server.server_close()


def begin(event: Event, team: str, lane: int) -> int:
    """Let a team's session run in a lane."""
    number = event.desk.new_session(team, "Kim", lane)
    event.desk.steps_of(number).arm(number, "Kim")
    return int(event.desk.begin(team, "10.0.0.2", lane))
