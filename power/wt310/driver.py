# SPDX-License-Identifier: Apache-2.0
"""The WT310 driver: prepare, start, read, stop, attach; each call ends within a bounded time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from power.errors import MeterBusy, MeterRefused, MeterReplyError, MeterSilent
from power.meter import (
    Identity,
    IntegrationStart,
    IntegrationState,
    MeterSettings,
    Reading,
)
from power.scpi import Absent, DeviceError, parse_word, split_values
from power.transports.transport import Clock, Transport, UtcClock, utc_now
from power.wt310 import output
from power.wt310 import settings as setup
from power.wt310.link import Link
from power.wt310.models import Model
from power.wt310.run_watch import RunWatch

_log = logging.getLogger(__name__)

# Right after the start some commands fail. Users of real meters found this.
BUSY_WINDOW_S = 0.2
STATE_DEADLINE_S = 5.0
# After this long a STOP without effect is sent again. A repeat does no harm (844).
STOP_PATIENCE_S = 2.0
_MOST_STOPS = 3
_POLL_S = 0.05

_VALUE_NAMES = {
    "U": "voltage_v",
    "I": "current_a",
    "P": "power_w",
    "WH": "energy_wh",
    "TIME": "integration_s",
}


class WT310:
    """The driver of one meter of the WT300 and WT300E series; it implements `power.meter.Meter`.

    The first call opens the link. After a lost link the next call tries once to open it again, and
    resets nothing. So a caller has only to call `attach` or `read` again after a while. Calls from
    several threads follow one another. A three-phase model measures with element 1.
    """

    def __init__(
        self,
        open_transport: Callable[[], Transport],
        *,
        clock: Clock = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        utc: UtcClock = utc_now,
        timeout_s: float = 2.0,
    ) -> None:
        self._link = Link(open_transport, timeout_s=timeout_s)
        self._clock = clock
        self._sleep = sleep
        self._utc = utc
        self._lock = threading.RLock()
        self._watch = RunWatch(self._link)
        self._items: tuple[str, ...] = ()
        self._peaks_arranged = False

    def identify(self) -> Identity:
        """Open the link and return who answers; `MeterMismatch` for an unsupported model."""
        with self._lock:
            self._link.reopen()
            return self._link.identity

    def prepare(self, settings: MeterSettings) -> MeterSettings:
        """Reset the integrator, write all settings, and return them as read back.

        Raises `MeterBusy` while an integration runs. Waits for two updates with finite voltage,
        current and power: the first updates after a change have no data.
        """
        with self._lock:
            setup.check(settings, self._link.model)
            self.reset()
            self._link.errors()
            setup.write(self._link, settings)
            self._items = output.write_items(self._link)
            self._link.command(":STATus:FILTer1 FALL")
            for number in (7, 8, 9):
                self._link.command(f":STATus:FILTer{number} RISE")
            found = setup.read_back(self._link)
            setup.compare(settings, found)
            setup.check_leftovers(self._link)
            self._wait_for_data(settings.update_interval_s)
            return found

    def start(self) -> IntegrationStart:
        """Start the integration and return only after the meter reports that it runs.

        Raises `MeterBusy` when one runs already, and `MeterRefused` with the meter's own error code
        when it does not start within 5 s.
        """
        with self._lock:
            state = self._state()
            if state is IntegrationState.START:
                raise MeterBusy(
                    "an integration runs on this meter already; if it is yours, stop it"
                )
            if state is not IntegrationState.RESET:
                raise MeterRefused(
                    f"the integrator is in state {state.value}, not RESET; prepare the meter first"
                )
            self._link.errors()
            self._watch.forget()
            sent_s = self._clock()
            self._link.tell(":INTEGrate:STARt")
            written_s = self._clock()
            self._sleep(BUSY_WINDOW_S)
            state = self._await_state({IntegrationState.START})
            confirmed_s = self._clock()
            errors = self._link.errors()
            if state is not IntegrationState.START or errors:
                raise _not_started(state, errors)
            self._watch.running = True
            return IntegrationStart(sent_s, written_s, confirmed_s)

    def stop(self) -> IntegrationState:
        """End the integration and return the state that it ended in.

        STOP and TIMEUP are both an end. RESET means that somebody reset the meter, ERROR that its
        power failed. A meter that does not run is left alone.
        """
        with self._lock:
            state = self._state()
            for _ in range(_MOST_STOPS):
                if state is not IntegrationState.START:
                    break
                self._link.tell(":INTEGrate:STOP")
                state = self._await_state(
                    set(IntegrationState) - {IntegrationState.START}, STOP_PATIENCE_S
                )
                # The timer may end between our look and our STOP, which is then refused.
                for error in self._link.errors():
                    _log.info("STOP in state %s gave %s %s", state.value, error.code, error.text)
            if state is IntegrationState.START:
                raise MeterRefused(
                    f"the meter still integrates after {_MOST_STOPS} commands to stop; press STOP "
                    "at its panel"
                )
            self._watch.note_end(state)
            return state

    def reset(self) -> None:
        """Reset an integrator that does not run; its energy and time go back to zero."""
        with self._lock:
            state = self._state()
            if state is IntegrationState.START:
                raise MeterBusy(
                    "an integration runs on this meter; wait for its end, or stop it if it is yours"
                )
            if state is not IntegrationState.RESET:
                self._link.errors()
                self._link.tell(":INTEGrate:RESet")
                state = self._await_state({IntegrationState.RESET})
                if state is not IntegrationState.RESET:
                    raise MeterRefused(
                        f"the integrator stays in state {state.value} "
                        f"({_queue_text(self._link.errors())}); press RESET at the meter's panel"
                    )
            self._watch.running = False

    def attach(self) -> IntegrationState:
        """Open the link again, leave the integration as it is, and return its state.

        Writes communication settings only. Raises `MeterRefused` when the meter's output items are
        not ours: only `prepare` and `arrange` may change them.
        """
        with self._lock:
            self._link.reopen()
            state = self._state()
            self._items = ()
            self._items = output.read_items(self._link)
            # A run that ended meanwhile still gets its check of ranges and latched bits.
            self._watch.running = state is not IntegrationState.RESET
            return state

    def arrange(self) -> None:
        """Set the output items of a reading and end holds; `MeterBusy` during an integration."""
        with self._lock:
            if self._state() is IntegrationState.START:
                raise MeterBusy(
                    "an integration runs; the meter's output items can be set when it has ended"
                )
            self._link.errors()
            for hold in (":HOLD", ":NUMeric:HOLD"):
                self._link.command(f"{hold} OFF")
            self._items = output.write_items(self._link)

    def settings(self) -> MeterSettings:
        """Return the settings that the meter has now."""
        with self._lock:
            return setup.read_back(self._link)

    def restore(self, settings: MeterSettings) -> None:
        """Reset the integrator and write settings back, without waiting for data."""
        with self._lock:
            self.reset()
            setup.write(self._link, settings)
            setup.compare(settings, setup.read_back(self._link))

    @property
    def model(self) -> Model:
        """Return the data of the model that answers."""
        with self._lock:
            return self._link.model

    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        with self._lock:
            return self._state()

    def pending_errors(self) -> list[DeviceError]:
        """Return the errors that were in the queue when the link was opened, and those since."""
        with self._lock:
            since = self._link.errors()
            return [*self._link.inherited, *since]

    def read_peaks(self) -> tuple[float, float]:
        """Return the largest voltage and current peak of the last update, without sign.

        Uses output items beyond those of a reading, which stay as they are. Never call it while an
        integration runs. A missing peak counts as 0.
        """
        with self._lock:
            if not self._peaks_arranged:
                output.write_peak_items(self._link)
                self._peaks_arranged = True
            return output.read_peaks(self._link)

    def read(self) -> Reading:
        """Return one sample, all of it from one query.

        The first reading after the end of a run also reads the ranges and the latched over-range
        bits. Every later reading carries them.
        """
        with self._lock:
            if not self._items:
                self._items = output.read_items(self._link)
            raw = self._link.ask_raw(output.READ_QUERY)
            monotonic_s, utc = self._clock(), self._utc()
            try:
                sample = output.take_apart(raw, self._items)
            except MeterReplyError:
                self._link.distrust()
                raise
            self._watch.note_sample(sample)
            return self._reading(sample, monotonic_s, utc)

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the monotonic time of the meter's next update, and how far it may be off.

        It polls the event register. The result is good to a hundredth of the interval, at best to
        2 ms, and worse on a busy machine. Raises `MeterReplyError` when it sees no update within
        two intervals and a second.
        """
        with self._lock:
            self._watch.take_events()
            pause_s = max(0.002, update_interval_s / 100)
            before_s = self._clock()
            deadline_s = before_s + 2 * update_interval_s + 1.0
            while before_s < deadline_s:
                self._sleep(pause_s)
                asked_s = self._clock()
                seen = self._watch.take_events() & 1
                answered_s = self._clock()
                if seen:
                    return (before_s + answered_s) / 2, (answered_s - before_s) / 2
                before_s = asked_s
            raise MeterReplyError("the meter shows no updates; its display may be on hold")

    def local(self) -> None:
        """Give the front panel back to people."""
        with self._lock:
            self._link.tell(":COMMunicate:REMote OFF")

    def close(self) -> None:
        """Release the link; never raises. The meter goes on with what it does."""
        with self._lock:
            self._link.close()

    def _reading(self, sample: output.Sample, monotonic_s: float, utc: datetime) -> Reading:
        names = [item for item in sample.values if item in _VALUE_NAMES]
        numbers, reasons = split_values(
            [_VALUE_NAMES[name] for name in names], [sample.values[name] for name in names]
        )
        voltage_range, current_range = (
            _range_of(sample.values.get(item), end)
            for item, end in zip(("URANGE", "IRANGE"), self._watch.end_ranges, strict=True)
        )
        return Reading(
            monotonic_s=monotonic_s,
            utc=utc,
            state=sample.state,
            absent=reasons,
            flags=self._watch.flags,
            voltage_range_v=voltage_range,
            current_range_a=current_range,
            **numbers,
        )

    def _state(self) -> IntegrationState:
        return IntegrationState(parse_word(self._link.ask(":INTEGrate:STATe?"), output.STATES))

    def _await_state(
        self, wanted: set[IntegrationState], patience_s: float = STATE_DEADLINE_S
    ) -> IntegrationState:
        """Poll for a bounded time until a wanted state is there, and return the last state.

        A question without a proper answer is asked again while there is time.
        """
        deadline_s = self._clock() + patience_s
        while True:
            try:
                state = self._state()
            except (MeterSilent, MeterReplyError):
                self._link.distrust()
                if self._clock() >= deadline_s:
                    raise
            else:
                if state in wanted or self._clock() >= deadline_s:
                    return state
            self._sleep(_POLL_S)

    def _wait_for_data(self, update_interval_s: float) -> None:
        """Wait for two updates in a row with numbers in range; raise after ten updates."""
        self._watch.forget()
        good = 0
        for _ in range(10):
            self._sleep(update_interval_s)
            self._watch.flags = frozenset()
            reading = self.read()
            missing = set(reading.absent) & {"voltage_v", "current_a", "power_w"}
            good = 0 if missing or reading.flags else good + 1
            if good == 2:
                return
        over = ", ".join(sorted(flag.value.replace("_", " ") for flag in reading.flags))
        without = ", ".join(f"{name}: {reading.absent[name]}" for name in sorted(missing))
        raise MeterRefused(
            f"the meter is not ready to measure ({over or without}); check wiring and ranges"
        )


def _range_of(value: float | Absent | None, end: float | None) -> float | None:
    return value if isinstance(value, (int, float)) else end


def _queue_text(errors: list[DeviceError]) -> str:
    if not errors:
        return "its error queue is empty"
    return ", ".join(f'error {error.code} "{error.text}"' for error in errors)


def _not_started(state: IntegrationState, errors: list[DeviceError]) -> MeterRefused:
    first = errors[0] if errors else None
    return MeterRefused(
        f"the integration did not start: state {state.value}, {_queue_text(errors)}; "
        "prepare the meter again",
        code=first.code if first else 0,
        text=first.text if first else "",
    )
