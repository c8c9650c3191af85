# SPDX-License-Identifier: Apache-2.0
"""A backup of a contest's folder, and the contest that is restored from it."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from referee.service.setup.contest import Contest, open_contest


def backup_of(contest: Contest) -> Callable[[], Contest]:
    """Copy a contest's folder; the result closes the contest and opens it as it was then."""
    folder = contest.config.storage.folder
    contest.database.connection.execute("pragma wal_checkpoint(truncate)")
    copy = shutil.copytree(folder, folder.with_name(f"{folder.name}-backup"))

    def restored() -> Contest:
        contest.database.close()
        shutil.rmtree(folder)
        shutil.move(copy, folder)
        return open_contest(contest.config, contest.clock)

    return restored
