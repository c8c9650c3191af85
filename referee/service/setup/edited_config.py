# SPDX-License-Identifier: Apache-2.0
"""A configuration that somebody edits while the referee runs, which uses it from its next start."""

from __future__ import annotations

from power.bounded_file import file_text
from referee.service.setup.contest import Contest
from referee.service.setup.folder_lock import is_hosted
from referee.store.images import newest_material


def edited_while_running(contest: Contest) -> str:
    """Return what to say if contest.toml is not as the running referee has read it, else ''.

    A command reads the file anew, so it would show other rules than the console does.
    """
    path = contest.config.path
    started = newest_material(contest.database.connection)
    if started is None or not is_hosted(contest.config.storage.folder):
        return ""
    if started[1] == file_text(path):
        return ""
    return (
        f"{path.name} has changed since the referee was started, which goes on with the earlier "
        "one, and so does the console. Start it again, or put the earlier lines back."
    )
