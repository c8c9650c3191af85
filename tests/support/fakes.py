# SPDX-License-Identifier: Apache-2.0
"""Fakes for the use cases: a clock that stands still, a meter in memory, and a desk of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial

import pytest

from power.errors import MeterBusy, MeterError, MeterHolds, MeterUnreachable
from power.meter import (
    NOTHING_HELD,
    Identity,
    IntegrationStart,
    IntegrationState,
    Leave,
    MeterSettings,
    Reading,
)
from power.wipe_rule import OwnRuns
from referee.core.instant import Instant, shifted
from referee.service.desk import readiness
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.metering import LinkState, Metering
from referee.service.preflight.versions import program_stamp
from tests.support.troubles import TROUBLES, source_of

BOUND_S = 180.0
_LOOK_S = 0.005


def eventually(predicate: Callable[[], object], bound_s: float = BOUND_S) -> None:
    """Wait until the predicate holds; fail when it does not within a generous bound.

    Only a failing test waits so long. A mistake in a thread of the code ends the wait at once.
    """
    pause = threading.Event()
    looks = int(bound_s / _LOOK_S)
    for _ in range(looks):
        if predicate():
            return
        TROUBLES.require_none()
        pause.wait(_LOOK_S)
    said = f"this did not come about within {bound_s:g} s: {source_of(predicate)}"
    raise AssertionError(f"{said}\n{TROUBLES.report()}")


class FakeClock:
    """A clock that moves only by `advance`; many threads may read it."""

    def __init__(self, now: Instant | None = None) -> None:
        self._now = now or Instant(5000.0, datetime(2026, 6, 7, 12, tzinfo=UTC), "this boot")
        self._asleep_s = 0.0
        self._lock = threading.Lock()

    def now(self) -> Instant:
        """Return the present instant."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock on by this many seconds."""
        with self._lock:
            self._now = shifted(self._now, seconds)

    def sleep(self, seconds: float) -> None:
        """Move the clock on as if the machine slept meanwhile."""
        with self._lock:
            self._now = shifted(self._now, seconds)
            self._asleep_s += seconds

    def asleep_s(self) -> float:
        """Return how long the machine has slept."""
        return self._asleep_s


class FakeMeter:
    """A meter that integrates a constant power over a fake clock, with faults on request.

    `open` makes a link; closing the link leaves the instrument running. While `lost` is set,
    nothing answers. `start` raises `fail_start`, and `prepare` raises `fail_prepare`. A reading
    raises `crash`, as a mistake in a driver would. Each reading moves the clock on by
    `reading_takes_s`, so that a session runs by itself. `calls` names all calls but the readings.
    `runs` is the journal, which outlives a desk.
    """

    IDENTITY = Identity("YOKOGAWA", "WT310E", "C2QJ12345V", "F1.04")

    def __init__(self, clock: FakeClock, power_w: float = 5.0, reading_takes_s: float = 0.0):
        self.clock = clock
        self.identity = self.IDENTITY
        self.power_w = power_w
        self.reading_takes_s = reading_takes_s
        self.lost = False
        self.fail_start: MeterError | None = None
        self.fail_prepare: MeterError | None = None
        self.crash: Exception | None = None
        self.calls: list[str] = []
        self.runs = OwnRuns()
        self.settings = MeterSettings(timer_s=0)
        self._started_s: float | None = None
        self._stopped_s: float | None = None

    def open(self) -> FakeMeter:
        """Make a link to the instrument."""
        self._answer("open")
        return self

    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        if self._started_s is None:
            return IntegrationState.RESET
        if self._stopped_s is not None:
            return IntegrationState.STOP
        over = 0 < self.settings.timer_s <= self.clock.now().monotonic_s - self._started_s
        return IntegrationState.TIMEUP if over else IntegrationState.START

    @property
    def integration_s(self) -> float:
        """Return the seconds of integration so far."""
        if self._started_s is None:
            return 0.0
        end_s = self.clock.now().monotonic_s if self._stopped_s is None else self._stopped_s
        elapsed = end_s - self._started_s
        return min(elapsed, self.settings.timer_s) if self.settings.timer_s else elapsed

    @property
    def energy_wh(self) -> float:
        """Return the integrator's energy."""
        return self.power_w * self.integration_s / 3600

    def identify(self) -> Identity:
        """Return a WT310E."""
        self._answer("identify")
        return self.identity

    def prepare(self, settings: MeterSettings, leave: Leave = NOTHING_HELD) -> MeterSettings:
        """Reset the integrator and keep these settings."""
        self._answer("prepare")
        if self.fail_prepare is not None:
            raise self.fail_prepare
        if self.state() is IntegrationState.START:
            raise MeterBusy("An integration runs.")
        if self.state() is not IntegrationState.RESET and not leave.wipes:
            raise MeterHolds("Nobody has asked.")
        self.settings, self._started_s, self._stopped_s = settings, None, None
        return settings

    def start(self) -> IntegrationStart:
        """Start at the clock's present instant."""
        self._answer("start")
        if self.fail_start is not None:
            raise self.fail_start
        now_s = self.clock.now().monotonic_s
        self._started_s, self._stopped_s = now_s, None
        return IntegrationStart(now_s, now_s, now_s)

    def stop(self) -> IntegrationState:
        """End the integration, unless its timer has ended it."""
        self._answer("stop")
        if self.state() is IntegrationState.START:
            self._stopped_s = self.clock.now().monotonic_s
        return self.state()

    def attach(self) -> IntegrationState:
        """Change nothing."""
        self._answer("attach")
        return self.state()

    def charge_ah(self) -> float:
        """Return the charge of the result, as a steady voltage gives it."""
        return self.energy_wh / 5

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the present: each reading is an update."""
        return self.clock.now().monotonic_s, 0.0

    def arrange(self) -> None:
        """Do nothing: this meter always sends every value."""
        self._answer("arrange")

    def read(self) -> Reading:
        """Return one sample."""
        if self.lost:
            raise MeterUnreachable("No link to the meter.")
        if self.crash is not None:
            raise self.crash
        self.clock.advance(self.reading_takes_s)
        now = self.clock.now()
        return Reading(
            monotonic_s=now.monotonic_s,
            utc=now.utc,
            voltage_v=5.0,
            current_a=self.power_w / 5,
            power_w=self.power_w,
            energy_wh=self.energy_wh,
            integration_s=self.integration_s,
            state=self.state(),
            voltage_range_v=self.settings.voltage_range_v,
            current_range_a=self.settings.current_range_a,
        )

    def close(self) -> None:
        """Release the link; the instrument runs on."""
        self.calls.append("close")

    def _answer(self, call: str) -> None:
        self.calls.append(call)
        if self.lost:
            raise MeterUnreachable("No link to the meter.")


SETTINGS = MeterSettings(
    timer_s=0, update_interval_s=0.1, voltage_range_v=15.0, current_range_a=2.0
)
"""Fixed ranges, and the shortest interval: a final reading takes 0.1 s."""


def making(meter):
    """Return a function that makes a lane's metering of this meter, or of no meter."""
    if meter is None:
        return partial(Metering, None, SETTINGS)
    return partial(Metering, meter.open, SETTINGS, resource="FAKE", runs=meter.runs)


@contextmanager
def running_desk(contest, *meters, outside=None):
    """Run a control desk with a lane for each of these meters until the block ends.

    A lane whose meter is None runs without one. A meter that nobody has named gets the serial
    number of its lane, as no two meters have the same; that of lane 1 keeps its own. `outside` is
    what the desk is told of the laptop.
    """
    for lane, meter in enumerate(meters[1:], 2):
        if meter is not None and meter.identity == FakeMeter.IDENTITY:
            meter.identity = replace(FakeMeter.IDENTITY, serial=f"C2QJ{lane:05}V")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readiness, "program_stamp", _stamp_of_this_run)
        desk = ControlDesk(contest, [making(meter) for meter in meters], outside)
        desk.start()
        try:
            for lane, meter in zip(desk.lanes, meters, strict=True):
                if meter is not None and not meter.lost:
                    eventually(lambda lane=lane: lane.metering.status.link is LinkState.OK)
            yield desk
        finally:
            desk.close()


# Each desk asks for it at its start and in each list. The program does not change under its tests.
_stamp_of_this_run = cache(program_stamp)
