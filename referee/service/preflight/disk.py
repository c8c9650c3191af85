# SPDX-License-Identifier: Apache-2.0
"""Room on the disk: how much a contest wants before a session, and how much there is."""

from __future__ import annotations

import shutil

from referee.service.setup.config import Config

DISK_FLOOR_BYTES = {"event": 2 * 2**30, "practice": 2**28}
"""Free bytes that are wanted, by mode: an event has a day of sessions before it."""


def free_bytes(config: Config) -> int:
    """Return the free bytes of the disk that holds, or will hold, the contest's folder."""
    folder = config.storage.folder
    return shutil.disk_usage(folder if folder.exists() else config.path.parent).free


def disk_shortage(config: Config) -> str | None:
    """Return a sentence where the disk has less room than a session wants, else None."""
    free, floor = free_bytes(config), DISK_FLOOR_BYTES[config.contest.mode]
    if free >= floor:
        return None
    return (
        f"The disk of {config.storage.folder} has {free / 2**30:.1f} GiB left and "
        f"{floor / 2**30:.2g} are wanted: make room."
    )
