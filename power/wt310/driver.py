# SPDX-License-Identifier: Apache-2.0
"""The WT310 driver: prepare, start, read, stop, attach; each call ends within a bounded time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from power.clock import real_elapsed_s
from power.errors import MeterBusy, MeterError, MeterRefused, MeterReplyError
from power.meter import (
    NOTHING_HELD,
    Identity,
    IntegrationStart,
    IntegrationState,
    IntegrationStop,
    Leave,
    MeterSettings,
    Reading,
)
from power.scpi import DeviceError, parse_flag
from power.transports.transport import Clock, Transport, UtcClock, utc_now
from power.wt310 import output, snapshot
from power.wt310 import settings as setup
from power.wt310.integrator import Integrator
from power.wt310.link import ScpiLink
from power.wt310.models import MeterModel, require_settable
from power.wt310.samples import not_ready, reading_of

_log = logging.getLogger(__name__)


class WT310:
    """The driver of one meter of the WT300 and WT300E series; it implements `power.meter.Meter`.

    The first call opens the link. After a lost link the next call tries once to open it again, and
    resets nothing. So a caller simply calls `attach` or `read` again after a while. Several threads
    may use a driver: a lock lets one call through at a time. `element` is the expected element of a
    WT332 or WT333, or `SIGMA`, until `prepare` chooses another; None takes what the meter sends.
    """

    def __init__(
        self,
        open_transport: Callable[[], Transport],
        *,
        clock: Clock = real_elapsed_s,
        sleep: Callable[[float], None] = time.sleep,
        utc: UtcClock = utc_now,
        timeout_s: float = 2.0,
        element: str | None = None,
    ) -> None:
        self._link = ScpiLink(open_transport, timeout_s=timeout_s, clock=clock)
        self._integrator = Integrator(self._link, clock, sleep)
        self._clock = clock
        self._sleep = sleep
        self._utc = utc
        self._lock = threading.RLock()
        self._watch = output.RunWatch(self._link)
        self._items: tuple[str, ...] = ()
        self._element = element
        self._shown = element or "1"
        self._quantities: tuple[str, ...] = ()
        self._hasty = False

    def identify(self) -> Identity:
        """Return the meter's identity, opening the link; raise `MeterMismatch` for other models."""
        with self._lock:
            self._link.reopen()
            return self._link.identity

    def prepare(self, settings: MeterSettings, leave: Leave = NOTHING_HELD) -> MeterSettings:
        """Reset the integrator, write all settings, and return them as read back.

        It returns after two updates in a row with finite voltage, current and power, because the
        first updates after a change have no data. On auto-range one in ten updates is enough.
        Raises as `reset` does.
        """
        with self._lock:
            require_settable(settings, self._link.model)
            self.reset(leave)
            self._link.errors()
            setup.write(self._link, settings)
            self._element = self._shown = settings.element
            self._quantities = settings.quantities
            self._items = output.write_items(self._link, self._shown, settings.quantities)
            self._watch.arrange_events()
            prepared = replace(
                setup.read_back(self._link, self._shown),
                quantities=settings.quantities,
                both_ways=settings.both_ways,
            )
            setup.compare(settings, prepared)
            setup.check_leftovers(self._link)
            self._watch.prepared = prepared
            self._wait_for_data(settings)
            return prepared

    def start(self) -> IntegrationStart:
        """Start the integration and return only after the meter reports that it runs.

        Raises `MeterBusy` if one runs already. Raises `MeterRefused` with the meter's own error
        code if it does not start within 5 s.
        """
        with self._lock:
            self._integrator.require_reset()
            self._link.errors()
            self._watch.forget()
            start = self._integrator.start()
            self._watch.note_start()
            return start

    def stop(self) -> IntegrationState:
        """End the integration and return its last state.

        STOP and TIMEUP are a good end. RESET means that somebody reset the meter. ERROR means that
        its power failed. If no integration runs, this changes nothing.
        """
        with self._lock:
            state = self._integrator.stop()
            self._watch.note_end(state)
            return state

    @property
    def last_stop(self) -> IntegrationStop | None:
        """Return when this driver's STOP ended the integration that it started, if it did."""
        return self._integrator.last_stop

    def reset(self, leave: Leave = NOTHING_HELD) -> None:
        """Set energy and time to zero; raise `MeterBusy` while an integration runs.

        Raises `MeterHolds` if the integrator holds a result and nobody has asked the rule.
        """
        with self._lock:
            self._integrator.reset(leave)
            self._watch.running = False

    def attach(self) -> IntegrationState:
        """Open the link again, leave the integration as it is, and return its state.

        It writes communication settings only. Raises `MeterRefused` if the meter's output items are
        not those of a reading; only `prepare` and `arrange` may change them.
        """
        with self._lock:
            self._link.reopen()
            state = self._integrator.state()
            self._items = ()
            self._items = self._sent_items()
            # If the run ended while the link was lost, check its ranges and latched bits now.
            self._watch.running = state is not IntegrationState.RESET
            self._watch.take_up()
            return state

    def arrange(self) -> None:
        """Set the output items of a reading, end holds; raise `MeterBusy` during an integration."""
        with self._lock:
            if self._integrator.state() is IntegrationState.START:
                raise MeterBusy(
                    "an integration runs; the meter's output items can be set when it has ended"
                )
            self._link.errors()
            for hold in setup.HOLDS:
                self._link.command(f"{hold} OFF")
            self._shown = self._element or self._shown
            self._items = output.write_items(self._link, self._shown, self._quantities)

    def charge_ah(self) -> float | None:
        """Return the charge of a result, in Ah; None if the meter shows none, or integrates."""
        with self._lock:
            if self._integrator.state() is IntegrationState.START:
                return None
            return output.read_charge(self._link, self._shown)

    def held(self) -> bool:
        """Tell whether the display or the output is on hold, so that values show the past."""
        with self._lock:
            return any(parse_flag(self._link.ask(f"{hold}?")) for hold in setup.HOLDS)

    def measure_element(self, element: str) -> None:
        """Expect the values of an element, or of `SIGMA`, from now on."""
        with self._lock:
            self._element, self._items = element, ()

    def settings(self) -> MeterSettings:
        """Return the settings that the meter has now."""
        with self._lock:
            if self._element is None and not self._items and self._link.model.elements > 1:
                with suppress(MeterRefused):
                    self._items = self._sent_items()
            return setup.read_back(self._link, self._shown)

    def restore(self, settings: MeterSettings, leave: Leave = NOTHING_HELD) -> None:
        """Reset the integrator and write settings back, without waiting for data."""
        with self._lock:
            self.reset(leave)
            setup.write(self._link, settings)
            setup.compare(settings, setup.read_back(self._link, settings.element))

    @property
    def model(self) -> MeterModel:
        """Return the ranges and elements of the model that answers."""
        with self._lock:
            return self._link.model

    @property
    def conversation(self) -> ScpiLink:
        """Return the conversation itself, for questions that the driver never asks.

        It has no lock, so only one thread may use it, and no other method at the same time. What
        the driver knows of the settings may be wrong afterwards: prepare the meter again.
        """
        return self._link

    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        with self._lock:
            return self._integrator.state()

    def pending_errors(self) -> list[DeviceError]:
        """Return the errors found in the queue when the link was opened, and all later ones."""
        with self._lock:
            since = self._link.errors()
            return [*self._link.inherited, *since]

    def read(self) -> Reading:
        """Return one sample; all its values come from one query.

        The first call after the end of a run also asks for the ranges and the latched over-range
        bits. This reading and all later ones carry them.
        """
        with self._lock:
            if not self._items:
                self._items = self._sent_items()
            raw = self._link.ask_raw(output.READ_QUERY)
            monotonic_s, utc = self._clock(), self._utc()
            try:
                sample = output.take_apart(raw, self._items)
            except MeterReplyError:
                self._link.distrust()
                raise
            self._watch.note_sample(sample)
            ends = self._watch.end_ranges
            return reading_of(sample, monotonic_s, utc, self._watch.flags, ends)

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Return the monotonic time of the meter's next update, and the largest error of that time.

        It polls the event register, whose bit for updates it switches on. The error is about a
        hundredth of the interval, at best 2 ms, and larger on a busy machine. Raises
        `MeterReplyError` if there is no update within two intervals and a second.
        """
        with self._lock:
            self._watch.show_updates()
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
                if self._hasty:
                    raise MeterReplyError("there is no time to wait for the next update")
            raise MeterReplyError("the meter shows no updates; its display may be on hold")

    def hasten(self, timeout_s: float, end_s: float) -> None:
        """Wait shorter for replies and STOP, for no update, and for nothing after `end_s`.

        `end_s` is a moment of the driver's clock; a later call may name a later one.
        """
        # No lock: this must also reach a call that waits at this moment.
        self._link.hasten(timeout_s, end_s)
        self._integrator.hasten(timeout_s)
        self._hasty = True

    def local(self) -> None:
        """Unlock the front panel."""
        with self._lock:
            snapshot.unlock(self._link)

    @property
    def touched(self) -> bool:
        """Tell whether this driver has ever opened a link, so the panel may be locked."""
        return self._link.touched

    def remember(self) -> None:
        """Note how the meter talks when the first link is opened, so `give_back` can restore it."""
        self._link.remember(snapshot.COMMUNICATION)

    def take_snapshot(self) -> snapshot.Snapshot:
        """Return every setting that this driver may change."""
        with self._lock:
            return snapshot.take(self._link)

    def put_back(self, found: snapshot.Snapshot, leave: Leave = NOTHING_HELD) -> list[str]:
        """Reset the integrator, put settings back, and return what reads back differently.

        Raises as `reset` does.
        """
        with self._lock:
            self.reset(leave)
            self._link.errors()
            self._items = ()
            return snapshot.put_back(self._link, found)

    def give_back(self, on_answer: Callable[[], object] = lambda: None) -> str:
        """Unlock the front panel, and let the meter talk as before `remember`.

        Returns "", or why that may not have worked. It never raises, and never opens a link that
        nobody has opened. `on_answer` is called when the meter has answered a first question.
        """
        with self._lock:
            if not self._link.touched:
                return ""
            if not self._link.standing:
                return "the meter does not answer"
            try:
                wrong = snapshot.give_back(self._link, on_answer)
            except MeterError as error:
                return str(error)
            return f"the meter kept {', '.join(wrong)}" if wrong else ""

    def close(self) -> None:
        """Release the link; never raises. A running integration goes on."""
        with self._lock:
            self._link.close()

    def _sent_items(self) -> tuple[str, ...]:
        """Return the items that the meter sends; refuse those of another element than expected."""
        if self._element is None:
            self._shown, names = output.read_any_items(self._link)
            return names
        self._shown = self._element
        return output.read_items(self._link, self._element)

    def _wait_for_data(self, settings: MeterSettings) -> None:
        """Wait for two updates in a row with numbers in range; raise after ten updates.

        Auto-range never settles on a load that pulses. That is a finding about the run, and no
        reason to refuse it. So one update with numbers is enough there, or ranges that switch.
        """
        self._watch.forget()
        automatic = None in (settings.voltage_range_v, settings.current_range_a)
        good = most = 0
        why, ranges = "", set()
        for _ in range(10):
            self._sleep(settings.update_interval_s)
            self._watch.flags = frozenset()
            reading = self.read()
            bad = not_ready(reading)
            ranges.add((reading.voltage_range_v, reading.current_range_a))
            good = 0 if bad else good + 1
            most, why = max(most, good), bad or why
            if good == 2:
                return
        if automatic and (most or len(ranges) > 1):
            return
        remedy = (
            "check the wiring, or choose fixed ranges" if automatic else "check wiring and ranges"
        )
        raise MeterRefused(f"the meter is not ready to measure ({why}); {remedy}")
