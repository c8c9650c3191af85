# SPDX-License-Identifier: Apache-2.0
"""Record one integration: prepare, start, read on a schedule, end, and judge the energy."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from power.energy import EnergyResult, judge_energy
from power.errors import MeterReplyError, MeterUnreachable
from power.final import read_final
from power.meter import Identity, IntegrationStart, IntegrationState, Meter, MeterSettings, Reading
from power.power_log import PowerLog
from power.schedule import Schedule, back_off_s
from power.transport import Clock

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# After the timer's end the meter gets this long to say so, and a lost one to come back.
_GRACE_S = 30.0


@dataclass(frozen=True)
class Recording:
    """Hold what a finished recording found."""

    identity: Identity
    settings: MeterSettings
    start: IntegrationStart
    readings: tuple[Reading, ...]
    result: EnergyResult


class Recorder:
    """Record a meter's integration into a power log.

    The integration is bounded by the meter's own timer (`settings.timer_s`), so that it ends even
    if this process does not live to see it.
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
    ) -> Recording:
        """Record until the timer ends or `should_stop` says so; returns log, energy and verdict.

        A lost link is taken up again with growing pauses, and never resets the integration.
        """
        if settings.timer_s <= 0:
            raise ValueError("a recording needs a timer of at least 1 s")
        identity = self._meter.identify()
        settings = self._meter.prepare(settings)
        start = self._meter.start()
        with PowerLog(path, start.sent_s) as log:
            self._follow(settings, start, log, should_stop)
            # A run that was not stopped by hand lasted as long as its timer.
            stopped_s = self._clock()
            self._persist(self._meter.stop)
            session_s = min(stopped_s - start.sent_s, float(settings.timer_s))
            final = self._persist(
                lambda: read_final(self._meter.read, settings.update_interval_s, self._sleep)
            )
            for reading in final:
                self._keep(reading, start, log)
        result = judge_energy(
            self._readings, session_s=session_s, settings=settings, identity=identity
        )
        return Recording(identity, settings, start, tuple(self._readings), result)

    def _follow(
        self,
        settings: MeterSettings,
        start: IntegrationStart,
        log: PowerLog,
        should_stop: Callable[[], bool],
    ) -> None:
        """Read once per update until the integration has ended."""
        # The meter's updates begin at START, so the middle between two is half an interval later.
        schedule = Schedule(
            start.written_s + settings.update_interval_s / 2, settings.update_interval_s
        )
        deadline_s = start.written_s + settings.timer_s + _GRACE_S
        while not should_stop():
            now_s = self._clock()
            if now_s >= deadline_s:
                return
            self._sleep(max(0.0, schedule.next_after(now_s) - now_s))
            reading = self._persist(self._meter.read, deadline_s)
            self._keep(reading, start, log)
            if reading.state is not IntegrationState.START:
                return

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
                    self._meter.attach()
                return call()
            except (MeterUnreachable, MeterReplyError) as error:
                attempt += 1
                pause_s = back_off_s(attempt)
                if self._clock() + pause_s >= deadline_s:
                    raise
                _log.warning("%s; attempt %d in %.2f s", error, attempt + 1, pause_s)
                self._sleep(pause_s)
