# SPDX-License-Identifier: Apache-2.0
"""The program of the contest server: it serves the contestants of a lane."""

from __future__ import annotations

from functools import partial

from referee.service.desk.link import DeskClient, socket_path
from referee.service.entry.admission import LOGINS_WAITING, Admission, SessionCache
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
from referee.web.server.blocking import WorkerKind, blocking_runner
from referee.web.server.server import Running, serve

# How many long answers a process parses at once. The limit bounds the memory under a flood.
_LONG_ANSWERS = 2


def run_contest_server(config: Config, launch: Launch) -> None:
    """Serve a lane's contestants until SIGTERM; the configuration says with how many workers."""
    kind: WorkerKind = "gevent" if config.server.worker == "gevent" else "gthread"

    # With threads each waiting login holds one, and the others need most of them.
    logins = LOGINS_WAITING if kind == "gevent" else max(2, config.server.threads // 4)

    # The rules are loaded before the workers are forked, which then share them.
    load_track(config.contest.track)

    def make() -> Running:
        contest = open_contest(config)
        journal = Journal(contest.database, blocking_runner(kind, 1))
        desk = DeskClient(socket_path(config.storage.folder))
        sessions = SessionCache(contest.database)
        devices, hashing = OneDevice(contest, journal), blocking_runner(kind, 1)
        services = ContestServices(
            contest,
            Admission(contest, sessions, desk, devices, hashing, launch.lane, logins),
            Answers(contest, sessions, journal),
            RequestLog(contest, journal),
            blocking_runner(kind, _LONG_ANSWERS),
        )
        app = contest_app(services)
        for extra in present_extras(config):
            extra.add_contest_routes(app, services, journal, partial(blocking_runner, kind))

        def close() -> None:
            journal.close()
            contest.database.close()

        return Running(app, close)

    serve(
        make,
        descriptor=launch.descriptor,
        workers=config.server.workers,
        threads=config.server.threads,
        name="referee-contest",
        log_requests=config.log.requests,
        proxies=config.server.proxies,
        kind=kind,
        tls=config.server.contest_tls,
    )
