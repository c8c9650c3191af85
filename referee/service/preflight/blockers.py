# SPDX-License-Identifier: Apache-2.0
"""What keeps a session from being armed: better no session than one that cannot end well."""

from __future__ import annotations

import os
import shutil

from referee.service.setup.contest import Contest
from referee.store.images import ImageEntry

DISK_FLOOR_BYTES = {"event": 2 * 2**30, "practice": 2**28}
"""Free bytes that are wanted, by mode: an event has a day of sessions before it."""


def blockers(contest: Contest) -> list[str]:
    """Return a sentence for each thing that forbids arming; none when all is well.

    The disk must have room, and every image must still have the size and time with which it was
    hashed. The meter proves itself by being prepared.
    """
    found = []
    folder = contest.config.storage.folder
    free = shutil.disk_usage(folder).free
    floor = DISK_FLOOR_BYTES[contest.config.contest.mode]
    if free < floor:
        found.append(
            f"The disk of {folder} has {free / 2**30:.1f} GiB left and {floor / 2**30:.2g} are "
            "wanted: make room."
        )
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
