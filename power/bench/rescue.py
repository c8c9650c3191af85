# SPDX-License-Identifier: Apache-2.0
"""Rescue the energy that a meter still holds after the program that recorded it was killed."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from power.bench.run_notes import RunNotes, RunPlace, boot_name
from power.energy.accuracy import CLOCKS_SHARE
from power.energy.judge import RunFacts, judge_run
from power.energy.uncertainty import Measuring, power_limit_w
from power.energy.verdict import EnergyResult, Finding, note, suspect
from power.errors import MeterRefused
from power.follow import LOST, LOST_METER_S, Follower, Schedule, attach, read_result
from power.logs.facts_file import RunCourse, facts_path, load_course, load_facts
from power.logs.power_log import PowerLog, read_power_log
from power.meter import (
    SIGMA,
    HeldResult,
    IntegrationState,
    IntegrationStop,
    Meter,
    MeterSettings,
    Reading,
    TellsStop,
)
from power.readings import Readings
from power.wipe_guard import WatchedMeter, look, result_of
from power.wipe_rule import Runs, leave_to_wipe, unfinished

_log = logging.getLogger(__name__)
T = TypeVar("T")

# The clocks of a meter and of a computer that was restarted agree to this, in seconds.
_CLOCKS_S = 5.0


class RescuedMeter(WatchedMeter, Protocol):
    """A `Meter` that tells its state and its settings."""

    def settings(self) -> MeterSettings:
        """Return the settings that the meter has now."""
        ...

    def measure_element(self, element: str) -> None:
        """Expect the values of an element, or of the sum of all, from now on."""
        ...


@dataclass(frozen=True)
class LeftRun:
    """A run whose program ended early: its log, its facts, its course, its last readings."""

    log: Path
    facts: RunFacts
    course: RunCourse
    readings: Readings

    @staticmethod
    def load(log: Path) -> LeftRun:
        """Return the run of a log; raise ValueError if it cannot be finished."""
        facts, course = load_facts(log), load_course(log)
        if facts is None or course is None:
            raise ValueError(
                f"{facts_path(log)} does not tell when this run began; rescue what the "
                "meter holds into a new log: leave --log out"
            )
        if facts.session_s is not None:
            raise ValueError(f"{log} is finished already; judge it with: python -m power audit")
        return LeftRun(log, facts, course, read_power_log(log))


@dataclass(frozen=True)
class Rescued:
    """A rescued result: its log, its facts, and the verdict; `complete` if the log has all rows."""

    log: Path
    facts: RunFacts
    result: EnergyResult
    complete: bool


class LeftRunning(MeterRefused):
    """The integration still runs, and the wait for its end was ended."""


class Rescuer:
    """A rescue of what one meter holds; it never resets the meter, and ends a run only if asked."""

    def __init__(
        self,
        meter: RescuedMeter,
        journal: Runs,
        resource: str,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        utc: Callable[[], datetime],
        progress: Callable[[Reading, float, float], None] = lambda reading, at_s, of_s: None,
    ) -> None:
        self._meter = meter
        self._journal = journal
        self._resource = resource
        self._clock = clock
        self._sleep = sleep
        self._utc = utc
        self._progress = progress

    def rescue(
        self,
        log: Path | None,
        new_log: Path,
        *,
        stop: bool = False,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Rescued:
        """Finish the log of the run that the meter holds, and judge it.

        `log` names the run; by default the journal knows it. A result that belongs to no known run
        goes into `new_log`. A running integration is followed to its end, or ended with `stop`.
        Raises `LeftRunning` when `should_stop` ends that wait, and `MeterRefused` if the meter
        holds nothing.
        """
        result = look(self._meter)
        attach(self._meter)
        run = self._owner(result, log)
        if run is None:
            if result is None:
                raise MeterRefused("the meter holds no result: there is nothing to rescue")
            if leave_to_wipe(result, self._journal.entries()) is not None:
                raise MeterRefused(
                    f"the meter holds {result.words()}, and that is in a log already, or was given "
                    "up: there is nothing to rescue"
                )
            return self._finish_new(result, new_log, stop, should_stop)
        return self._finish(run, stop, should_stop)

    def _owner(self, result: HeldResult | None, log: Path | None) -> LeftRun | None:
        """Return the run that the held result belongs to, or None if no known run fits."""
        if log is not None:
            run = LeftRun.load(log)
            if result is not None and (reason := self._misfit(run, result)):
                raise ValueError(
                    f"the meter holds {result.words()}, which is not the run of {log}: {reason}. "
                    "To rescue what it holds into a new log, leave --log out"
                )
            return run
        serial = self._meter.identify().serial
        entries = unfinished(self._journal.entries(), serial)
        # A run at the same address comes first.
        for entry in sorted(entries, key=lambda entry: entry.resource != self._resource):
            try:
                run = LeftRun.load(Path(entry.log))
            except (OSError, ValueError) as error:
                _log.info("the run of %s is left out: %s", entry.log, error)
                continue
            if result is None and entry.resource == self._resource:
                return run
            if result is not None and not self._misfit(run, result):
                return run
        return None

    def _misfit(self, run: LeftRun, result: HeldResult) -> str:
        """Return why a held result is not that of a run, or "" if it may be."""
        known, timer_s = run.facts.identity, run.facts.settings.timer_s
        if known is not None and known.serial != result.identity.serial:
            return f"that ran on the meter {known.model} {known.serial}"
        if result.integration_s is None:
            return ""
        elapsed_s = self._clock() - self._start_s(run.course)
        slack_s = run.facts.settings.update_interval_s + _CLOCKS_S + CLOCKS_SHARE * elapsed_s
        if result.integration_s > min(elapsed_s + slack_s, timer_s):
            return f"it began {elapsed_s:.0f} s ago, with a timer of {timer_s} s"
        if result.state is IntegrationState.START and result.integration_s < elapsed_s - slack_s:
            return f"it began {elapsed_s:.0f} s ago"
        if result.state is IntegrationState.TIMEUP and result.integration_s != timer_s:
            return f"its timer was set to {timer_s} s"
        counted_s = run.readings.columns().numbers("integration_s")
        counted_s = counted_s[~np.isnan(counted_s)]
        if len(counted_s) and counted_s[-1] > result.integration_s:
            return f"its log goes on to {counted_s[-1]:g} s"
        return ""

    def _start_s(self, course: RunCourse) -> float:
        """Return when the run began, on the clock of this boot."""
        if course.boot and course.boot == boot_name():
            return course.start_s
        passed = self._utc() - datetime.fromisoformat(course.start_utc)
        return self._clock() - passed.total_seconds()

    def _finish(self, run: LeftRun, stop: bool, should_stop: Callable[[], bool]) -> Rescued:
        start_s = self._start_s(run.course)
        settings = run.facts.settings
        # Another program may have chosen the values of another element since.
        self._meter.measure_element(settings.element)
        attach(self._meter)
        measuring = Measuring(run.facts.identity, settings, run.facts.conditions)
        with PowerLog(run.log, start_s, resume=True) as log:
            log.begin(start_s, lambda reading: power_limit_w(reading, measuring))
            final, stop_at = self._end(log, start_s, settings, stop, should_stop)
            complete = log.sync()
        # Over a restart of the computer the start is known by the wall clock alone.
        same_boot = run.course.boot != "" and run.course.boot == boot_name()
        stopped_s = _since(stop_at, start_s, run.course) if stop_at and same_boot else None
        ended_s = None if stop_at is None else stop_at.seen_s - start_s
        session_s, reasons = _session_of(final[-1], settings.timer_s, run.course.asked_s, ended_s)
        facts = replace(
            run.facts.ended(session_s, final[-1]),
            flags=run.facts.flags | final[-1].flags,
            added=(*run.facts.added, _RESCUED, *reasons),
            stopped_s=stopped_s,
        )
        return self._judged(run.log, facts, run.course, final[-1], complete)

    def _finish_new(
        self, result: HeldResult, path: Path, stop: bool, should_stop: Callable[[], bool]
    ) -> Rescued:
        """Write a log of a result whose course nobody on this computer recorded."""
        settings = self._meter.settings()
        if result.state is IntegrationState.START and not settings.timer_s and not stop:
            raise MeterRefused(
                "the meter integrates without a timer, so it never ends by itself; end it with "
                "--stop when its energy is complete"
            )
        start_s = self._clock() - (result.integration_s or 0.0)
        begun = self._utc() - timedelta(seconds=result.integration_s or 0.0)
        course = RunCourse(begun.isoformat(), start_s, boot_name())
        measuring = Measuring(result.identity, settings)
        with PowerLog(path, start_s, elements=settings.element == SIGMA) as log:
            log.begin(start_s, lambda reading: power_limit_w(reading, measuring))
            final, _ = self._end(log, start_s, settings, stop, should_stop)
            complete = log.sync()
        counted_s = final[-1].integration_s or 0.0
        stopped = final[-1].state is IntegrationState.STOP
        facts = replace(
            RunFacts(result.identity, settings).ended(counted_s, final[-1]),
            added=(_NO_LOG,),
            # The start is known by the meter's whole seconds alone.
            stopped_s=(counted_s, counted_s + 1.0) if stopped else None,
        )
        return self._judged(path, facts, course, final[-1], complete)

    def _judged(
        self, log: Path, facts: RunFacts, course: RunCourse, last: Reading, complete: bool
    ) -> Rescued:
        notes = RunNotes(
            RunPlace(log, self._resource, self._journal),
            clock=self._clock,
            utc=self._utc,
            course=course,
        )
        result = result_of(self._meter, self._meter.identify(), last)
        saved = notes.finish(facts, result if complete else None)
        return Rescued(log, facts, judge_run(read_power_log(log), facts), complete and saved)

    def _end(
        self,
        log: PowerLog,
        start_s: float,
        settings: MeterSettings,
        stop: bool,
        should_stop: Callable[[], bool],
    ) -> tuple[list[Reading], IntegrationStop | None]:
        """Follow the run to its end, or end it; write and return its last readings.

        The second value says when this rescue ended it, if it did.
        """
        schedule = Schedule(self._clock(), settings.update_interval_s)
        follower = Follower(self._take_up, schedule, clock=self._clock, meter=self._meter)
        stop_at = None
        if stop and self._meter.state() is IntegrationState.START:
            asked_s = self._clock()
            self._meter.stop()
            stop_at = IntegrationStop(asked_s, self._clock())
            if isinstance(self._meter, TellsStop) and self._meter.last_stop is not None:
                stop_at = self._meter.last_stop
        self._follow(follower, log, start_s, settings, should_stop)
        deadline_s = self._clock() + LOST_METER_S

        def call(job: Callable[[Meter], T]) -> T:
            return follower.insist(
                job, lambda: -math.inf if should_stop() else deadline_s, self._sleep
            )

        state = self._meter.state()
        ended = state is IntegrationState.TIMEUP
        final = read_result(
            call,
            settings.update_interval_s,
            self._pause,
            expected_s=settings.timer_s if ended else math.nan,
            tolerance_s=0.0 if ended else math.inf,
        )
        for reading in final:
            log.add(reading)
        return final, stop_at

    def _pause(self, seconds: float) -> None:
        """Sleep in full: a wish for an end must not bring two readings of the end together."""
        until_s = self._clock() + seconds
        while (left_s := until_s - self._clock()) > 0:
            self._sleep(left_s)

    def _follow(
        self,
        follower: Follower,
        log: PowerLog,
        start_s: float,
        settings: MeterSettings,
        should_stop: Callable[[], bool],
    ) -> None:
        """Read each update until the integration has ended."""
        deadline_s = start_s + settings.timer_s + LOST_METER_S
        while self._clock() < deadline_s:
            if should_stop():
                raise LeftRunning("the meter integrates on; rescue it again when its timer ends")
            try:
                reading = follower.step()
            except LOST as error:
                if follower.due_s >= deadline_s:
                    raise
                _log.warning("%s; the meter integrates on, and is tried again", error)
                reading = None
            except MeterRefused as error:
                _log.warning("no readings before the end of this run: %s", error)
                if self._meter.state() is not IntegrationState.START:
                    return
                reading = None
            if reading is not None:
                if reading.state is not IntegrationState.START:
                    return
                log.add(reading)
                self._progress(reading, reading.monotonic_s - start_s, settings.timer_s)
            self._sleep(max(0.0, follower.due_s - self._clock()))

    def _take_up(self) -> Meter:
        attach(self._meter)
        return self._meter


def _since(stop: IntegrationStop, start_s: float, course: RunCourse) -> tuple[float, float]:
    """Return the least and the most seconds between the START of a run and a STOP."""
    return max(0.0, stop.sent_s - start_s - course.start_off_s), stop.seen_s - start_s


def _session_of(
    last: Reading, timer_s: int, asked_s: float | None, stopped_s: float | None
) -> tuple[float, Sequence[Finding]]:
    """Return how long the run should have lasted, and a finding if nobody knows."""
    if last.state is not IntegrationState.STOP:
        return float(timer_s), ()
    for known_s in (stopped_s, asked_s):
        if known_s is not None:
            return min(known_s, float(timer_s)), ()
    ended_s = last.integration_s or 0.0
    return ended_s, (
        suspect(
            "stopped",
            f"Somebody ended the integration after {ended_s:g} s, while no program watched. Find "
            "out whether the run should have ended there.",
        ),
    )


_RESCUED = note(
    "rescued",
    "The program that recorded this run ended early. The energy was read from the meter later.",
)
_NO_LOG = suspect(
    "rescued_alone",
    "Nobody on this computer recorded this run: only what the meter held at its end is known. "
    "Clipping, a change of range or a pause during the run would not show.",
)
