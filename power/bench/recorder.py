# SPDX-License-Identifier: Apache-2.0
"""Record one integration: prepare, start, read each update once, end, and judge the energy."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from power.bench.schedule import Schedule, back_off_s
from power.energy.final import read_final
from power.energy.judge import EnergyResult, judge_energy
from power.errors import MeterBusy, MeterError, MeterRefused, MeterReplyError, MeterUnreachable
from power.logs.power_log import PowerLog
from power.meter import Identity, IntegrationStart, IntegrationState, Meter, MeterSettings, Reading
from power.transports.transport import Clock

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# A meter that is lost at the end is waited for this long; its integrator keeps the energy.
_GRACE_S = 120.0
# Readings follow updates by this share of an interval: a busy machine makes them late, never early.
_BEHIND = 0.2
# The meter's clock and ours drift apart by up to some 100 ppm: 6 ms in a minute, where the shortest
# interval leaves 20 ms.
_REALIGN_S = 60.0
# A phase that is known no better than this share of an interval is looked for again.
_SHARP = 0.1
_FIRST_LOOKS = 5
_AGAIN_S = 1.0
# So long a full disk is waited for at the end of a run.
_ROOM_S = 60.0


@runtime_checkable
class ShowsUpdates(Protocol):
    """Be a meter that can tell when its values are updated."""

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the monotonic time of the next update, and how far it may be off."""
        ...


@dataclass(frozen=True)
class Recording:
    """What a finished recording found; `complete` says whether every reading is in the log."""

    identity: Identity
    settings: MeterSettings
    start: IntegrationStart
    readings: tuple[Reading, ...]
    result: EnergyResult
    complete: bool


class Recorder:
    """Record a meter's integration into a power log, each of the meter's updates once.

    Readings are taken at fixed instants shortly after the updates, whose phase is looked for at the
    start and each minute. The integration is bounded by the meter's own timer
    (`settings.timer_s`), so that it ends even if this process does not live to see it.
    """

    def __init__(
        self,
        meter: Meter,
        *,
        clock: Clock,
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
        """Record until the timer ends or `should_stop` says so; returns log, energy and verdict.

        A lost link is taken up again with growing pauses, and never resets the integration.
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
                # Nothing was recorded, so nothing is left behind either.
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
        early = self._follow(settings, start, log, should_stop)
        # Unless we end it early, a run has to last as long as its timer: an end that somebody
        # else made is then found.
        elapsed_s = self._clock() - start.sent_s
        session_s = min(elapsed_s, float(settings.timer_s)) if early else float(settings.timer_s)
        self._persist(self._meter.stop)
        for reading in self._final(settings, session_s if early else None):
            self._keep(reading, start, log)
        return session_s

    def _write_out(self, log: PowerLog) -> bool:
        """Wait for room on a full disk, for a bounded time; True if every row is in the log.

        Rows for which there is still no room are told in the log of errors, so that the run is
        not lost.
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
        settings: MeterSettings,
        start: IntegrationStart,
        log: PowerLog,
        should_stop: Callable[[], bool],
    ) -> bool:
        """Read once per update until the integration has ended; True if it is to be ended now."""
        interval_s = settings.update_interval_s
        deadline_s = start.written_s + settings.timer_s + _GRACE_S
        schedule = Schedule(start.written_s + _BEHIND * interval_s, interval_s)
        due_s = self._clock()
        for _ in range(_FIRST_LOOKS):
            schedule, due_s = self._aligned(schedule)
            if due_s > self._clock() + _AGAIN_S:
                break
        while not should_stop():
            now_s = self._clock()
            if now_s >= deadline_s:
                return False
            if now_s >= due_s:
                schedule, due_s = self._aligned(schedule)
                now_s = self._clock()
            self._sleep(max(0.0, schedule.next_after(now_s) - now_s))
            try:
                reading = self._persist(self._meter.read, deadline_s)
            except MeterRefused as error:
                _log.warning("no more readings during this run: %s", error)
                return self._outlast(start.written_s + settings.timer_s, interval_s, should_stop)
            self._keep(reading, start, log)
            if reading.state is not IntegrationState.START:
                return False
        return True

    def _outlast(self, end_s: float, interval_s: float, should_stop: Callable[[], bool]) -> bool:
        """Wait for the end of a run that cannot be read; True if it is to be ended early."""
        while not should_stop():
            left_s = end_s - self._clock()
            if left_s <= 0:
                return False
            self._sleep(min(left_s, interval_s))
        return True

    def _final(self, settings: MeterSettings, early_s: float | None) -> list[Reading]:
        """Return the readings after the end, at the timer or early after so many seconds.

        When somebody changed the output items or held the values during the run, this is the first
        moment at which they may be set right; the integrator has kept the energy.
        """

        def read() -> list[Reading]:
            return read_final(self._meter.read, settings.update_interval_s, self._sleep)

        expected_s = float(settings.timer_s) if early_s is None else early_s
        tolerance_s = 0.0 if early_s is None else settings.update_interval_s + 1.0
        try:
            readings = self._persist(read)
            measured_s = readings[-1].integration_s
            if measured_s is not None and abs(measured_s - expected_s) <= tolerance_s:
                return readings
        except (MeterRefused, MeterReplyError) as error:
            _log.warning("the result cannot be read as the meter is set: %s", error)
        self._persist(self._meter.arrange)
        return self._persist(read)

    def _aligned(self, schedule: Schedule) -> tuple[Schedule, float]:
        """Return instants shortly after the updates, by a look at their phase, and the next look.

        The look begins after a reading and ends with the next update, so no update is missed by it.
        One that a busy machine blurred is not used but repeated soon.
        """
        interval_s = schedule.interval_s
        if not isinstance(self._meter, ShowsUpdates):
            return schedule, math.inf
        try:
            update_s, off_s = self._meter.await_update(interval_s)
        except MeterError as error:
            _log.warning("the phase of the updates was not found: %s", error)
            return schedule, self._clock() + _REALIGN_S
        if off_s > _SHARP * interval_s:
            return schedule, self._clock() + _AGAIN_S
        return Schedule(update_s + _BEHIND * interval_s, interval_s), self._clock() + _REALIGN_S

    def _keep(self, reading: Reading, start: IntegrationStart, log: PowerLog) -> None:
        self._readings.append(reading)
        log.add(reading)
        self._progress(reading, reading.monotonic_s - start.sent_s)

    def _persist(self, call: Callable[[], _T], deadline_s: float | None = None) -> _T:
        """Repeat a call through lost links and broken replies until a deadline, then let it fail.

        Attaching again changes nothing in the meter; its integrator goes on meanwhile.
        """
        if deadline_s is None:
            deadline_s = self._clock() + _GRACE_S
        attempt = 0
        while True:
            try:
                if attempt:
                    self._attach()
                return call()
            except (MeterUnreachable, MeterReplyError) as error:
                attempt += 1
                pause_s = back_off_s(attempt)
                if self._clock() + pause_s >= deadline_s:
                    raise
                _log.warning("%s; attempt %d in %.2f s", error, attempt + 1, pause_s)
                self._sleep(pause_s)

    def _attach(self) -> None:
        """Attach again; a connection that the meter still counts as taken is a lost link, too.

        Output items that are not ours do not matter here: what needs them will say so.
        """
        try:
            self._meter.attach()
        except MeterBusy as error:
            raise MeterUnreachable(str(error)) from error
        except MeterRefused as error:
            _log.warning("attached, but %s", error)
