# SPDX-License-Identifier: Apache-2.0
"""The one rule of all programs: may what a meter holds be wiped? Pure.

What is known of a meter are entries of its runs, by its serial number: a meter has one, and
several addresses. `begun` is noted before a run starts, `fetched` when its result is stored,
`given_up` when somebody chose to lose it. A program that was killed leaves `begun` as the last
word on its run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Protocol

from power.errors import MeterHolds
from power.meter import HeldResult, Identity, IntegrationState, Leave


class RunEvent(Enum):
    """What happened to a run."""

    BEGUN = "begun"
    FETCHED = "fetched"
    GIVEN_UP = "given_up"


@dataclass(frozen=True)
class RunEntry:
    """One thing that happened to a run.

    `log` identifies the run, and is empty for a result without one: the absolute path of its log,
    or a session with its contest's folder. Energy, charge, time and state are those of the result,
    None in an entry `begun`, and where the meter does not tell.
    """

    event: RunEvent
    serial: str
    resource: str
    log: str
    utc: str
    energy_wh: float | None = None
    integration_s: float | None = None
    state: str | None = None
    charge_ah: float | None = None

    @property
    def at(self) -> datetime:
        """Return when it happened."""
        return datetime.fromisoformat(self.utc)


class Runs(Protocol):
    """A keeper of entries."""

    def append(self, entry: RunEntry) -> None:
        """Add an entry; raise OSError if only this process will know it."""
        ...

    def entries(self) -> list[RunEntry]:
        """Return the entries, oldest first."""
        ...


class OwnRuns:
    """Entries that this process alone knows."""

    def __init__(self) -> None:
        self._noted: list[RunEntry] = []

    def append(self, entry: RunEntry) -> None:
        """Keep an entry until the process ends."""
        self._noted.append(entry)

    def entries(self) -> list[RunEntry]:
        """Return the entries, oldest first."""
        return list(self._noted)


def last_of(entries: Iterable[RunEntry], serial: str) -> RunEntry | None:
    """Return the last entry of a meter, whatever its address was, or None."""
    last = None
    for entry in entries:
        if entry.serial == serial:
            last = entry
    return last


def unfinished(entries: Iterable[RunEntry], serial: str) -> list[RunEntry]:
    """Return the runs on a meter that began and whose result nobody has fetched, newest first.

    A meter holds one result. So one that was fetched or given up also ends the runs before its own:
    their results are gone. One without a known run, as `rescue` finds it where a log was deleted,
    ends all that have begun. One that is noted a second time, late, ends nothing.
    """
    open_runs: dict[str, RunEntry] = {}
    ever: set[str] = set()
    for entry in entries:
        if entry.serial != serial:
            continue
        if entry.event is not RunEvent.BEGUN and entry.state is not None:
            begun = list(open_runs)
            count = begun.index(entry.log) + 1 if entry.log in open_runs else len(begun)
            for log in begun[: 0 if entry.log in ever - set(begun) else count]:
                del open_runs[log]
        open_runs.pop(entry.log, None)
        if entry.event is RunEvent.BEGUN:
            ever.add(entry.log)
            open_runs[entry.log] = entry
    return list(reversed(open_runs.values()))


def leave_to_wipe(
    result: HeldResult | None, entries: Iterable[RunEntry], *, discard: bool = False
) -> Leave | None:
    """Return leave to reset a meter that holds this, or None.

    A running integration is never spare. A result is spare if it is the last one that the entries
    tell of this meter, and no run has begun since, whatever the address: two runs of a steady load
    look the same. `discard` says that somebody chose to lose it.
    """
    if result is None:
        return Leave(wipes=True)
    if result.state is IntegrationState.START:
        return None
    mine = [entry for entry in entries if entry.serial == result.identity.serial]
    begun = [entry.log for entry in mine if entry.event is RunEvent.BEGUN]
    last = mine[-1] if mine else None
    # A result may be noted late. Whatever has begun after its run is another run.
    known = (
        last is not None
        and last.event is not RunEvent.BEGUN
        and (last.log not in begun or last.log == begun[-1])
        and _is_result(last, result)
    )
    return Leave(wipes=True) if known or discard else None


def _is_result(entry: RunEntry, result: HeldResult) -> bool:
    """Tell whether an entry tells of the held result; a value that only one has says nothing."""
    shown = (result.energy_wh, result.integration_s, result.state.value)
    charges = {entry.charge_ah, result.charge_ah} - {None}
    return (entry.energy_wh, entry.integration_s, entry.state) == shown and len(charges) < 2


def ending(event: RunEvent, result: HeldResult, resource: str, log: str, utc: str) -> RunEntry:
    """Return the entry for a result that was fetched or given up."""
    return RunEntry(
        event,
        result.identity.serial,
        resource,
        log,
        utc,
        result.energy_wh,
        result.integration_s,
        result.state.value,
        result.charge_ah,
    )


def beginning(identity: Identity, resource: str, log: str, utc: datetime) -> RunEntry:
    """Return the entry for a run that is about to start."""
    return RunEntry(
        RunEvent.BEGUN, identity.serial, resource, log, utc.isoformat(timespec="seconds")
    )


def refusal(result: HeldResult, runs: Sequence[RunEntry], resource: str) -> MeterHolds:
    """Return the error for what a meter holds; `runs` are the unfinished runs, newest first."""
    rescue = f"python -m power rescue {resource}"
    owner = f"; it should be the run of {_shown(runs[0].log)}, begun {runs[0].utc}" if runs else ""
    if result.state is IntegrationState.START:
        return MeterHolds(
            f"the meter integrates: {result.words()} so far{owner}. To follow it to its end and "
            f"keep its energy: {rescue}"
        ).with_remedy(f"if nobody needs that energy: {rescue} --stop, then {rescue} --discard")
    return MeterHolds(
        f"the meter holds {result.words()}, which no program on this computer has fetched{owner}. "
        f"To fetch and judge it: {rescue}"
    ).with_remedy(f"if nobody needs that energy: {rescue} --discard")


def _shown(log: str) -> str:
    """Return a log's path, shorter if it lies below the working directory."""
    path = Path(log)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else log
