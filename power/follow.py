# SPDX-License-Identifier: Apache-2.0
"""Follow a meter's integration: when to read, how to go on after a fault, how to end."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from power.errors import MeterBusy, MeterRefused, MeterReplyError, MeterUnreachable
from power.meter import Meter, Reading

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

LOST = (MeterUnreachable, MeterReplyError, MeterBusy)
"""Errors after which the meter is opened again: no link, a broken reply, a link in use."""

LOST_METER_S = 120.0
"""Longest wait for a meter that is lost at the end of a run; the meter keeps the energy."""

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 5.0


@dataclass(frozen=True)
class Schedule:
    """Fixed instants to read at: `origin_s` plus whole intervals.

    The instants never shift. A late reading does not move the next one.
    """

    origin_s: float
    interval_s: float

    def next_after(self, now_s: float) -> float:
        """Return the first instant after `now_s`; missed instants are left out."""
        passed = math.floor((now_s - self.origin_s) / self.interval_s + 1e-9)
        return self.origin_s + (passed + 1) * self.interval_s


def back_off_s(attempt: int) -> float:
    """Return the pause before attempt 1, 2, 3… to reach a lost meter: 0.25 s doubling up to 5 s."""
    # The exponent is bounded, because a meter may stay lost for days.
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 10))


class Follower:
    """A meter that is read on a schedule, and opened again after each fault.

    `take_up` opens and attaches the meter (see `attach`), and returns it. `meter` is one that is
    attached already. This class never waits: `due_s` is the time of the next `step`, and the
    caller waits until then. No fault resets a running integration. Not safe for several threads.
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
        """Tell whether the meter answered at the last step."""
        return self._meter is not None

    @property
    def schedule(self) -> Schedule:
        """Return the instants of the readings."""
        return self._schedule

    def keep_to(self, schedule: Schedule) -> None:
        """Read at the instants of another schedule from now on."""
        self._schedule = schedule
        if self._meter is not None:
            self.due_s = schedule.next_after(self._clock())

    def step(self) -> Reading | None:
        """Read the meter and return the reading; open a lost meter instead and return None.

        Errors are passed on. An error of `LOST` loses the meter: the next step opens it again,
        after a pause.
        """
        if self._meter is None:
            self._reach()
            return None
        # An early wake-up must not read twice for the same instant.
        read_for_s = max(self._clock(), self.due_s)
        try:
            with self.lend() as meter:
                return meter.read()
        finally:
            if self._meter is not None:
                self.due_s = self._schedule.next_after(max(self._clock(), read_for_s))

    @contextmanager
    def lend(self) -> Iterator[Meter]:
        """Give the meter to a block; a link that fails there is lost."""
        if self._meter is None:
            raise MeterUnreachable("the meter is not connected")
        try:
            yield self._meter
        except (MeterUnreachable, MeterReplyError):
            self.lose()
            raise

    def hurry(self) -> None:
        """Try a lost meter again at once, with short pauses: there is little time left."""
        self._failures = 0
        self.due_s = min(self.due_s, self._clock())

    def insist(
        self,
        job: Callable[[Meter], _T],
        deadline_s: float | Callable[[], float],
        sleep: Callable[[float], object],
    ) -> _T:
        """Repeat a job until no lost link stops it; begin no attempt after the deadline.

        The deadline may be a function, because it comes nearer when somebody asks for an end.
        """
        while True:
            try:
                if self._meter is None:
                    self._reach()
                with self.lend() as meter:
                    return job(meter)
            except LOST:
                limit_s = deadline_s() if callable(deadline_s) else deadline_s
                if self._meter is not None or self.due_s >= limit_s:
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
    """Attach to a meter; return "", or why it cannot be read. Its integration goes on.

    Wrong output items are set right, except while an integration runs. Such a meter takes
    commands, and its readings wait for the end of the run.
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


# The final energy may come only with the update after the end. So the first reading can be old, and
# two readings must agree. Ten readings outlast some updates without data.
_MOST_READINGS = 10
# Slightly more than one update, so that two readings never show the same one.
_APART = 1.1
# Somebody may press HOLD again. After this many times the run has no result.
_MOST_RELEASES = 3


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


@runtime_checkable
class Holds(Protocol):
    """A meter whose display can be held; a held display shows the past."""

    def held(self) -> bool:
        """Tell whether the display or the output is on hold."""
        ...


def read_result(
    call: Call,
    update_interval_s: float,
    sleep: Callable[[float], object],
    *,
    expected_s: float = math.nan,
    tolerance_s: float = math.inf,
) -> list[Reading]:
    """Return the readings after the end of a run, also when somebody changed what the meter sends.

    Such a meter refuses readings, or shows an old energy on a held display. Its output may be set
    right only after the end of the run; the integrator keeps the energy. `expected_s` and
    `tolerance_s` say which integration time is right; by default every time is. A display that is
    held before or after the readings is released, and they are read again. If it is held each
    time, this raises `MeterRefused`.
    """
    try:
        if not call(_is_held):
            readings = read_final(lambda: call(_read), update_interval_s, sleep)
            measured_s = readings[-1].integration_s
            late = measured_s is not None and abs(measured_s - expected_s) > tolerance_s
            if measured_s is not None and not late and not call(_is_held):
                return readings
            _log.warning("the meter shows %s s after a run of %g s", measured_s, expected_s)
    except (MeterRefused, MeterReplyError) as error:
        _log.warning("the result cannot be read as the meter is set: %s", error)
    for _ in range(_MOST_RELEASES):
        call(_arrange)
        readings = read_final(lambda: call(_read), update_interval_s, sleep)
        if not call(_is_held):
            return readings
    raise MeterRefused("somebody holds the meter's display again and again; end HOLD at its panel")


def _read(meter: Meter) -> Reading:
    return meter.read()


def _arrange(meter: Meter) -> None:
    meter.arrange()


def _is_held(meter: Meter) -> bool:
    """Tell whether the values show the past; some meters cannot tell."""
    return isinstance(meter, Holds) and meter.held()
