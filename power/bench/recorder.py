# SPDX-License-Identifier: Apache-2.0
"""Record one integration: prepare, start, read each update once, end, and judge the energy."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from power.energy.judge import judge_energy
from power.energy.verdict import EnergyResult
from power.errors import MeterError, MeterRefused
from power.follow import LOST, LOST_METER_S, Follower, Schedule, attach, read_result
from power.logs.power_log import PowerLog
from power.meter import Identity, IntegrationStart, IntegrationState, Meter, MeterSettings, Reading

_log = logging.getLogger(__name__)

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


@runtime_checkable
class ShowsUpdates(Protocol):
    """A meter that can tell when its values are updated."""

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the monotonic time of the next update, and the largest error of that time."""
        ...


@dataclass(frozen=True)
class Recording:
    """The result of a finished recording; `complete` says whether every reading is in the log."""

    identity: Identity
    settings: MeterSettings
    start: IntegrationStart
    readings: tuple[Reading, ...]
    result: EnergyResult
    complete: bool


class Recorder:
    """The recorder of one integration: it writes each of the meter's updates once to a power log.

    It reads at fixed instants shortly after the updates. It looks for the updates' phase at the
    start and then each minute. The meter's own timer (`settings.timer_s`) ends the integration,
    even if this process is killed.
    """

    def __init__(
        self,
        meter: Meter,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        progress: Callable[[Reading, float], None] = lambda reading, elapsed_s: None,
    ) -> None:
        self._meter = meter
        self._clock = clock
        self._sleep = sleep
        self._progress = progress
        self._readings: list[Reading] = []

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
        """
        if settings.timer_s <= 0:
            raise ValueError("a recording needs a timer of at least 1 s")
        self._readings = []
        identity = self._meter.identify()
        with PowerLog(path) as log:
            try:
                settings = self._meter.prepare(settings)
                start = self._meter.start()
            except BaseException:
                # Nothing was recorded, so remove the empty file.
                path.unlink()
                raise
            log.begin(start.sent_s)
            try:
                on_start(identity, settings, start)
                session_s = self._run(settings, start, log, should_stop)
            finally:
                complete = self._write_out(log)
        result = judge_energy(
            self._readings, session_s=session_s, settings=settings, identity=identity
        )
        return Recording(identity, settings, start, tuple(self._readings), result, complete)

    def _run(
        self,
        settings: MeterSettings,
        start: IntegrationStart,
        log: PowerLog,
        should_stop: Callable[[], bool],
    ) -> float:
        """Read until the end, end the integration, read its result; return the session's length."""
        interval_s = settings.update_interval_s
        schedule = Schedule(start.written_s + _BEHIND * interval_s, interval_s)
        follower = Follower(self._take_up, schedule, clock=self._clock, meter=self._meter)
        early = self._follow(follower, settings, start, log, should_stop)
        # A run that we did not end should have lasted as long as its timer. If somebody else ended
        # it, the judge sees that it was too short.
        elapsed_s = self._clock() - start.sent_s
        session_s = min(elapsed_s, float(settings.timer_s)) if early else float(settings.timer_s)
        deadline_s = self._clock() + LOST_METER_S
        follower.insist(lambda meter: meter.stop(), deadline_s, self._sleep)
        final = read_result(
            lambda job: follower.insist(job, deadline_s, self._sleep),
            interval_s,
            self._sleep,
            expected_s=session_s,
            tolerance_s=interval_s + 1.0 if early else 0.0,
        )
        for reading in final:
            self._keep(reading, start, log)
        return session_s

    def _write_out(self, log: PowerLog) -> bool:
        """Wait a bounded time for room on a full disk; return whether every row is in the log.

        If there is still no room, the rows go to the error log, so the run is not lost.
        """
        deadline_s = self._clock() + _ROOM_S
        while not log.flush():
            if self._clock() >= deadline_s:
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
        look_s = self._first_looks(follower)
        # While the meter is lost, a request to stop waits until the meter is read again. It goes on
        # integrating, so the session goes on too, and its timer may end the run meanwhile.
        answers = True
        while not (answers and should_stop()):
            now_s = self._clock()
            if now_s >= deadline_s:
                return False
            if now_s >= look_s and follower.attached:
                look_s = self._align(follower)
            self._sleep(max(0.0, follower.due_s - self._clock()))
            answers = False
            try:
                reading = follower.step()
            except MeterRefused as error:
                _log.warning("no more readings during this run: %s", error)
                return self._outlast(start.written_s + settings.timer_s, interval_s, should_stop)
            except LOST as error:
                if follower.due_s >= deadline_s:
                    raise
                _log.warning("%s; next attempt in %.2f s", error, follower.due_s - self._clock())
                continue
            if reading is None:
                continue
            answers = True
            self._keep(reading, start, log)
            if reading.state is not IntegrationState.START:
                return False
        return True

    def _outlast(self, end_s: float, interval_s: float, should_stop: Callable[[], bool]) -> bool:
        """Wait for the end of a run that cannot be read; return True if we have to end it."""
        while not should_stop():
            left_s = end_s - self._clock()
            if left_s <= 0:
                return False
            self._sleep(min(left_s, interval_s))
        return True

    def _first_looks(self, follower: Follower) -> float:
        """Look for the updates' phase a few times at most, until its error is small."""
        for _ in range(_FIRST_LOOKS):
            look_s = self._align(follower)
            if look_s > self._clock() + _AGAIN_S:
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
        self._readings.append(reading)
        log.add(reading)
        self._progress(reading, reading.monotonic_s - start.sent_s)

    def _take_up(self) -> Meter:
        trouble = attach(self._meter)
        if trouble:
            _log.warning("attached, but %s", trouble)
        return self._meter
