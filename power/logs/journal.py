# SPDX-License-Identifier: Apache-2.0
"""The journal of runs on this computer: which results of which meters somebody has fetched.

One JSON object a line, only ever appended. `begun` is written before a run starts, `fetched` when
its result is in its log, `given_up` when somebody chose to lose it. A killed program leaves `begun`
as the last word on its run. That is how the next program knows whose result a meter holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from power.append_file import AppendFile
from power.meter import Identity, IntegrationState, Reading

JOURNAL_VARIABLE = "POWER_JOURNAL"
"""The environment variable with the path of another journal, or empty for none."""

# The file grows by some 300 bytes for each event. Older events than these no meter still holds.
_MOST_BYTES = 4_000_000


@dataclass(frozen=True)
class Held:
    """What a meter's integrator holds: its state, and the energy and time that it shows."""

    identity: Identity
    state: IntegrationState
    energy_wh: float | None
    integration_s: float | None

    @staticmethod
    def of(identity: Identity, reading: Reading) -> Held:
        """Return what a reading shows."""
        return Held(identity, reading.state, reading.energy_wh, reading.integration_s)

    def words(self) -> str:
        """Return energy, time and state as text for people."""
        energy = "no energy" if self.energy_wh is None else f"{self.energy_wh:.6g} Wh"
        time = "an unknown time" if self.integration_s is None else f"{self.integration_s:g} s"
        return f"{energy} of {time} (state {self.state.value})"


class Event(Enum):
    """What happened to a run."""

    BEGUN = "begun"
    FETCHED = "fetched"
    GIVEN_UP = "given_up"


@dataclass(frozen=True)
class Entry:
    """One line of the journal.

    `log` is the absolute path of the run's log, empty for a result without one. Energy, time and
    state are those of the result, None in a line `begun`.
    """

    event: Event
    serial: str
    resource: str
    log: str
    utc: str
    energy_wh: float | None = None
    integration_s: float | None = None
    state: str | None = None


class Journal:
    """The journal's file; a path of None keeps no journal."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def note(self, entry: Entry) -> None:
        """Append a line, and wait until it is on the disk; raise OSError if that fails."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = AppendFile(self._path, mode=0o600)
        try:
            # A line feed first: a killed program may have left half a line.
            file.append(b"\n" + json.dumps(_to_json(entry), allow_nan=False).encode() + b"\n")
            file.sync()
            if file.trouble:
                raise OSError(f"{self._path} cannot be written: {file.trouble}")
        finally:
            file.close()

    def entries(self) -> list[Entry]:
        """Return the journal's lines, oldest first; a line that is no entry is left out."""
        if self._path is None or not self._path.exists():
            return []
        with open(self._path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_BYTES))
            lines = file.read().split(b"\n")
        return [entry for line in lines if (entry := _entry(line)) is not None]


def unfinished(entries: Iterable[Entry], serial: str) -> list[Entry]:
    """Return the runs on a meter that began and whose result nobody has fetched, newest first."""
    open_runs: dict[str, Entry] = {}
    for entry in entries:
        if entry.serial != serial:
            continue
        open_runs.pop(entry.log, None)
        if entry.event is Event.BEGUN:
            open_runs[entry.log] = entry
    return list(reversed(open_runs.values()))


def is_spare(held: Held, entries: Iterable[Entry]) -> bool:
    """Tell whether a held result is in a log already, or was given up by will.

    It must be the last result that the journal knows of this meter, and no run may have begun
    since, whatever the address: two runs of a steady load look the same, and a meter has several
    addresses.
    """
    last: Entry | None = None
    for entry in entries:
        if entry.serial == held.identity.serial:
            last = entry
    shown = (held.energy_wh, held.integration_s, held.state.value)
    return (
        last is not None
        and last.event is not Event.BEGUN
        and (last.energy_wh, last.integration_s, last.state) == shown
    )


def ending(event: Event, held: Held, resource: str, log: Path | None, utc: str) -> Entry:
    """Return the entry for a result that was fetched or given up."""
    return Entry(
        event,
        held.identity.serial,
        resource,
        "" if log is None else str(log.resolve()),
        utc,
        held.energy_wh,
        held.integration_s,
        held.state.value,
    )


def _to_json(entry: Entry) -> dict[str, Any]:
    return {**vars(entry), "event": entry.event.value}


def _entry(line: bytes) -> Entry | None:
    try:
        value: Mapping[str, Any] = json.loads(line)
        return Entry(**{**value, "event": Event(value["event"])})
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
