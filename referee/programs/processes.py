# SPDX-License-Identifier: Apache-2.0
"""The programs of a running referee: contest server, control desk, live scorer.

The supervisor starts each program as its own process. A program builds its objects from the
configuration and stops cleanly on SIGTERM.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from types import FrameType

from power.connect import open_meter
from power.meter import InputMode, Meter, MeterSettings
from power.transports.transport import WireLog
from referee.service.board.board import board_of
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.lane import MakeMetering
from referee.service.desk.link import DeskClient, DeskServer, socket_path
from referee.service.desk.metering import Metering
from referee.service.desk.requests import serve_request
from referee.service.display.pages import PAGES_MOST
from referee.service.entry.admission import Admission, SessionCache
from referee.service.entry.answers import Answers
from referee.service.entry.request_log import RequestLog
from referee.service.results.live_scorer import LiveScorer
from referee.service.setup.config import Config, MeterSection
from referee.service.setup.contest import open_contest, read_contest_truth
from referee.service.setup.folder_lock import lock_folder
from referee.service.submission.door import Door, journal_commit
from referee.service.submission.tasks import open_tasks
from referee.service.submission.window import Window
from referee.store.journal import Journal
from referee.web.contest.app import contest_app
from referee.web.contest.services import ContestServices
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from referee.web.server.aside import WorkerKind, make_aside
from referee.web.server.server import Running, serve

# The largest number of console pages that may be open. Each open page holds one thread.
_VIEWERS = 16
# The threads for all other requests to the console.
_SPARE_THREADS = 16
# How long a new desk waits until a killed desk has released the contest's folder.
_TAKE_OVER_S = 30.0
# How many long answers a process parses at once. The limit bounds the memory under a flood.
_LONG_ANSWERS = 2
# How many models of a process write to the disk at once; others wait for their turn.
_COMING_MODELS = 2
_PR_SET_PDEATHSIG = 1  # prctl(2)


def stop_with_parent(parent_pid: int) -> None:
    """Ask the kernel to stop this process when its supervisor dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent_pid:
        raise SystemExit("the supervisor is gone already")


def run_contest_server(config: Config, descriptor: int, lane: int) -> None:
    """Serve a lane's contestants until SIGTERM; the configuration says with how many workers."""

    kind: WorkerKind = "gevent" if config.server.worker == "gevent" else "gthread"

    def make() -> Running:
        contest = open_contest(config)
        journal = Journal(contest.database, make_aside(kind, 1))
        desk = DeskClient(socket_path(config.storage.folder))
        sessions = SessionCache(contest.database)
        door = None
        if config.ovic.is_open:
            commit, tasks = journal_commit(journal), open_tasks(config)
            door = Door(config, contest.clock, contest.database, commit, tasks)
        services = ContestServices(
            contest,
            Admission(contest, sessions, desk, make_aside(kind, 1), lane),
            Answers(contest, sessions, journal),
            RequestLog(contest, journal),
            make_aside(kind, _LONG_ANSWERS),
            door,
            make_aside(kind, _COMING_MODELS),
        )

        def close() -> None:
            journal.close()
            contest.database.close()

        return Running(contest_app(services), close)

    serve(
        make,
        descriptor=descriptor,
        workers=config.server.workers,
        threads=config.server.threads,
        name="referee-contest",
        kind=kind,
    )


def run_control_desk(
    config: Config,
    descriptor: int,
    resources: Sequence[str],
    addresses: Sequence[str],
) -> None:
    """Serve operators, and own the session clock and the meters, until SIGTERM.

    Each lane has the VISA resource of its meter in `resources`, or `none`. The console shows
    `addresses`, those of the lanes' contest servers.
    """

    def make() -> Running:
        # A killed desk may take a moment to die. Two desks must never own the meter.
        lock = ExitStack()
        lock.enter_context(lock_folder(config.storage.folder, "desk", wait_s=_TAKE_OVER_S))
        contest = open_contest(config)
        meters = [_metering(config, n, resource) for n, resource in enumerate(resources, 1)]
        desk = ControlDesk(contest, meters)
        desk.start()
        path = socket_path(config.storage.folder)
        link = DeskServer(path, partial(serve_request, desk), desk.logbook.alarm)
        board = board_of(contest, desk, addresses)
        window = None
        if config.ovic.is_open:
            window = Window(config, contest.database, open_tasks(config))
        broadcast = Broadcast(board.show, _VIEWERS, desk.logbook.alarm)
        broadcast.start()

        def close() -> None:
            link.close()
            broadcast.close()
            desk.close()
            contest.database.close()
            lock.close()

        return Running(
            console_app(contest, desk, board, broadcast, window),
            close,
            stop=partial(_stop, desk, broadcast),
        )

    serve(
        make,
        descriptor=descriptor,
        workers=1,
        threads=_VIEWERS + PAGES_MOST * len(resources) + _SPARE_THREADS,
        name="referee-desk",
    )


def _metering(config: Config, lane: int, resource: str) -> MakeMetering:
    """Return a maker of the owner of a lane's meter."""
    section = config.lane(lane).meter
    opener: Callable[[], Meter] | None = None
    if resource != "none":
        log = WireLog(config.wire_log_of(lane))
        opener = partial(open_meter, resource, wire_log=log, element=section.element)
    return partial(Metering, opener, meter_settings(section))


def _stop(desk: ControlDesk, broadcast: Broadcast) -> None:
    """End the streams to all pages."""
    broadcast.stop()
    for lane in desk.lanes:
        if lane.display is not None:
            lane.display.close()


def run_live_scorer(config: Config) -> None:
    """Score sessions until SIGTERM or SIGINT."""
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    contest = open_contest(config)
    LiveScorer(contest, read_contest_truth(contest)).run(stopping)
    contest.database.close()


def meter_settings(section: MeterSection) -> MeterSettings:
    """Return the meter settings of the configuration; each session sets its own timer."""
    return MeterSettings(
        timer_s=0,
        update_interval_s=section.update_interval_s,
        mode=InputMode(section.mode),
        voltage_range_v=section.voltage_range_v,
        current_range_a=section.current_range_a,
        crest_factor=section.crest_factor,
        line_filter=section.line_filter,
        frequency_filter=section.frequency_filter,
        element=section.element,
    )
