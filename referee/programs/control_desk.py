# SPDX-License-Identifier: Apache-2.0
"""The program of the control desk: it owns the sessions' clock and the meters."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from power.clock import real_elapsed_s
from power.connect import open_meter
from power.logs.journal import journal
from power.meter import Meter
from power.transports.transport import WireLog
from referee.errors import Unavailable
from referee.programs.outside import outside_of
from referee.service.board.board import board_of
from referee.service.board.steady import steady
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.lane import MakeMetering
from referee.service.desk.link import DeskServer, socket_path
from referee.service.desk.metering import Metering
from referee.service.desk.requests import serve_request
from referee.service.display.pages import PAGES_MOST
from referee.service.setup.config import Config
from referee.service.setup.contest import open_contest
from referee.service.setup.folder_lock import lock_folder
from referee.service.setup.program import Launch
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from referee.web.server.server import Running, serve

# The largest number of console pages that may be open. Each open page holds one thread.
_VIEWERS = 16
# The threads for all other requests to the console.
_SPARE_THREADS = 16
# How long a new desk waits until a killed desk has released the contest's folder.
_TAKE_OVER_S = 30.0
# A command that the desk runs: its longest time, and how far it stands behind the meters.
_COMMAND_MOST_S = 1800.0
_COMMAND_NICENESS = 10


def run_control_desk(config: Config, launch: Launch) -> None:
    """Serve operators, and own the session clock and the meters, until SIGTERM.

    `launch.meters` has the VISA resource of each lane's meter, or `none`. The console shows
    `launch.contests`, the addresses of the lanes' contest servers.
    """
    resources, addresses = launch.meters, launch.contests

    def make() -> Running:
        # A killed desk may take a moment to die. Two desks must never own the meter.
        lock = ExitStack()
        lock.enter_context(lock_folder(config.storage.folder, "desk", wait_s=_TAKE_OVER_S))
        contest = open_contest(config)
        meters = [_metering(config, n, resource) for n, resource in enumerate(resources, 1)]
        desk = ControlDesk(contest, meters, outside_of(config, contest, addresses))
        desk.start()
        path = socket_path(config.storage.folder)
        answer = partial(serve_request, desk)
        link = DeskServer(path, answer, desk.logbook.alarm, contest.database.release)
        board = board_of(contest, desk, addresses)
        broadcast = Broadcast(board.show, _VIEWERS, desk.logbook.alarm, steady)
        broadcast.start()

        def close() -> None:
            link.close()
            broadcast.close()
            desk.close()
            contest.database.close()
            lock.close()

        return Running(
            console_app(contest, desk, board, broadcast, launch.parent, run_own_command),
            close,
            stop=partial(_stop, desk, broadcast),
        )

    serve(
        make,
        descriptor=launch.descriptor,
        workers=1,
        threads=_VIEWERS + PAGES_MOST * len(resources) + _SPARE_THREADS,
        name="referee-desk",
        log_requests=config.log.requests,
        proxies=config.server.proxies,
    )


def _metering(config: Config, lane: int, resource: str) -> MakeMetering:
    """Return a maker of the owner of a lane's meter."""
    section = config.lane(lane).meter
    opener: Callable[[], Meter] | None = None
    if resource != "none":
        log = WireLog(config.wire_log_of(lane), real_elapsed_s)
        opener = partial(
            open_meter, resource, clock=real_elapsed_s, wire_log=log, element=section.element
        )
    return partial(
        Metering,
        opener,
        section.settings,
        clock=real_elapsed_s,
        resource=resource,
        runs=journal(),
    )


def _stop(desk: ControlDesk, broadcast: Broadcast) -> None:
    """End the streams to all pages."""
    broadcast.stop()
    for lane in desk.lanes:
        if lane.display is not None:
            lane.display.close()


def run_own_command(words: Sequence[str], bound_s: float = _COMMAND_MOST_S) -> tuple[int, str]:
    """Run `referee` with these words; return its exit code and what it said on standard error.

    The desk's threads, which read the meters, go first. Raises `Unavailable` after the bound.
    """
    nice = shutil.which("nice")
    stands_back = [] if nice is None else [nice, "-n", str(_COMMAND_NICENESS)]
    command = [*stands_back, sys.executable, "-m", "referee", *words]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=bound_s,
        )
    except subprocess.TimeoutExpired:
        text = f"'referee {words[0]}' took more than {bound_s:g} s. Run it in a terminal."
        raise Unavailable(text) from None
    return done.returncode, done.stderr.decode("utf-8", "replace")
