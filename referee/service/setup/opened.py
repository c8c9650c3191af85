# SPDX-License-Identifier: Apache-2.0
"""A contest as a command opens it, beside a running referee or without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from referee.service.setup.config import Config
from referee.service.setup.contest import Contest, open_contest
from referee.service.setup.private_files import make_private, private_from_the_start
from referee.store.database import Database


@contextmanager
def opened_contest(config: Config) -> Iterator[Contest]:
    """Open a contest until the block ends; make its folder, or bring its database up to date.

    The images need not be prepared: a contest without them has none.
    """
    make_private(config.storage.folder)
    with private_from_the_start():
        database = Database(config.database)
        try:
            database.migrate()
        finally:
            database.close()
        contest = open_contest(config)
    try:
        yield contest
    finally:
        contest.database.close()
