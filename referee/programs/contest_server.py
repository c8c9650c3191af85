# SPDX-License-Identifier: Apache-2.0
"""The program of the contest server: it serves the contestants of a lane."""

from __future__ import annotations

from referee.service.desk.link import DeskClient, socket_path
from referee.service.entry.admission import Admission, SessionCache
from referee.service.entry.answers import Answers
from referee.service.entry.devices import OneDevice
from referee.service.entry.request_log import RequestLog
from referee.service.setup.config import Config
from referee.service.setup.contest import open_contest
from referee.service.setup.extra import present_extras
from referee.service.setup.program import Launch
from referee.store.journal import Journal
from referee.tracks.loading import load_track
from referee.web.contest.app import contest_app
from referee.web.contest.services import ContestServices
from referee.web.server.blocking import BlockingPool
from referee.web.server.server import Running, serve

# How many long answers a process parses at once. The limit bounds the memory under a flood.
_LONG_ANSWERS = 2


def run_contest_server(config: Config, launch: Launch) -> None:
    """Serve a lane's contestants until SIGTERM; the configuration says with how many workers."""
    # The rules are loaded before the workers are forked, which then share them.
    load_track(config.contest.track)

    def make() -> Running:
        contest = open_contest(config)
        journal = Journal(contest.database, BlockingPool(1))
        desk = DeskClient(socket_path(config.storage.folder))
        sessions = SessionCache(contest.database)
        devices, hashing = OneDevice(contest, journal), BlockingPool(1)
        services = ContestServices(
            contest,
            Admission(contest, sessions, desk, devices, hashing, launch.lane),
            Answers(contest, sessions, journal),
            RequestLog(contest, journal),
            BlockingPool(_LONG_ANSWERS),
        )
        app = contest_app(services)
        for extra in present_extras(config):
            extra.add_contest_routes(app, services, journal, BlockingPool)

        def close() -> None:
            journal.close()
            contest.database.close()

        return Running(app, close)

    serve(
        make,
        descriptor=launch.descriptor,
        workers=config.server.workers,
        name="referee-contest",
        log_requests=config.log.requests,
        proxies=config.server.proxies,
        tls=config.server.contest_tls,
    )
