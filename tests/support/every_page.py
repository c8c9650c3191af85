# SPDX-License-Identifier: Apache-2.0
"""Every page that somebody may open, with much to read on each: its address, by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from referee.cli import main
from referee.core.blocking import run_here
from referee.extras.stations.joint_board import (
    STANDING,
    VIEW,
    BoardFiles,
    standing_text,
    view_text,
)
from referee.service.board.board import board_of
from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.freezing import freeze
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.setup.clock import SystemClock
from referee.tracks.loading import load_track
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from tests.e2e.test_console_windows import JAPANESE, TEAMS, play
from tests.support.contests import make_contest
from tests.support.doors import Door
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.lane_console import lanes_event
from tests.support.served import served
from tests.support.stations import feed, followed, judged

EMOJI = "Bees \U0001f41d\U0001f41d \U0001f469\u200d\U0001f680 und die \u30ed\u30dc\u30c3\u30c8"
EVERYBODY = (*TEAMS, EMOJI)
_SCENES = (0, 4, 8)
NAMES = (
    *("console", "console-dialog", "console-menu", "check"),
    *("teams", "teams-menu", "results", "results-dialog", "audit", "login", "slip"),
    *(f"ceremony-{step}" for step in _SCENES),
    *("scoreboard", "team", "team-waits", "scoreboard-frozen", "team-scored"),
    *("practice", "practice-check", "display", "station", "explain", "results-file"),
)
"""The names of the pages."""


@dataclass(frozen=True)
class Page:
    """A page: its address, and a text that a part of it shows when the page is there.

    `press` is what is pressed then, as a selector; a dialog or a menu opens.
    """

    url: str
    selector: str
    text: str
    press: str = ""


@contextmanager
def every_page(folder: Path) -> Iterator[Mapping[str, Page]]:
    """Serve all pages until the block ends; yield them by their names."""
    with ExitStack() as stack:
        folders = {name: folder / name for name in ("event", "frozen", "camera", "alone", "board")}
        for one in folders.values():
            one.mkdir()
        event = stack.enter_context(lanes_event(folders["event"], 2, "emulated", *EVERYBODY))
        play(event)
        stack.callback(_find_meters, event)
        yield (
            _of_the_console(event)
            | _of_the_scoreboard(stack, event)
            | _of_a_frozen_event(stack, folders["frozen"])
            | _of_a_rehearsal(stack, folders["camera"], "camera")
            | _of_stations(stack, folders["board"])
            | _that_stand_alone(stack, folders["alone"])
        )


def _find_meters(event: Any) -> None:
    for meter in event.meters:
        meter.lost = False


def _of_the_console(event: Any) -> dict[str, Page]:
    """Return the pages of an event of two lanes, with dialogs and menus open."""
    of = event.url
    return {
        "console": Page(of, "#verdict", "INVALID"),
        "console-dialog": Page(of, "#verdict", "INVALID", "#note"),
        "console-menu": Page(of, "#verdict", "INVALID", "#more summary"),
        "check": Page(f"{of}/check", "#urgent", "WARN"),
        "teams": Page(f"{of}/teams", "#teams", "Ants"),
        "teams-menu": Page(f"{of}/teams", "#teams", "Ants", "#teams summary"),
        "results": Page(f"{of}/results", "#entries", "INVALID"),
        "results-dialog": Page(f"{of}/results", "#open", "Wasps", "#open button"),
        "audit": Page(f"{of}/audit", "#audit-title", "Audit"),
        "slip": Page(f"{of}/sessions/1/slip", "body", "session 1"),
        **{
            f"ceremony-{step}": Page(f"{of}/ceremony?rehearsal#{step}", "#place", " of ")
            for step in _SCENES
        },
    }


def _audience(stack: ExitStack, source: Any, sessions: TeamSessions | None) -> str:
    """Serve an audience's pages, and return their address."""
    streams = Streams(source, run_here)
    streams.start()
    stack.callback(streams.close)
    return stack.enter_context(served(scoreboard_app(Show(streams, Charts(), sessions, run_here))))


def _of_the_scoreboard(stack: ExitStack, event: Any) -> dict[str, Page]:
    url = _audience(stack, Publisher(event.contest), TeamSessions(event.contest))
    return {
        "scoreboard": Page(url, "#entries", "Ants"),
        "team": Page(f"{url}/team/{quote(TEAMS[0])}", "#figures", "INVALID"),
        "team-waits": Page(f"{url}/team/{quote(TEAMS[3])}", "#word", " "),
    }


def _of_a_frozen_event(stack: ExitStack, folder: Path) -> dict[str, Page]:
    """Return the audience's pages of an event that is frozen, and the login of its console."""
    clock = FakeClock(SystemClock().now())
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    stack.callback(contest.database.close)
    meter = FakeMeter(clock)
    event = Event(contest, stack.enter_context(running_desk(contest, meter)), meter)
    event.register(*EVERYBODY)
    event.play(JAPANESE, found=6)
    event.play("Ants", found=4, verdict="SUSPECT")
    freeze(contest, "Kim")
    url = _audience(stack, Publisher(contest), TeamSessions(contest))
    door = Door(event)
    door.register("Kim", "operator")
    console = stack.enter_context(served(door.app))
    return {
        "login": Page(f"{console}/login", "#title", "Operators"),
        "scoreboard-frozen": Page(url, "#state", "FROZEN"),
        "team-scored": Page(f"{url}/team/{quote(JAPANESE)}", "#figures", "VALID"),
    }


def _of_a_rehearsal(stack: ExitStack, folder: Path, track: str) -> dict[str, Page]:
    """Return the pages of a rehearsal whose images are on a display."""
    contest = make_contest(folder, SystemClock(), mode="practice", seconds=600, track=track)
    stack.callback(contest.database.close)
    desk = stack.enter_context(running_desk(contest, None))
    board = board_of(contest, desk)
    broadcast = Broadcast(board.show, 4)
    url = stack.enter_context(served(console_app(contest, desk, board, broadcast)))
    broadcast.start()
    stack.callback(broadcast.close)
    for lane in desk.lanes:
        if lane.display is not None:
            stack.callback(lane.display.close)
    return {
        "practice": Page(url, "#session-title", "Waiting"),
        "practice-check": Page(f"{url}/check", "#urgent", "WARN"),
        "display": Page(f"{url}/display", "#hint", " "),
    }


def _of_stations(stack: ExitStack, folder: Path) -> dict[str, Page]:
    """Return the joint board of two stations, one of which is silent."""
    teams = [(team, [judged(1.0 + n)]) for n, team in enumerate(EVERYBODY)]
    stations = [
        followed("Tokyo", feed(teams, "ka")),
        followed("Cairo", feed([("Terns", [judged(2.0)]), ("Larks", [])], "kb"), fault="silent"),
    ]
    (folder / VIEW).write_text(view_text("LPIRC", load_track("network"), stations, []))
    (folder / STANDING).write_text(standing_text(stations))
    return {
        "station": Page(
            _audience(stack, BoardFiles(folder, SystemClock()), None), "#entries", "Bees"
        )
    }


def _that_stand_alone(stack: ExitStack, folder: Path) -> dict[str, Page]:
    """Return the pages that a command writes into a file."""
    contest = make_contest(folder, FakeClock(), mode="event", seconds=600)
    meter = FakeMeter(contest.clock)
    with running_desk(contest, meter) as desk:
        event = Event(contest, desk, meter)
        event.register(*EVERYBODY)
        event.play(JAPANESE, found=3)
    contest.database.close()
    config = ["--config", str(contest.config.path)]
    for words in (
        ["explain", "1", "--out", str(folder / "why")],
        ["results", "--html", str(folder / "results.html")],
    ):
        assert 0 == main([*words, *config])
    return {
        "explain": Page((folder / "why/index.html").as_uri(), "body", "mAP"),
        "results-file": Page((folder / "results.html").as_uri(), "body", JAPANESE),
    }
