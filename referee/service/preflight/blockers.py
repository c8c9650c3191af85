# SPDX-License-Identifier: Apache-2.0
"""What keeps a session from being armed: better no session than one that cannot end well."""

from __future__ import annotations

import os

from referee.service.preflight.disk import disk_shortage
from referee.service.setup.contest import Contest
from referee.store.images import ImageEntry


def blockers(contest: Contest) -> list[str]:
    """Return a sentence for each thing that forbids arming; none when all is well.

    The disk must have room, and every image must still have the size and time with which it was
    hashed. The meter proves itself by being prepared.
    """
    shortage = disk_shortage(contest.config)
    found = [] if shortage is None else [shortage]
    changed = [entry.path for entry in contest.images if not _unchanged(entry)]
    if changed:
        found.append(
            f"{len(changed)} images are missing or changed since the start, the first is "
            f"{changed[0]}: put them back, or start the referee again."
        )
    return found


def _unchanged(entry: ImageEntry) -> bool:
    try:
        stat = os.stat(entry.path)
    except OSError:
        return False
    return (stat.st_size, stat.st_mtime_ns) == (entry.size_bytes, entry.modified_ns)
