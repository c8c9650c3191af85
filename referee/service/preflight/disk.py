# SPDX-License-Identifier: Apache-2.0
"""The free space on the disk: how much a contest needs before a session, and how much it has."""

from __future__ import annotations

import shutil

from referee.service.setup.config import Config

DISK_FLOOR_BYTES = {"event": 2 * 2**30, "practice": 2**28}
"""The free bytes that a session needs, by mode: an event must have room for a day of sessions."""


def free_bytes(config: Config) -> int:
    """Return the free bytes on the disk of the contest's folder, which need not exist yet."""
    folder = config.storage.folder
    return shutil.disk_usage(folder if folder.exists() else config.path.parent).free


def disk_shortage(config: Config) -> str | None:
    """Return a sentence if the disk has too little room for a session, else None."""
    free, floor = free_bytes(config), DISK_FLOOR_BYTES[config.contest.mode]
    if free >= floor:
        return None
    return (
        f"The disk of {config.storage.folder} has {free / 2**30:.1f} GiB left, but a session needs "
        f"{floor / 2**30:.2g} GiB: make room."
    )
