# SPDX-License-Identifier: Apache-2.0
"""Whether the database's write-ahead log grows because somebody reads without an end.

SQLite begins the log anew once all that is in it stands in the database, and nobody reads an older
state. A program that began to read and never ended keeps that from happening: the log grows with
each commit, until the disk is full.
"""

from __future__ import annotations

from dataclasses import dataclass

from referee.service.preflight.finding import CheckResult, ok, warn

LARGE_BYTES = 128 * 2**20
"""A log that is larger than this has not begun anew for long: usually it does so at 32 MiB."""

_ITEM = ("machine", "database log")


@dataclass(frozen=True, order=True)
class Reader:
    """A process that reads the database at a moment; `program` is what it runs, for people."""

    pid: int
    program: str


@dataclass(frozen=True)
class LogLook:
    """The log at a moment: its size, and who reads, or None where the system does not tell."""

    size_bytes: int
    readers: frozenset[Reader] | None


def who_stays(before: LogLook, now: LogLook) -> list[Reader] | None:
    """Return who read at both moments, the oldest process first; None where nobody can know."""
    if before.readers is None or now.readers is None:
        return None
    return sorted(before.readers & now.readers)


def growth_text(before: LogLook, now: LogLook) -> str | None:
    """Return what is wrong with a large log, as a sentence; None if nothing is.

    A log that is large and that nobody holds shrinks with one of the next commits.
    """
    stays = who_stays(before, now)
    if now.size_bytes <= LARGE_BYTES or stays == []:
        return None
    if stays is None:
        who = "A program reads the database without an end"
    else:
        named = " and ".join(f"{reader.program} (process {reader.pid})" for reader in stays)
        who = f"{named} {'reads' if len(stays) == 1 else 'read'} the database without an end"
    return f"{who}, so its log has grown to {_mb(now)} and does not shrink."


REMEDY = "End that program, or its query. The log shrinks by itself with the next answers."
"""What to do."""


def log_finding(before: LogLook, now: LogLook) -> CheckResult:
    """Return the row of the list of checks."""
    text = growth_text(before, now)
    if text is not None:
        return warn(*_ITEM, text, REMEDY)
    return ok(*_ITEM, f"at most {max(1, -(-now.size_bytes // 2**25)) * 32} MiB; nobody holds it")


def _mb(look: LogLook) -> str:
    return f"{look.size_bytes / 1e6:.0f} MB"
