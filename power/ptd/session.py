# SPDX-License-Identifier: Apache-2.0
"""A meter behind the protocol: requests in, answers out, and a sample at each instant.

Nothing here waits or starts a thread. `due_s` says when `step` wants to be called. So a test plays
hours in fake time, and `power.ptd.loop` plays them in real time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from power.energy.conditions import UNKNOWN, AmbientConditions
from power.energy.uncertainty import Measuring
from power.errors import MeterBusy, MeterError
from power.follow import Follower, Schedule, attach
from power.meter import Identity, Meter, MeterSettings, Reading
from power.ptd import answers, protocol, samples
from power.ptd.device import DeviceType
from power.ptd.events import Events
from power.ptd.measurement import PtdMeasurement
from power.ptd.protocol import Request, RequestRefused

# What clients recognise of a measurement that is not there.
_NOTHING_TO_STOP = "Error: no measurement to stop"


@dataclass(frozen=True)
class Workplace:
    """What a session knows beside its meter.

    `voltage_ranges_v` and `current_ranges_a` are the meter's fixed ranges, empty for a meter that
    has none. `set_up` writes settings and returns them as read back; it need not wait until the
    meter has values. `begin` and `finish` are called around a measurement. `measured` are the
    quantities of `samples.QUANTITIES` that the meter has. `system` names program and operating
    system in the answer to `Identify`.
    """

    device: DeviceType
    voltage_ranges_v: Sequence[float]
    current_ranges_a: Sequence[float]
    set_up: Callable[[MeterSettings], MeterSettings]
    system: str
    conditions: AmbientConditions = UNKNOWN
    measured: Collection[str] = tuple(samples.QUANTITIES)
    begin: Callable[[], object] = lambda: None
    finish: Callable[[], object] = lambda: None


class PtdSession:
    """One meter and the measurement of its clients; all clients share both.

    Not safe for several threads.
    """

    def __init__(
        self,
        meter: Meter,
        identity: Identity,
        settings: MeterSettings,
        place: Workplace,
        events: Events,
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._meter = meter
        self._identity = identity
        self._settings = settings
        self._place = place
        self._events = events
        self._clock = clock
        self._now = now
        self._measurement: PtdMeasurement | None = None
        self._follower: Follower | None = None
        # The number of the last instant that has a sample, counted from the start.
        self._last = 0

    @property
    def due_s(self) -> float:
        """Return when the next sample is due, infinite without a running measurement."""
        return math.inf if self._follower is None else self._follower.due_s

    @property
    def patience_s(self) -> float:
        """Return how long an answer may wait: past the next sample, but not to the one after."""
        if self._follower is None or self._measurement is None:
            return 0.0
        return 1.5 * self._measurement.interval_s

    def answer(self, line: str, *, last: bool = False) -> list[str] | None:
        """Return the lines that answer a request; None means: ask again after the next sample.

        With `last` there is no next time. It never raises for what a client or a meter does.
        """
        try:
            request = protocol.parse(line, direct_current=self._place.device.direct_current)
            if isinstance(request, protocol.ReadLast):
                return self._read_last(request.count, last)
            return [self._carry_out(request)]
        except RequestRefused as refused:
            return [str(refused)]
        except MeterBusy as busy:
            return [f"Meter busy: {busy}"]
        except MeterError as error:
            self._events.fail(str(error))
            return [f"Error: {error}"]

    def step(self) -> None:
        """Take the sample that is due; a lost meter costs samples, and is opened again."""
        if self._follower is None or self._measurement is None:
            return
        due_s, was_attached = self._follower.due_s, self._follower.attached
        try:
            reading = self._follower.step()
        except MeterError as error:
            if was_attached:
                self._events.fail(f"the meter gives no samples: {error}")
            return
        if reading is None:
            self._events.notice("The meter answers again")
            return
        number = self._number_of(due_s)
        self._miss(number - self._last - 1, self._measurement)
        self._last = number
        self._take(reading, self._measurement)
        if self._measurement.full:
            self._end(self._measurement)

    def close(self) -> None:
        """End a measurement that runs."""
        if self._follower is not None and self._measurement is not None:
            self._end(self._measurement)

    def _carry_out(self, request: Request) -> str:
        match request:
            case protocol.Hello():
                return answers.GREETING
            case protocol.Identify():
                return self._identify()
            case protocol.ReadRanges():
                return self._ranges()
            case protocol.SetRange(quantity, size):
                return self._set_range(quantity, size)
            case protocol.Start():
                return self._start(request)
            case protocol.Stop():
                return self._stop()
            case protocol.Reset():
                self.close()
                self._measurement = None
                return "Reset done"
            case protocol.SetMark(mark):
                return self._set_mark(mark)
            case protocol.ReadNow():
                newest = None if self._measurement is None else self._measurement.newest
                return "No data" if newest is None else samples.values_text(newest)
            case protocol.Total(quantity):
                return samples.total_line(quantity, self._samples())
            case protocol.Uncertainty():
                return samples.uncertainty_line(self._samples())
        raise RequestRefused("Unknown command")

    def _identify(self) -> str:
        place = self._place
        return answers.identify_line(
            place.device.name,
            self._identity,
            self._settings.update_interval_s,
            measured=place.measured,
            sets_ranges=bool(place.current_ranges_a),
            system=place.system,
            calibrated=place.conditions.calibrated,
        )

    def _ranges(self) -> str:
        if not self._place.current_ranges_a:
            return answers.NO_RANGES
        fixed = (self._settings.current_range_a, self._settings.voltage_range_v)
        return answers.ranges_line(self._settings, self._meter.read() if None in fixed else None)

    def _set_range(self, quantity: str, size: float | None) -> str:
        if self._follower is not None:
            raise MeterBusy("a measurement runs; send Stop before you set a range")
        volts = quantity == "V"
        legal = self._place.voltage_ranges_v if volts else self._place.current_ranges_a
        if not legal:
            # Clients give up without this answer, and there is nothing that they could do.
            self._events.warn(f"The meter has no ranges; SR,{quantity} changes nothing")
            return f"Range {quantity} changed"
        chosen = None if size is None else answers.range_for(size, legal, quantity)
        wanted = (
            replace(self._settings, voltage_range_v=chosen)
            if volts
            else replace(self._settings, current_range_a=chosen)
        )
        self._settings = self._place.set_up(wanted)
        word = "Volt" if volts else "Amp"
        written = "Auto" if chosen is None else f"{chosen:.6f}{quantity}"
        self._events.notice(f"{word} range set to {written}")
        return f"Range {quantity} changed"

    def _start(self, request: protocol.Start) -> str:
        if self._follower is not None:
            raise RequestRefused("Error: a measurement runs already; send Stop first")
        update_ms = round(1000 * self._settings.update_interval_s)
        interval_ms = request.interval_ms or update_ms
        if interval_ms < update_ms:
            raise RequestRefused(
                f"Error in parameter 1: the meter has a new value each {update_ms} ms, and not "
                f"each {interval_ms} ms"
            )
        self._meter.read()  # a meter that does not answer refuses the start
        self._place.begin()
        begun_s = self._clock()
        schedule = Schedule(begun_s, interval_ms / 1000)
        self._follower = Follower(self._take_up, schedule, clock=self._clock, meter=self._meter)
        self._follower.keep_to(schedule)
        self._measurement = PtdMeasurement(request, schedule.interval_s)
        self._last = 0
        self._events.notice(f"Go with mark {request.mark!r}")
        return self._measurement.describe()

    def _stop(self) -> str:
        measurement = self._measurement
        if self._follower is None or measurement is None:
            return _NOTHING_TO_STOP
        self._end(measurement)
        return f"Stopping {measurement.kind} measurement"

    def _set_mark(self, mark: str) -> str:
        if self._follower is None or self._measurement is None:
            return "Error: no measurement to mark"
        self._measurement.mark = mark
        self._events.notice(f"Mark {mark!r}")
        return "Mark changed"

    def _read_last(self, count: int | None, last: bool) -> list[str] | None:
        taken = [] if self._measurement is None else self._measurement.take(count)
        if taken:
            return [f"Last {len(taken)} samples", *map(samples.answer_line, taken)]
        if count is None:
            return ["No unread samples"]
        return ["Insufficient unread samples"] if last or self._follower is None else None

    def _samples(self) -> Sequence[samples.PtdSample]:
        return () if self._measurement is None else self._measurement.samples

    def _take_up(self) -> Meter:
        attach(self._meter)
        return self._meter

    def _take(self, reading: Reading, measurement: PtdMeasurement) -> None:
        """Add the sample of a reading, and tell what is wrong with it."""
        measuring = Measuring(self._identity, self._settings, self._place.conditions)
        at = samples.stamp(reading.utc)
        sample = samples.sample_of(reading, measuring, at, measurement.mark)
        for fault in samples.faults_of(reading, self._identity.model, self._place.measured):
            self._events.fail(fault)
        # `compliance/check.py` of power-dev knows these two sentences.
        if sample.share is None:
            self._events.fail("Can't evaluate uncertainty of this sample!")
        elif sample.share > samples.BOUND:
            self._events.warn(
                f"Uncertainty {100 * sample.share:.2f}%, which is above "
                f"{100 * samples.BOUND:.2f}% limit for the last sample!"
            )
        self._add(sample, measurement)

    def _miss(self, count: int, measurement: PtdMeasurement) -> None:
        """Add a sample without values for each instant at which nobody read the meter."""
        count = min(count, measurement.most - len(measurement.samples))
        if count <= 0:
            return
        self._events.warn(f"Missed {count} samples")
        for _ in range(count):
            self._add(samples.missed(samples.stamp(self._now()), measurement.mark), measurement)

    def _add(self, sample: samples.PtdSample, measurement: PtdMeasurement) -> None:
        measurement.add(sample)
        self._events.sample(sample)

    def _end(self, measurement: PtdMeasurement) -> None:
        if self._follower is not None and not self._follower.attached:
            self._miss(self._number_of(self._clock()) - self._last, measurement)
        self._follower = None
        try:
            self._place.finish()
        except MeterError as error:
            self._events.fail(str(error))
        self._events.notice("Completed test")

    def _number_of(self, instant_s: float) -> int:
        """Return how many whole intervals have passed since the start."""
        if self._follower is None:
            return 0
        schedule = self._follower.schedule
        return math.floor((instant_s - schedule.origin_s) / schedule.interval_s + 1e-6)
