# SPDX-License-Identifier: Apache-2.0
"""The time that durable commits take on the disk of a folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.errors import Unavailable
from referee.store.database import Database

_ROW = b"0" * 400  # An answer with a handful of boxes has about this size.


def commit_seconds(
    folder: Path, count: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return the seconds of each of `count` durable commits of one row, in their order.

    They go to a database of their own in the folder, which is removed. Raises `Unavailable` if the
    disk refuses.
    """
    try:
        with TemporaryDirectory(prefix="commit-cost-", dir=folder) as place:
            database = Database(Path(place) / "commits.db")
            try:
                return _commits(database, count, clock)
            finally:
                database.close()
    except OSError as error:
        raise Unavailable(f"The disk of {folder} refuses a test: {error}.") from error


def _commits(database: Database, count: int, clock: Callable[[], float]) -> list[float]:
    with database.write() as connection:
        connection.execute("create table commits (content blob not null) strict")
    taken = []
    for _ in range(count):
        begun = clock()
        with database.write() as connection:
            connection.execute("insert into commits (content) values (:row)", {"row": _ROW})
        taken.append(clock() - begun)
    return taken
