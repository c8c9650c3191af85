# SPDX-License-Identifier: Apache-2.0
"""The journal of runs on this computer, which all programs share: one JSON object a line.

Lines are only ever appended. What they say of a meter is read by the rule of `power.wipe_rule`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import platformdirs

from power.append_file import AppendFile
from power.wipe_rule import OwnRuns, RunEntry

JOURNAL_VARIABLE = "POWER_JOURNAL"
"""The environment variable with the path of another journal, or empty for none."""

# The file grows by some 300 bytes for each event. Older events than these no meter still holds.
_MOST_BYTES = 4_000_000

_log = logging.getLogger(__name__)


class RunJournal(OwnRuns):
    """The journal's file; a path of None keeps none.

    Entries that are in no file are known to this process alone. Several processes may write.
    """

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self._path = path

    def append(self, entry: RunEntry) -> None:
        """Append a line, and wait until it is on the disk; raise OSError if that fails."""
        super().append(entry)
        if self._path is not None:
            _append(self._path, self._noted)
            self._noted.clear()

    def entries(self) -> list[RunEntry]:
        """Return the journal's lines, oldest first; a line that is no entry is left out.

        A file that cannot be read has none, so less is spare.
        """
        try:
            lines = [] if self._path is None else _lines(self._path)
        except FileNotFoundError:
            lines = []
        except OSError as error:
            _log.warning("the journal of runs cannot be read: %s", error)
            lines = []
        known = [entry for line in lines if (entry := _entry(line)) is not None]
        return known + super().entries()


def journal() -> RunJournal:
    """Return this computer's journal of runs: its user's, or the one that the environment names."""
    named = os.environ.get(JOURNAL_VARIABLE)
    if named is not None:
        return RunJournal(Path(named) if named else None)
    return RunJournal(platformdirs.user_state_path("lpirc-power", appauthor=False) / "runs.jsonl")


def _append(path: Path, entries: Sequence[RunEntry]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = AppendFile(path, mode=0o600)
    try:
        for entry in entries:
            # A line feed first: a killed program may have left half a line.
            file.append(b"\n" + msgspec.json.encode(entry) + b"\n")
        file.sync()
        if file.trouble:
            raise OSError(f"{path} cannot be written: {file.trouble}")
    finally:
        file.close()


def _lines(path: Path) -> list[bytes]:
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_BYTES))
        return file.read().split(b"\n")


def _entry(line: bytes) -> RunEntry | None:
    """Return the entry of a line; None for one of other types, or without its time's zone."""
    try:
        entry = msgspec.json.decode(line, type=RunEntry)
        return entry if entry.at.tzinfo is not None else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
