# SPDX-License-Identifier: Apache-2.0
"""The program that serves the line of OVIC's entries: one model at a time, on its pinned core."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from referee.core.states import SessionState, state_of
from referee.extras.ovic.judging.entry import measure_until_stable
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.entry_queue import EntryQueue
from referee.extras.ovic.submission.judge import Judge
from referee.extras.ovic.submission.place import place_of_contest
from referee.extras.ovic.submission.tasks import open_tasks
from referee.service.setup.clock import Clock, SystemClock
from referee.service.setup.config import Config
from referee.service.setup.folder_lock import lock_folder
from referee.service.setup.program import Launch
from referee.store.database import Database
from referee.store.sessions import live_session

# How long a new program waits until a killed one has released the contest's folder.
_TAKE_OVER_S = 30.0


def run_entry_queue(config: Config, launch: Launch) -> None:
    """Serve the line until SIGTERM, which interrupts the main thread."""
    measure = partial(measure_until_stable, place=place_of_contest(config))
    clock = SystemClock()
    with lock_folder(config.storage.folder, "ovic", wait_s=_TAKE_OVER_S):
        with closing(Database(config.database)) as database:
            judge = Judge(60 * ovic_of(config).entry_minutes, measure)
            paused = partial(_session_runs, config, clock, database)
            EntryQueue(config, clock, database, open_tasks(config), judge, paused).run()


def _session_runs(config: Config, clock: Clock, database: Database) -> bool:
    """Tell whether the queue waits, because an on-site session runs."""
    if not ovic_of(config).waits_for_sessions:
        return False
    live = [live_session(database.connection, lane + 1) for lane in range(len(config.lanes))]
    states = [state_of(session.facts, clock.now()) for session in live if session is not None]
    return SessionState.RUNNING in states
