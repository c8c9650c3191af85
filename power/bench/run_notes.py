# SPDX-License-Identifier: Apache-2.0
"""What a later program must know of a run, if this one is killed: written before and during it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from power.energy.conditions import UNKNOWN, AmbientConditions
from power.energy.judge import RunFacts
from power.logs.facts_file import RunCourse, facts_path, save_facts
from power.meter import HeldResult, Identity, IntegrationStart, MeterFlag, MeterSettings
from power.wipe_rule import RunEntry, RunEvent, Runs, beginning, ending

_log = logging.getLogger(__name__)

_BOOT_FILE = Path("/proc/sys/kernel/random/boot_id")


class Notes(Protocol):
    """A keeper of what a later program must know, if this one is killed."""

    def prepared(self, identity: Identity, settings: MeterSettings) -> None:
        """Note that a run is about to start; an error here ends the attempt before the start."""
        ...

    def started(self, start: IntegrationStart) -> None:
        """Note when the run started; never raises."""
        ...

    def asked(self, session_s: float) -> None:
        """Note that somebody wants the run to end after this many seconds; never raises."""
        ...

    def cancelled(self) -> None:
        """Note that the run never started; never raises."""
        ...

    def flagged(self, flags: frozenset[MeterFlag]) -> None:
        """Note a problem that the meter has reported; never raises."""
        ...


class NoNotes:
    """Notes that nobody keeps."""

    def prepared(self, identity: Identity, settings: MeterSettings) -> None:
        """Do nothing."""

    def started(self, start: IntegrationStart) -> None:
        """Do nothing."""

    def asked(self, session_s: float) -> None:
        """Do nothing."""

    def cancelled(self) -> None:
        """Do nothing."""

    def flagged(self, flags: frozenset[MeterFlag]) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class RunPlace:
    """Where a run is noted: its log, the meter's resource string, the journal of this computer."""

    log: Path
    resource: str
    journal: Runs


class RunNotes:
    """The notes of one run: the facts beside its log, and lines in this computer's journal.

    Before the start a full disk is an error. Later it is only an alarm in the log of messages.
    """

    def __init__(
        self,
        place: RunPlace,
        *,
        clock: Callable[[], float],
        utc: Callable[[], datetime],
        course: RunCourse | None = None,
        conditions: AmbientConditions = UNKNOWN,
    ) -> None:
        """Choose the place; `course` is a known one."""
        self._place = place
        self._clock = clock
        self._utc = utc
        self._conditions = conditions
        self._facts: RunFacts | None = None
        self._course = course

    def prepared(self, identity: Identity, settings: MeterSettings) -> None:
        """Write facts and journal; raise OSError if the facts cannot be written."""
        self._facts = RunFacts(identity, settings, conditions=self._conditions)
        self._course = RunCourse(self._utc().isoformat(), self._clock(), boot_name())
        save_facts(self._place.log, self._facts, self._course)
        self._note(beginning(identity, self._place.resource, self._run, self._utc()))

    def started(self, start: IntegrationStart) -> None:
        """Write the exact start."""
        if self._course is not None:
            begun = self._utc() - timedelta(seconds=self._clock() - start.sent_s)
            self._course = replace(
                self._course,
                start_utc=begun.isoformat(),
                start_s=start.sent_s,
                start_off_s=start.written_s - start.sent_s,
            )
            self._save()

    def asked(self, session_s: float) -> None:
        """Write when somebody asked for the end."""
        if self._course is not None:
            self._course = replace(self._course, asked_s=session_s)
            self._save()

    def cancelled(self) -> None:
        """Remove the facts, and close the run in the journal."""
        if self._facts is None or self._facts.identity is None:
            return
        serial = self._facts.identity.serial
        utc = self._utc().isoformat(timespec="seconds")
        self._note(RunEntry(RunEvent.GIVEN_UP, serial, self._place.resource, self._run, utc))
        with suppress(OSError):
            facts_path(self._place.log).unlink()

    def flagged(self, flags: frozenset[MeterFlag]) -> None:
        """Write the flags; the meter shows some of them only once."""
        if self._facts is not None:
            self._facts = replace(self._facts, flags=flags)
            self._save()

    def finish(self, facts: RunFacts, result: HeldResult | None) -> bool:
        """Write the last facts, and that the result was fetched; return whether all is written.

        `result` is None if it is not fetched yet.
        """
        self._facts = facts
        saved = self._save()
        if result is not None and saved:
            utc = self._utc().isoformat(timespec="seconds")
            self._note(ending(RunEvent.FETCHED, result, self._place.resource, self._run, utc))
        return saved

    def _save(self) -> bool:
        if self._facts is None:
            return False
        try:
            save_facts(self._place.log, self._facts, self._course)
        except OSError as error:
            path = facts_path(self._place.log)
            _log.error("%s is not written: %s; the measurement goes on", path, error)
            return False
        return True

    @property
    def _run(self) -> str:
        """Return how the journal identifies the run: by its log."""
        return str(self._place.log.resolve())

    def _note(self, entry: RunEntry) -> None:
        try:
            self._place.journal.append(entry)
        except OSError as error:
            _log.warning(
                "the journal of runs is not written (%s); the next program cannot know whether the "
                "meter's result was fetched. Name another file in POWER_JOURNAL",
                error,
            )


def boot_name() -> str:
    """Return the name of this computer's boot, or "" where the system has none."""
    try:
        return _BOOT_FILE.read_text(encoding="ascii").strip()
    except OSError:
        return ""
