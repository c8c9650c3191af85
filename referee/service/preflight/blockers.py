# SPDX-License-Identifier: Apache-2.0
"""The blockers: conditions that forbid arming, because the session could not end well."""

from __future__ import annotations

import os

from referee.service.preflight.disk import disk_shortage
from referee.service.setup.contest import Contest
from referee.store.images import ImageEntry


def blockers(contest: Contest) -> list[str]:
    """Return one sentence for each blocker; the list is empty when all is well.

    The disk must have room. Every image must still have the size and the modification time that it
    had when it was hashed. The meter is not checked here: preparing it is its check.
    """
    shortage = disk_shortage(contest.config)
    found = [] if shortage is None else [shortage]
    changed = [entry.path for entry in contest.images if not _unchanged(entry)]
    if changed:
        found.append(
            f"{len(changed)} images are missing or have changed since the start. The first is "
            f"{changed[0]}: put them back, or start the referee again."
        )
    return found


def _unchanged(entry: ImageEntry) -> bool:
    try:
        stat = os.stat(entry.path)
    except OSError:
        return False
    return (stat.st_size, stat.st_mtime_ns) == (entry.size_bytes, entry.modified_ns)
