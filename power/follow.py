# SPDX-License-Identifier: Apache-2.0
"""Follow a meter's integration: when to read, how to go on after a fault, how to end."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from power.errors import MeterBusy, MeterRefused, MeterReplyError, MeterUnreachable
from power.meter import Meter, Reading

LOST_METER_S = 120.0
"""A meter that is lost at the end of a run is waited for this long; it keeps the energy."""

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 5.0


@dataclass(frozen=True)
class Schedule:
    """Fixed instants to read at: `origin_s` plus whole intervals.

    They never shift: an instant does not depend on when the last reading was done.
    """

    origin_s: float
    interval_s: float

    def next_after(self, now_s: float) -> float:
        """Return the first instant after `now_s`; instants that were missed are left out."""
        passed = math.floor((now_s - self.origin_s) / self.interval_s + 1e-9)
        return self.origin_s + (passed + 1) * self.interval_s


def back_off_s(attempt: int) -> float:
    """Return the pause before attempt 1, 2, 3… to reach a lost meter: 0.25 s doubling up to 5 s."""
    # The exponent is bounded, because a meter may stay lost for days.
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 10))


_T = TypeVar("_T")

LOST = (MeterUnreachable, MeterReplyError, MeterBusy)
"""The errors after which a meter is taken up again: no link, a spoilt reply, a link in use."""


class Follower:
    """A meter that is read on a schedule and taken up again after each fault.

    `take_up` returns the meter when its link stands, as `attach` makes sure; with `meter` it stands
    already. Nothing waits in here: `due_s` says when `step` has something to do, and the caller
    waits as it likes. No fault resets a running integration. Not safe for several threads.
    """

    def __init__(
        self,
        take_up: Callable[[], Meter],
        schedule: Schedule,
        *,
        clock: Callable[[], float],
        meter: Meter | None = None,
    ) -> None:
        self._take_up = take_up
        self._schedule = schedule
        self._clock = clock
        self._meter = meter
        self._failures = 0
        self.due_s = clock()

    @property
    def attached(self) -> bool:
        """Tell whether the meter is there, as far as the last step knows."""
        return self._meter is not None

    @property
    def schedule(self) -> Schedule:
        """Return the instants at which the meter is read."""
        return self._schedule

    def keep_to(self, schedule: Schedule) -> None:
        """Read at other instants from now on."""
        self._schedule = schedule
        if self._meter is not None:
            self.due_s = schedule.next_after(self._clock())

    def step(self) -> Reading | None:
        """Read the meter, or take it up first; None means that it was only taken up.

        Errors are passed on. After one that loses the meter the next step takes it up again; it is
        due when a pause is over.
        """
        if self._meter is None:
            self._reach()
            return None
        # An early wake-up must not read twice for the same instant.
        read_for_s = max(self._clock(), self.due_s)
        try:
            return self.call(lambda meter: meter.read())
        finally:
            if self._meter is not None:
                self.due_s = self._schedule.next_after(max(self._clock(), read_for_s))

    def call(self, job: Callable[[Meter], _T]) -> _T:
        """Return what a job on the meter returns; a link that fails in it is lost."""
        if self._meter is None:
            raise MeterUnreachable("the meter is not connected")
        try:
            return job(self._meter)
        except (MeterUnreachable, MeterReplyError):
            self.lose()
            raise

    def insist(
        self, job: Callable[[Meter], _T], deadline_s: float, sleep: Callable[[float], object]
    ) -> _T:
        """Repeat a job through lost links until it is done, but begin none after the deadline."""
        while True:
            try:
                if self._meter is None:
                    self._reach()
                return self.call(job)
            except LOST:
                if self._meter is not None or self.due_s >= deadline_s:
                    raise
            sleep(max(0.0, self.due_s - self._clock()))

    def lose(self) -> None:
        """Give the meter up until the next step, which is due after a pause."""
        self._meter = None
        self._failures += 1
        self.due_s = self._clock() + back_off_s(self._failures)

    def _reach(self) -> None:
        try:
            self._meter = self._take_up()
        except Exception:
            self.lose()
            raise
        self._failures = 0
        self.due_s = self._schedule.next_after(self._clock())


def attach(meter: Meter) -> str:
    """Attach to a meter; return why it cannot be read, or nothing. Its integration goes on.

    Output items that are not ours are set right, except while an integration runs: then the meter
    still takes commands, and its readings have to wait for the end.
    """
    try:
        meter.attach()
    except MeterRefused as refused:
        try:
            meter.arrange()
        except MeterBusy:
            return str(refused)
        meter.attach()
    return ""


_log = logging.getLogger(__name__)

# A meter may show the final energy only with the update after the end, so the first reading can
# still be old; the one after that must agree. Some updates without data are outlasted.
_MOST_READINGS = 10
# Slightly more than one update, so that two readings never show the same one.
_APART = 1.1


class Call(Protocol):
    """A way to have a job done on a meter, and get its result or its `MeterError`."""

    def __call__(self, job: Callable[[Meter], _T], /) -> _T:
        """Carry out a job."""
        ...


def read_final(
    read: Callable[[], Reading], update_interval_s: float, sleep: Callable[[float], object]
) -> list[Reading]:
    """Return the readings after the end of a run; the last two agree unless the meter never does.

    `read` gives one reading of the meter. It is called two to ten times, one update apart. If the
    last readings disagree, `judge_energy` finds it.
    """
    readings = [read()]
    while len(readings) < _MOST_READINGS:
        sleep(_APART * update_interval_s)
        readings.append(read())
        last, before = readings[-1], readings[-2]
        same = (last.energy_wh, last.integration_s) == (before.energy_wh, before.integration_s)
        if same and last.energy_wh is not None and last.integration_s is not None:
            break
    return readings


def read_result(
    call: Call,
    update_interval_s: float,
    sleep: Callable[[float], object],
    *,
    expected_s: float = math.nan,
    tolerance_s: float = math.inf,
) -> list[Reading]:
    """Return the readings after the end of a run, also when somebody changed what the meter sends.

    Such a meter refuses readings, or shows an old integration time on a held display. The end is
    the first moment at which its output may be set right; the integrator has kept the energy.
    `expected_s` and `tolerance_s` say which integration time is right; as given, any number is.
    """

    def read() -> list[Reading]:
        return read_final(lambda: call(lambda meter: meter.read()), update_interval_s, sleep)

    try:
        readings = read()
        measured_s = readings[-1].integration_s
        if measured_s is not None and not abs(measured_s - expected_s) > tolerance_s:
            return readings
        _log.warning("the meter shows %s s after a run of %g s", measured_s, expected_s)
    except (MeterRefused, MeterReplyError) as error:
        _log.warning("the result cannot be read as the meter is set: %s", error)
    call(lambda meter: meter.arrange())
    return read()
