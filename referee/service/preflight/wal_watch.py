# SPDX-License-Identifier: Apache-2.0
"""The watch over the database's write-ahead log, and who reads the database now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from referee.service.preflight.wal_rule import LARGE_BYTES, REMEDY, LogLook, Reader, growth_text
from referee.service.setup.process_name import named_program

_LOOK_S = 5.0
_TWICE_S = 0.5
_LOCKS = Path("/proc/locks")
# A reader holds a shared lock on one of these bytes of the file `-shm` as long as it reads
# (https://sqlite.org/walformat.html, section 2.3.1: WAL_READ_LOCK).
_READ_LOCKS = range(123, 128)
_PROGRAM_MOST = 80


class WalWatch:
    """The watch; a thread of the caller calls `run`.

    `tell` gets a sentence when a log has grown large and a reader holds it, and again each time
    that it has doubled.
    """

    def __init__(self, database: Path, tell: Callable[[str], object]) -> None:
        self._database = database
        self._tell = tell
        self._before = LogLook(0, frozenset())
        self._told_bytes = 0

    def run(self, stopping: threading.Event) -> None:
        """Watch until `stopping` is set."""
        while not stopping.wait(_LOOK_S):
            self.take(look_at_log(self._database))

    def take(self, now: LogLook) -> None:
        """Compare a look with the one before, and tell what is wrong."""
        text = growth_text(self._before, now)
        self._before = now
        if now.size_bytes <= LARGE_BYTES:
            self._told_bytes = 0
        if text is not None and now.size_bytes >= 2 * self._told_bytes:
            self._told_bytes = now.size_bytes
            self._tell(f"{text} {REMEDY}")


def look_twice(database: Path, wait: Callable[[float], object]) -> tuple[LogLook, LogLook]:
    """Look at a log, and for who stays at a large one again after half a second."""
    before = look_at_log(database)
    if before.size_bytes <= LARGE_BYTES:
        return before, before
    wait(_TWICE_S)
    return before, look_at_log(database)


def look_at_log(database: Path) -> LogLook:
    """Return the log's size, and who reads the database now."""
    size = _size(database.with_name(f"{database.name}-wal"))
    return LogLook(size, frozenset() if size <= LARGE_BYTES else readers_of(database))


def readers_of(database: Path) -> frozenset[Reader] | None:
    """Return the processes that read the database at this moment, as the kernel's locks tell.

    It is None where there is no list of locks, and where somebody reads who cannot be seen.
    """
    try:
        inode = database.with_name(f"{database.name}-shm").stat().st_ino
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return None
    found = set(reading_pids(lines, inode))
    if any(pid <= 0 for pid in found):  # It runs outside of this container.
        return None
    return frozenset(Reader(pid, _program_of(pid)) for pid in found)


def reading_pids(lines: Iterable[str], inode: int) -> Iterable[int]:
    """Yield the process of each lock of a reader, of the lines of /proc/locks (proc(5))."""
    for line in lines:
        words = line.split()
        if len(words) != 8 or words[1] != "POSIX" or not words[5].endswith(f":{inode}"):
            continue
        first, last = words[6:]
        if first.isdigit() and last.isdigit() and {int(first), int(last)} <= set(_READ_LOCKS):
            yield int(words[4])


def _program_of(pid: int) -> str:
    """Return the name or the command of a process, as far as it may be seen and printed."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").rstrip("\n")
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        name, words = "", []
    command = b" ".join(words).decode("utf-8", "replace").strip() or "a program"
    command = named_program(name) or command
    shown = "".join(one if one.isprintable() else "?" for one in command)
    return shown if len(shown) <= _PROGRAM_MOST else f"{shown[:_PROGRAM_MOST]}…"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
