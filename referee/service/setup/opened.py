# SPDX-License-Identifier: Apache-2.0
"""A contest as a command opens it, beside a running referee or without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from referee.service.setup.config import Config
from referee.service.setup.contest import Contest, open_contest
from referee.service.setup.extra import present_extras, rooms_of
from referee.service.setup.own_folder import require_own
from referee.service.setup.private_files import make_private, private_from_the_start
from referee.store.database import Database
from referee.store.readable import readable


@contextmanager
def opened_contest(config: Config) -> Iterator[Contest]:
    """Open a contest until the block ends; make its folder, or bring its database up to date.

    The images need not be prepared: a contest without them has none. Raises `InputError` for a
    folder of somebody else, and leaves it as it is. On a disk that takes no writes
    the block gets a copy of the database, which can be read only.
    """
    with readable(config.database) as file:
        copy = None if file == config.database else file
        if copy is None:
            require_own(config.storage.folder)
            make_private(config.storage.folder)
        with private_from_the_start():
            database = Database(config.database, copy=copy)
            try:
                database.migrate(rooms_of(present_extras(config)))
            finally:
                database.close()
            contest = open_contest(config, read_only=copy is not None, copy=copy)
        try:
            yield contest
        finally:
            contest.database.close()
