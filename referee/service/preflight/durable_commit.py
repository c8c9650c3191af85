# SPDX-License-Identifier: Apache-2.0
"""The check of what a durable commit costs: each accepted answer waits for one."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from referee.errors import Unavailable
from referee.service.preflight.finding import CheckResult, fail, ok, warn
from referee.service.preflight.slow import COMMIT
from referee.service.setup.config import Config
from referee.store.commit_cost import commit_seconds

_COMMITS = 200
# A small post is to be answered within 20 ms at the 99th percentile; a commit is most of that.
_SLOW_MEDIAN_S = 0.02
# The server drops an answer whose commit does not begin within 15 s.
_STALL_S = 1.0
_DEAD_S = 10.0
_MOUNTS = "/proc/mounts"
_IN_MEMORY = ("tmpfs", "ramfs")
_REMOTE = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "vboxsf")
_REMEDY = "Keep the contest's folder on a disk of this laptop: set [storage] folder."


def check_commits(config: Config) -> CheckResult:
    """Measure durable commits on the disk of the contest's folder, and judge them."""
    folder = config.storage.folder
    try:
        taken = commit_seconds(folder, _COMMITS)
    except Unavailable as error:
        return fail(*COMMIT, str(error), "Make room, or choose another disk.")
    return judge_commits(taken, _file_system(folder.resolve()))


def judge_commits(taken_s: Sequence[float], file_system: str) -> CheckResult:
    """Judge the seconds of commits on a file system ('' if it is not known)."""
    median_s, worst_s = statistics.median(taken_s), max(taken_s)
    text = f"median {1000 * median_s:.2f} ms, worst {1000 * worst_s:.1f} ms of {len(taken_s)}"
    if file_system in _IN_MEMORY:
        return fail(*COMMIT, f"{file_system}: nothing there survives a power cut", _REMEDY)
    if file_system in _REMOTE:
        return fail(*COMMIT, f"{file_system}: a database on it may be damaged", _REMEDY)
    if worst_s >= _DEAD_S:
        return fail(*COMMIT, text, f"Answers would be refused. {_REMEDY}")
    if median_s > _SLOW_MEDIAN_S or worst_s > _STALL_S:
        remedy = "Stop other programs that write to this disk, or choose a faster one."
        return warn(*COMMIT, text, remedy)
    return ok(*COMMIT, text)


def _file_system(folder: Path) -> str:
    """Return the type of the file system that holds a folder, '' where nobody tells."""
    try:
        lines = [line.split() for line in Path(_MOUNTS).read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    # The last of several mounts on one place is the one that is seen.
    mounts = [
        (len(mount[1]), n, mount[2])
        for n, mount in enumerate(lines)
        if len(mount) > 2 and _in(folder, mount[1])
    ]
    return max(mounts)[2] if mounts else ""


def _in(folder: Path, mount: str) -> bool:
    return folder.is_relative_to(mount.replace("\\040", " "))
