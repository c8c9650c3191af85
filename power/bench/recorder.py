# SPDX-License-Identifier: Apache-2.0
"""Record one integration: prepare, start, read each update once, end, and judge the energy."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from power.bench.run_notes import NoNotes, Notes
from power.energy.conditions import UNKNOWN, Conditions
from power.energy.judge import judge_energy
from power.energy.uncertainty import Measuring, power_limit_w
from power.energy.verdict import EnergyResult
from power.errors import MeterError, MeterRefused, MeterSilent
from power.follow import LOST, LOST_METER_S, Call, Follower, Schedule, attach, read_result
from power.logs.power_log import PowerLog
from power.meter import (
    SIGMA,
    Identity,
    IntegrationStart,
    IntegrationState,
    Meter,
    MeterSettings,
    Reading,
)

_log = logging.getLogger(__name__)
T = TypeVar("T")

# A reading comes this share of an interval after its update, or later on a busy machine.
_BEHIND = 0.2
# The phase of the updates is looked for again after this time. The meter's clock and ours drift
# apart by up to some 100 ppm: 6 ms in a minute. The shortest interval leaves 20 ms.
_REALIGN_S = 60.0
# If the error of a phase exceeds this share of an interval, the phase is looked for again.
_SHARP = 0.1
_FIRST_LOOKS = 5
_AGAIN_S = 1.0
# At the end of a run the recorder waits this long for room on a full disk.
_ROOM_S = 60.0

GRACE_S = 1.2
"""A lost meter gets this long to come back when somebody wants the end."""

HASTY_S = 0.4
"""Somebody who wants the end waits this long for a reply. One lost reply then costs no energy."""

# After our own STOP the meter shows the whole seconds until then. More than this below our clock
# means a held display, which shows the past.
_EARLY_S = 1.2
# Two readings, 1.1 updates apart, and a third one if the final energy came late.
_LAST_UPDATES = 3.3


@runtime_checkable
class ShowsUpdates(Protocol):
    """A meter that can tell when its values are updated."""

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the monotonic time of the next update, and the largest error of that time."""
        ...


@runtime_checkable
class Hastens(Protocol):
    """A meter that can be told to wait shorter for its replies."""

    def hasten(self, timeout_s: float) -> None:
        """Wait at most this long for a reply from now on."""
        ...


@dataclass(frozen=True)
class Recording:
    """The result of a recording; `complete` says whether every reading is in the log.

    `left` is empty, or says why the meter was left before its result was read. It may still
    integrate then.
    """

    identity: Identity
    settings: MeterSettings
    start: IntegrationStart
    readings: tuple[Reading, ...]
    result: EnergyResult
    complete: bool
    left: str = ""


class Recorder:
    """The recorder of one integration: it writes each of the meter's updates once to a power log.

    It reads at fixed instants shortly after the updates. It looks for the updates' phase at the
    start and then each minute. The meter's own timer (`settings.timer_s`) ends the integration,
    even if this process is killed. `conditions` are people's answers, for the limit of error.
    """

    def __init__(
        self,
        meter: Meter,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        progress: Callable[[Reading, float], None] = lambda reading, elapsed_s: None,
        notes: Notes | None = None,
        grace_s: float = GRACE_S,
        conditions: Conditions = UNKNOWN,
    ) -> None:
        self._meter = meter
        self._clock = clock
        self._sleep = sleep
        self._progress = progress
        self._notes: Notes = NoNotes() if notes is None else notes
        self._grace_s = grace_s
        self._conditions = conditions
        self._readings: list[Reading] = []
        self._asked_s: float | None = None
        self._follower: Follower | None = None
        self._stopped = False
        self._begun: tuple[Identity, MeterSettings, IntegrationStart] | None = None

    def record(
        self,
        settings: MeterSettings,
        path: Path,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        on_start: Callable[[Identity, MeterSettings, IntegrationStart], object] = (
            lambda identity, settings, start: None
        ),
    ) -> Recording:
        """Record until the timer or `should_stop` ends the run; return energy and verdict.

        After a lost link it connects again, with growing pauses. It never resets the integration.
        When `should_stop` says so, a meter that is lost gets `grace_s` seconds to come back. Then
        the recording ends with what is known, and the meter integrates on.
        """
        if settings.timer_s <= 0:
            raise ValueError("a recording needs a timer of at least 1 s")
        self._readings = []
        self._asked_s = None
        self._stopped = False
        identity = self._meter.identify()
        with PowerLog(path, elements=settings.element == SIGMA) as log:
            try:
                settings = self._meter.prepare(settings)
                self._notes.prepared(identity, settings)
            except BaseException:
                # Nothing was recorded, so remove the empty file.
                path.unlink()
                raise
            try:
                start = self._meter.start()
            except BaseException:
                if self._never_started():
                    path.unlink()
                    self._notes.cancelled()
                raise
            self._begun = (identity, settings, start)
            measuring = Measuring(identity, settings, self._conditions)
            log.begin(start.sent_s, lambda reading: power_limit_w(reading, measuring))
            try:
                self._notes.started(start)
                on_start(identity, settings, start)
                session_s, left = self._run(settings, start, log, should_stop)
            finally:
                complete = self._write_out(log, should_stop)
        return self._recording(session_s, complete, left)

    @property
    def patience_s(self) -> float:
        """Return how long this recorder goes on after it was asked to end.

        A meter that has confirmed its STOP gets the time for two more readings, one update apart.
        """
        if self._begun is None or not self._stopped:
            return self._grace_s
        return self._grace_s + _LAST_UPDATES * self._begun[1].update_interval_s

    def _never_started(self) -> bool:
        """Tell whether the meter surely did not start; if it did, this ends the integration."""
        try:
            return self._meter.stop() is IntegrationState.RESET
        except MeterError:
            return False

    def known(self) -> Recording | None:
        """Return the recording with what is known so far, or None if no run has begun.

        Another thread may call this while the recorder hangs in a call that never returns.
        """
        if self._begun is None:
            return None
        start = self._begun[2]
        session_s = min(self._clock() - start.sent_s, float(self._begun[1].timer_s))
        return self._recording(session_s, True, "the meter does not answer")

    def _recording(self, session_s: float, complete: bool, left: str) -> Recording:
        if self._begun is None:
            raise ValueError("no run has begun")
        identity, settings, start = self._begun
        readings = tuple(self._readings)
        result = judge_energy(
            readings,
            session_s=session_s,
            settings=settings,
            identity=identity,
            conditions=self._conditions,
        )
        return Recording(identity, settings, start, readings, result, complete, left)

    def _asked(self, should_stop: Callable[[], bool]) -> bool:
        """Tell whether somebody wants an end; from the first time on the time runs out."""
        if self._asked_s is None and should_stop():
            self._asked_s = self._clock()
            if isinstance(self._meter, Hastens):
                self._meter.hasten(HASTY_S)
            if self._follower is not None:
                self._follower.hurry()
        return self._asked_s is not None

    def _run(
        self,
        settings: MeterSettings,
        start: IntegrationStart,
        log: PowerLog,
        should_stop: Callable[[], bool],
    ) -> tuple[float, str]:
        """Read until the end, end the integration, read its result.

        Returns the session's length, and why the meter was left before its result was read.
        """
        interval_s = settings.update_interval_s
        schedule = Schedule(start.written_s + _BEHIND * interval_s, interval_s)
        follower = Follower(self._take_up, schedule, clock=self._clock, meter=self._meter)
        self._follower = follower
        early = self._follow(follower, settings, start, log, should_stop)
        if early:
            self._notes.asked(min(self._clock() - start.sent_s, float(settings.timer_s)))
        limit_s = self._clock() + LOST_METER_S

        def deadline_s() -> float:
            if not self._asked(should_stop) or self._asked_s is None:
                return limit_s
            return min(limit_s, self._asked_s + self.patience_s)

        def insist(job: Callable[[Meter], T]) -> T:
            return follower.insist(job, deadline_s, self._sleep)

        def sleep(seconds: float) -> None:
            if self._clock() + seconds > deadline_s():
                raise MeterSilent("there was no time for another reading")
            self._sleep(seconds)

        final: list[Reading] = []
        left = ""
        # A run that we did not end should have lasted as long as its timer. If somebody else ended
        # it, the judge sees that it was too short.
        session_s = float(settings.timer_s)
        sent_s = self._clock()

        def stop(meter: Meter) -> None:
            nonlocal sent_s
            sent_s = self._clock()  # A slow answer makes the session no longer.
            meter.stop()

        try:
            insist(stop)
            self._stopped = True
            if early:
                session_s = min(sent_s - start.sent_s, session_s)
            read_result(
                _kept(insist, final),
                interval_s,
                sleep,
                expected_s=session_s,
                tolerance_s=_EARLY_S if early else 0.0,
            )
        except MeterError as error:
            if not self._asked(should_stop):
                raise
            left = str(error)
            session_s = min(self._clock() - start.sent_s, session_s)
        for reading in final:
            self._keep(reading, start, log)
        return session_s, left

    def _write_out(self, log: PowerLog, should_stop: Callable[[], bool]) -> bool:
        """Wait a bounded time for room on a full disk; return whether every row is in the log.

        If there is still no room, the rows go to the error log, so the run is not lost.
        """
        deadline_s = self._clock() + _ROOM_S
        while not log.sync():
            if self._clock() >= deadline_s or self._asked(should_stop):
                _log.error("these rows are missing in the power log:\n%s", log.waiting)
                return False
            self._sleep(_AGAIN_S)
        return True

    def _follow(
        self,
        follower: Follower,
        settings: MeterSettings,
        start: IntegrationStart,
        log: PowerLog,
        should_stop: Callable[[], bool],
    ) -> bool:
        """Read each update until the integration has ended; return True if we have to end it."""
        interval_s = settings.update_interval_s
        deadline_s = start.written_s + settings.timer_s + LOST_METER_S
        look_s = self._first_looks(follower, should_stop)
        lost = False
        while not self._asked(should_stop):
            now_s = self._clock()
            if now_s >= deadline_s:
                return False
            if now_s >= look_s and follower.attached:
                look_s = self._align(follower)
            self._sleep(max(0.0, follower.due_s - self._clock()))
            if self._asked(should_stop):
                break
            try:
                reading = follower.step()
            except MeterRefused as error:
                _log.warning("no more readings during this run: %s", error)
                return self._outlast(start.written_s + settings.timer_s, interval_s, should_stop)
            except LOST as error:
                if follower.due_s >= deadline_s:
                    raise
                # One sentence for the first failure; the following ones say nothing new.
                level = logging.DEBUG if lost else logging.WARNING
                _log.log(level, "%s; the meter integrates on, and is tried again", error)
                lost = True
                continue
            if reading is None:
                continue
            if lost:
                _log.warning("the meter answers again")
                lost = False
            self._keep(reading, start, log)
            if reading.state is not IntegrationState.START:
                return False
        return True

    def _outlast(self, end_s: float, interval_s: float, should_stop: Callable[[], bool]) -> bool:
        """Wait for the end of a run that cannot be read; return True if we have to end it."""
        while not self._asked(should_stop):
            left_s = end_s - self._clock()
            if left_s <= 0:
                return False
            self._sleep(min(left_s, interval_s))
        return True

    def _first_looks(self, follower: Follower, should_stop: Callable[[], bool]) -> float:
        """Look for the updates' phase a few times at most, until its error is small."""
        for _ in range(_FIRST_LOOKS):
            look_s = self._align(follower)
            if look_s > self._clock() + _AGAIN_S or self._asked(should_stop):
                break
        return look_s

    def _align(self, follower: Follower) -> float:
        """Align readings with the updates; return when to look for the updates' phase again.

        The search begins after a reading and ends with the next update, so no update is missed. If
        a busy machine made the result inexact, it is not used, and the search is repeated soon.
        """
        interval_s = follower.schedule.interval_s
        if not isinstance(self._meter, ShowsUpdates):
            return math.inf
        try:
            update_s, off_s = self._meter.await_update(interval_s)
        except MeterError as error:
            _log.warning("the phase of the updates was not found: %s", error)
            return self._clock() + _REALIGN_S
        if off_s > _SHARP * interval_s:
            return self._clock() + _AGAIN_S
        follower.keep_to(Schedule(update_s + _BEHIND * interval_s, interval_s))
        return self._clock() + _REALIGN_S

    def _keep(self, reading: Reading, start: IntegrationStart, log: PowerLog) -> None:
        if reading.flags != (self._readings[-1].flags if self._readings else frozenset()):
            self._notes.flagged(reading.flags)
        self._readings.append(reading)
        log.add(reading)
        self._progress(reading, reading.monotonic_s - start.sent_s)

    def _take_up(self) -> Meter:
        trouble = attach(self._meter)
        if trouble:
            _log.warning("attached, but %s", trouble)
        return self._meter


def _kept(call: Call, kept: list[Reading]) -> Call:
    """Return a way to have jobs done that also keeps the readings which they return.

    When the readings begin again, because the meter's output was set right, only the new ones are
    kept.
    """

    def keeping(job: Callable[[Meter], T], /) -> T:
        done = call(job)
        if isinstance(done, Reading):
            kept.append(done)
        else:
            kept.clear()
        return done

    return keeping
