# SPDX-License-Identifier: Apache-2.0
"""Record one integration: prepare, start, read each update once, end, and judge the energy."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from power.bench.ending import Ending, Restarted, RunEnd
from power.bench.phase import UpdatePhase, readings_after
from power.bench.run_notes import NoNotes, Notes
from power.bench.wish import GRACE_S, Wish
from power.energy.conditions import UNKNOWN, AmbientConditions
from power.energy.judge import judge_energy
from power.energy.uncertainty import Measuring, power_limit_w
from power.energy.verdict import EnergyResult, suspect, with_findings
from power.errors import MeterError, MeterRefused
from power.follow import LOST, LOST_METER_S, Follower, attach
from power.logs.power_log import PowerLog
from power.meter import (
    NOTHING_HELD,
    SIGMA,
    HeldResult,
    Identity,
    IntegrationStart,
    IntegrationState,
    Leave,
    Meter,
    MeterSettings,
    Reading,
)
from power.readings import Readings
from power.wipe_guard import result_of

_log = logging.getLogger(__name__)

_AGAIN_S = 1.0
# At the end of a run the recorder waits this long for room on a full disk.
_ROOM_S = 60.0
_LEFT = "The meter was left before its result was read twice"


@dataclass(frozen=True)
class Recording:
    """The result of a recording; `complete` says whether every reading is in the log.

    `left` is empty, or says why the meter was left before its result was read. It may still
    integrate then. `suspended_s` says how long the computer slept during the run. `fetched` is the
    result as the meter holds it, None where it was left. `stopped_s` is an argument of
    `judge_energy`.
    """

    identity: Identity
    settings: MeterSettings
    start: IntegrationStart
    readings: Readings
    result: EnergyResult
    complete: bool
    left: str = ""
    suspended_s: float = 0.0
    fetched: HeldResult | None = None
    stopped_s: tuple[float, float] | None = None


class Recorder:
    """The recorder of one integration: it writes each of the meter's updates once to a power log.

    It reads at fixed instants shortly after the updates. It looks for the updates' phase at the
    start and then each minute. The meter's own timer (`settings.timer_s`) ends the integration,
    even if this process is killed. `clock` goes on while the computer sleeps, and `asleep_s` tells
    for how long it has slept so far. `conditions` are people's answers, for the limit of error.
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
        conditions: AmbientConditions = UNKNOWN,
        asleep_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._meter = meter
        self._clock = clock
        self._sleep = sleep
        self._progress = progress
        self._notes: Notes = NoNotes() if notes is None else notes
        self._conditions = conditions
        self._asleep_s = asleep_s
        self._asleep_before_s = 0.0
        self._readings = Readings()
        self._wish = Wish(meter, grace_s)
        self._begun: tuple[Identity, MeterSettings, IntegrationStart] | None = None

    def record(
        self,
        settings: MeterSettings,
        path: Path,
        *,
        leave: Leave = NOTHING_HELD,
        should_stop: Callable[[], bool] = lambda: False,
        on_start: Callable[[Identity, MeterSettings, IntegrationStart], object] = (
            lambda identity, settings, start: None
        ),
    ) -> Recording:
        """Record until the timer or `should_stop` ends the run; return energy and verdict.

        After a lost link it connects again, with growing pauses. It never resets the integration.
        When `should_stop` says so, a meter that is lost gets `grace_s` seconds to come back. Then
        the recording ends with what is known, and the meter integrates on. A recorder records once.
        """
        if settings.timer_s <= 0:
            raise ValueError("a recording needs a timer of at least 1 s")
        self._readings = Readings()
        identity = self._meter.identify()
        elements = settings.element == SIGMA
        with PowerLog(path, elements=elements, quantities=settings.quantities) as log:
            try:
                settings = self._meter.prepare(settings, leave)
                self._notes.prepared(identity, settings)
            except BaseException:
                # Nothing was recorded, so remove the empty file.
                path.unlink()
                raise
            self._asleep_before_s = self._asleep_s()
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
                ended = self._run(settings, start, log, should_stop)
            finally:
                complete = self._write_out(log, should_stop)
        stopped_s = None if ended.stop is None else ended.stop.after(start)
        recording = self._recording(
            self._readings, ended.session_s, complete, ended.left, stopped_s
        )
        if ended.left or not self._readings:
            return recording
        return replace(recording, fetched=result_of(self._meter, identity, self._readings[-1]))

    def hurry(self, asked_s: float) -> None:
        """Note that somebody has wanted the end since this moment; any thread may call this."""
        self._wish.make(asked_s)

    @property
    def end_s(self) -> float:
        """Return when this recorder has ended, infinite until somebody wants an end.

        It becomes later when the meter answers after its STOP and another reading is due.
        """
        return self._wish.end_s

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
        readings = self._readings.copy()  # the thread that hangs may wake up and read on
        return self._recording(readings, session_s, True, "the meter does not answer")

    def _recording(
        self,
        readings: Readings,
        session_s: float,
        complete: bool,
        left: str,
        stopped_s: tuple[float, float] | None = None,
    ) -> Recording:
        if self._begun is None:
            raise ValueError("no run has begun")
        identity, settings, start = self._begun
        suspended_s = min(max(0.0, self._asleep_s() - self._asleep_before_s), session_s)
        result = judge_energy(
            readings,
            session_s=session_s,
            settings=settings,
            identity=identity,
            suspended_s=suspended_s,
            conditions=self._conditions,
            stopped_s=stopped_s,
        )
        if left:
            result = with_findings(result, [suspect("left", f"{_LEFT}: {left}.")])
        return Recording(
            identity,
            settings,
            start,
            readings,
            result,
            complete,
            left,
            suspended_s,
            stopped_s=stopped_s,
        )

    def _asked(self, should_stop: Callable[[], bool]) -> bool:
        """Tell whether somebody wants an end."""
        return self._wish.look(should_stop, self._clock)

    def _run(
        self,
        settings: MeterSettings,
        start: IntegrationStart,
        log: PowerLog,
        should_stop: Callable[[], bool],
    ) -> RunEnd:
        """Read until the end, end the integration, read and keep its result."""
        schedule = readings_after(start.written_s, settings.update_interval_s)
        follower = Follower(self._take_up, schedule, clock=self._clock, meter=self._meter)
        while True:
            early = self._follow(follower, settings, start, log, should_stop)
            if early:
                self._notes.asked(min(self._clock() - start.sent_s, float(settings.timer_s)))
            ending = Ending(
                follower,
                self._wish,
                lambda: self._asked(should_stop),
                clock=self._clock,
                sleep=self._sleep,
            )
            try:
                ended = ending.finish(settings, start, early)
            except Restarted as error:
                if self._clock() < self._deadline_s(settings, start):
                    _log.warning("%s; it is followed to its next end", error)
                    continue
                ended = RunEnd(float(settings.timer_s), (), str(error))
            for reading in ended.readings:
                self._keep(reading, start, log)
            return ended

    def _deadline_s(self, settings: MeterSettings, start: IntegrationStart) -> float:
        """Return until when a run is followed, whoever stops it and starts it again."""
        return start.written_s + settings.timer_s + LOST_METER_S

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
        deadline_s = self._deadline_s(settings, start)
        phase = UpdatePhase(self._meter, self._clock)
        phase.first_looks(follower, lambda: self._asked(should_stop))
        lost = False
        while not self._asked(should_stop):
            if self._clock() >= deadline_s:
                return False
            phase.look_again(follower)
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
