# SPDX-License-Identifier: Apache-2.0
"""Try a meter out before an event: identity, settings, updates, clock, a short integration."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from power.errors import MeterBusy, MeterError
from power.follow import read_final
from power.meter import IntegrationState, Leave, MeterSettings, Reading
from power.wipe_guard import Guard, WatchedMeter

_log = logging.getLogger(__name__)

_UPDATE_S = 0.25
_UPDATES = 12
# The phase must be the same after whole intervals, to this share of an interval.
_PHASE = 0.2
# A busy computer blurs a look at the updates; then the test looks again.
_MOST_LOOKS = 4
# The timer is good to 0.02 %. The rest is the jitter of the wire.
_CLOCK_TOLERANCE_S = 0.1


class TestedMeter(WatchedMeter, Protocol):
    """A `Meter` with the further methods of a self-test: to inspect it and to restore it."""

    def settings(self) -> MeterSettings:
        """Return the settings that the meter has now."""
        ...

    def take_snapshot(self) -> Mapping[str, str]:
        """Return every setting that the test may change."""
        ...

    def put_back(self, found: Mapping[str, str], leave: Leave) -> list[str]:
        """Reset the integrator, put settings back, and return what reads back differently."""
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


class CheckOutcome(Enum):
    """The outcome of a check."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Check:
    """One check: its name, its outcome, and a text with the result or the advice."""

    name: str
    outcome: CheckOutcome
    text: str


class SelfTest:
    """The self-test of one meter; at the end the meter has its settings back, read again."""

    def __init__(
        self,
        meter: TestedMeter,
        guard: Guard,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        seconds: int = 5,
    ) -> None:
        self._meter = meter
        self._guard = guard
        self._clock = clock
        self._sleep = sleep
        self._seconds = seconds
        self._found: Mapping[str, str] | None = None
        self._started = False

    def run(self, leave: Leave) -> Iterator[Check]:
        """Yield each check when it is done; a failed check may end the test.

        If an integration runs, the test changes nothing in the meter. A caller who does not take
        all checks must call `put_back`.
        """
        try:
            identity = self._meter.identify()
            yield _ok("identity", f"{identity.model} {identity.serial}, {identity.firmware}")
            found = self._meter.take_snapshot()
            before = self._meter.settings()
            errors = self._meter.pending_errors()
        except MeterError as error:
            yield Check("identity", CheckOutcome.FAIL, error.whole_text())
            return
        if errors:
            listed = ", ".join(map(str, errors))
            text = f"it held {listed}; they are cleared, and come from what was done before"
            yield Check("error queue", CheckOutcome.WARN, text)
        else:
            yield _ok("error queue", "empty")
        try:
            if self._meter.state() is IntegrationState.START:
                raise MeterBusy("an integration runs on this meter; test it when that has ended")
            self._found = found
            yield from self._measure(replace(before, update_interval_s=_UPDATE_S), leave)
        except MeterError as error:
            yield Check("measuring", CheckOutcome.FAIL, error.whole_text())
        yield self.put_back()

    def put_back(self) -> Check:
        """End the test's integration, put every setting back, prove it, unlock the panel."""
        found, self._found = self._found, None
        if found is None:
            return _ok("restored", "nothing was changed")
        try:
            self._meter.stop()
            if self._started:
                self._guard.give_up()
            wrong = self._meter.put_back(found, self._guard.leave())
            self._meter.local()
        except MeterError as error:
            text = f"{error.whole_text()}; the meter may keep the test's settings"
            return Check("restored", CheckOutcome.WARN, text)
        if wrong:
            return Check("restored", CheckOutcome.WARN, f"{'; '.join(wrong)}: set it at the panel")
        return _ok("restored", f"all {len(found)} settings read back as found")

    def _measure(self, settings: MeterSettings, leave: Leave) -> Iterator[Check]:
        wanted = replace(settings, timer_s=self._seconds)
        found = self._meter.prepare(wanted, leave)
        yield _ok("settings", f"written and read back: {_words(found)}")
        yield self._updates()
        yield from self._integrate(wanted)

    def _updates(self) -> Check:
        """Check the update rate: after a whole number of intervals the phase must be the same.

        A look that a busy computer blurred proves nothing, so the test looks again.
        """
        for _ in range(_MOST_LOOKS):
            first_s, first_off_s = self._meter.await_update(_UPDATE_S)
            self._sleep((_UPDATES - 0.5) * _UPDATE_S)
            last_s, last_off_s = self._meter.await_update(_UPDATE_S)
            passed = (last_s - first_s) / _UPDATE_S
            blur = (first_off_s + last_off_s) / _UPDATE_S
            # A computer that slept too long sees a later update; the phase counts, not the number.
            off = abs(passed - max(_UPDATES, round(passed)))
            if off <= _PHASE:
                return _ok("update rate", f"{_UPDATE_S:g} s, {100 * off / passed:.2f} % off")
            if blur <= _PHASE:
                return Check(
                    "update rate",
                    CheckOutcome.FAIL,
                    f"{passed:.2f} intervals of {_UPDATE_S:g} s passed, but a whole number was "
                    "expected. Test again; if that does not help, have the meter checked",
                )
        return Check(
            "update rate",
            CheckOutcome.WARN,
            "this computer was too busy to tell; end other programs and test again",
        )

    def _integrate(self, settings: MeterSettings) -> Iterator[Check]:
        self._started = True  # also if START seems to fail
        start = self._meter.start()
        first = self._meter.read()
        blank = sorted(first.absent)
        yield _ok(
            "after START",
            f"no data for {', '.join(blank)}, as expected" if blank else "data at once",
        )
        state, before_s, asked_s = IntegrationState.START, start.written_s, self._clock()
        deadline_s = start.written_s + settings.timer_s + 5.0
        while state is IntegrationState.START and asked_s < deadline_s:
            self._sleep(0.02)
            before_s, asked_s = asked_s, self._clock()
            state = self._meter.state()
        yield self._ended(state, before_s - start.sent_s, self._clock() - start.written_s)
        if state is not IntegrationState.START:
            final = read_final(self._meter.read, settings.update_interval_s, self._sleep)[-1]
            yield _result(final, settings.timer_s)

    def _ended(self, state: IntegrationState, least_s: float, most_s: float) -> Check:
        """Check how the integration ended: between `least_s` and `most_s` after its start."""
        timer_s = self._seconds
        if state is IntegrationState.START:
            self._meter.stop()
            text = f"the integration still ran {most_s:.1f} s after START: its timer did not end it"
            return Check("timer", CheckOutcome.FAIL, f"{text}. Do not use this meter")
        if state is not IntegrationState.TIMEUP:
            text = (
                f"the state is {state.value} {most_s:.1f} s after START, not TIMEUP: {_WHY[state]}"
            )
            return Check("timer", CheckOutcome.FAIL, f"{text}. Test again")
        text = f"the timer of {timer_s} s ended after {most_s:.2f} s by this computer"
        if least_s > timer_s + _CLOCK_TOLERANCE_S or most_s < timer_s - _CLOCK_TOLERANCE_S:
            return Check("clock", CheckOutcome.WARN, f"{text}. One of the two clocks is wrong")
        if most_s - least_s > 2 * _CLOCK_TOLERANCE_S:
            text = f"{text}, which looked only every {most_s - least_s:.2f} s: it is busy"
        return _ok("clock", text)


_WHY = {
    IntegrationState.RESET: "somebody pressed RESET, or another program reset it",
    IntegrationState.STOP: "somebody pressed STOP, or another program stopped it",
    IntegrationState.ERROR: "its power failed, or the integrator overflowed",
}


def _result(final: Reading, timer_s: int) -> Check:
    """Check the result of the integration: its time, and that it has an energy."""
    text = f"{final.energy_wh} Wh in {final.integration_s} s"
    if final.state is IntegrationState.RESET:
        remedy = f"the result is gone: {_WHY[IntegrationState.RESET]}. Test again"
    elif final.integration_s is None or final.energy_wh is None:
        remedy = "the meter shows no numbers. Check the wiring and the ranges, and test again"
    elif final.integration_s != timer_s:
        remedy = (
            f"but {timer_s} s were expected. The display is held, or another program uses the "
            "meter. End HOLD at the panel and the other program, and test again"
        )
    else:
        return _ok("integration", text)
    return Check("integration", CheckOutcome.FAIL, f"{text}: {remedy}")


def _ok(name: str, text: str) -> Check:
    return Check(name, CheckOutcome.OK, text)


def _words(settings: MeterSettings) -> str:
    volts = "auto" if settings.voltage_range_v is None else f"{settings.voltage_range_v:g} V"
    amperes = "auto" if settings.current_range_a is None else f"{settings.current_range_a:g} A"
    return (
        f"{settings.mode.value}, {volts}, {amperes}, update {settings.update_interval_s:g} s, "
        f"timer {settings.timer_s} s"
    )
