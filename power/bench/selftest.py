# SPDX-License-Identifier: Apache-2.0
"""Try a meter out before an event: identity, settings, updates, clock, a short integration."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from power.errors import MeterError
from power.follow import read_final
from power.meter import IntegrationState, Meter, MeterSettings

_log = logging.getLogger(__name__)

_UPDATE_S = 0.25
_UPDATES = 12
# The timer is good to 0.02 %. The rest is the jitter of the wire and of this computer.
_CLOCK_TOLERANCE_S = 0.1


class TestedMeter(Meter, Protocol):
    """A `Meter` with the further methods of a self-test: to inspect it and to restore it."""

    def settings(self) -> MeterSettings:
        """Return the settings that the meter has now."""
        ...

    def restore(self, settings: MeterSettings) -> None:
        """Reset the integrator and write settings back."""
        ...

    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        ...

    def pending_errors(self) -> Sequence[object]:
        """Return the errors in the meter's queue, each with its text as `str`."""
        ...

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the monotonic time of the next update, and the largest error of that time."""
        ...

    def local(self) -> None:
        """Unlock the front panel."""
        ...


class Outcome(Enum):
    """The outcome of a check."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Check:
    """One check: its name, its outcome, and a text with the result or the advice."""

    name: str
    outcome: Outcome
    text: str


class SelfTest:
    """The self-test of one meter; at the end it restores the meter's settings."""

    def __init__(
        self,
        meter: TestedMeter,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        seconds: int = 5,
    ) -> None:
        self._meter = meter
        self._clock = clock
        self._sleep = sleep
        self._seconds = seconds

    def run(self) -> Iterator[Check]:
        """Yield each check when it is done; a failed check may end the test.

        If an integration runs, the test changes nothing in the meter.
        """
        try:
            identity = self._meter.identify()
            yield _ok("identity", f"{identity.model} {identity.serial}, {identity.firmware}")
            before = self._meter.settings()
            errors = self._meter.pending_errors()
        except MeterError as error:
            yield Check("identity", Outcome.FAIL, str(error))
            return
        if errors:
            yield Check("error queue", Outcome.WARN, "it held " + ", ".join(map(str, errors)))
        else:
            yield _ok("error queue", "empty")
        try:
            yield from self._measure(replace(before, update_interval_s=_UPDATE_S))
        except MeterError as error:
            yield Check("measuring", Outcome.FAIL, str(error))
        yield self._restore(before)

    def _measure(self, settings: MeterSettings) -> Iterator[Check]:
        wanted = replace(settings, timer_s=self._seconds)
        found = self._meter.prepare(wanted)
        yield _ok("settings", f"written and read back: {_words(found)}")
        yield self._updates()
        yield from self._integrate(wanted)

    def _updates(self) -> Check:
        """Check the update rate: after a whole number of intervals the phase must be the same."""
        first_s, _ = self._meter.await_update(_UPDATE_S)
        self._sleep((_UPDATES - 0.5) * _UPDATE_S)
        passed = (self._meter.await_update(_UPDATE_S)[0] - first_s) / _UPDATE_S
        if abs(passed - _UPDATES) > 0.2:
            return Check(
                "update rate",
                Outcome.FAIL,
                f"{passed:.2f} intervals of {_UPDATE_S:g} s passed, but {_UPDATES} were expected",
            )
        return _ok("update rate", f"{_UPDATE_S:g} s, {(passed / _UPDATES - 1):+.2%}")

    def _integrate(self, settings: MeterSettings) -> Iterator[Check]:
        start = self._meter.start()
        first = self._meter.read()
        blank = sorted(first.absent)
        yield _ok(
            "after START",
            f"no data for {', '.join(blank)}, as expected" if blank else "data at once",
        )
        state, asked_s = IntegrationState.START, self._clock()
        deadline_s = start.written_s + settings.timer_s + 5.0
        while state is IntegrationState.START and asked_s < deadline_s:
            self._sleep(0.02)
            asked_s = self._clock()
            state = self._meter.state()
        took_s = asked_s - start.written_s
        if state is not IntegrationState.TIMEUP:
            self._meter.stop()
            yield Check(
                "timer", Outcome.FAIL, f"the state is {state.value} {took_s:.1f} s after START"
            )
            return
        off_s = took_s - settings.timer_s
        yield Check(
            "clock",
            Outcome.OK if abs(off_s) <= _CLOCK_TOLERANCE_S else Outcome.WARN,
            f"the timer of {settings.timer_s} s ended after {took_s:.2f} s by this computer",
        )
        final = read_final(self._meter.read, settings.update_interval_s, self._sleep)[-1]
        good = final.integration_s == settings.timer_s and final.energy_wh is not None
        text = f"{final.energy_wh} Wh in {final.integration_s} s"
        yield Check("integration", Outcome.OK if good else Outcome.FAIL, text)

    def _restore(self, before: MeterSettings) -> Check:
        """Put the settings back; this resets the timer and the integrator."""
        try:
            self._meter.stop()
            self._meter.restore(before)
            self._meter.local()
        except MeterError as error:
            return Check("restored", Outcome.WARN, str(error))
        return _ok("restored", _words(before))


def _ok(name: str, text: str) -> Check:
    return Check(name, Outcome.OK, text)


def _words(settings: MeterSettings) -> str:
    volts = "auto" if settings.voltage_range_v is None else f"{settings.voltage_range_v:g} V"
    amperes = "auto" if settings.current_range_a is None else f"{settings.current_range_a:g} A"
    return (
        f"{settings.mode.value}, {volts}, {amperes}, update {settings.update_interval_s:g} s, "
        f"timer {settings.timer_s} s"
    )
