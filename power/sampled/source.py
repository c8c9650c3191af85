# SPDX-License-Identifier: Apache-2.0
"""What a driver gives whose device only measures power: samples, and who measured them how."""

from __future__ import annotations

import math
import reprlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from power.clock import real_elapsed_s
from power.errors import MeterReplyError
from power.meter import Identity, Sampling
from power.transports.transport import Clock, UtcClock, WireLog, utc_now


@dataclass(frozen=True)
class Sample:
    """A power in W at `at_s`, in seconds of the integrator's clock.

    With a `span_s` the power is the mean over that many seconds before `at_s`; otherwise it is that
    of the moment. `counter_wh` is the device's own energy counter, which only grows. `over_range`
    says that the device could not measure all of it. `lost` is how many samples between the one
    before and this one are missing by the device's own count; nobody has seen the power of that
    time. `fault` is what the device says is wrong with it, though it measures. Raises
    `MeterReplyError` for what is no number, so neither NaN nor infinity ever becomes a sample.
    """

    at_s: float
    power_w: float
    voltage_v: float | None = None
    current_a: float | None = None
    span_s: float = 0.0
    counter_wh: float | None = None
    over_range: bool = False
    lost: int = 0
    fault: str = ""

    def __post_init__(self) -> None:
        for name in ("at_s", "power_w", "voltage_v", "current_a", "span_s", "counter_wh"):
            value = getattr(self, name)
            if value is not None:
                finite(value, name)


def finite(value: object, name: str) -> float:
    """Return a number that a device sent under a name; raise `MeterReplyError` for anything else.

    NaN, infinity, truth values and texts are no numbers, nor is one with more digits than a float
    can hold.
    """
    number = math.nan
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        raise MeterReplyError(f"the device sent {name} = {reprlib.repr(value)}, which is no number")
    return number


class Source(Protocol):
    """An open device that measures power; only one thread uses it.

    `poll_s` is the time between two calls of `read`, 0 if `read` itself waits for data. Where the
    device has an energy counter, `counter_lag_s` says by how much it may lag behind the power, and
    `counter_step_wh` in which steps it grows, such as 1 for whole watt-hours. Two more attributes
    may be left out: `counter_wraps_wh` is the width of a counter that begins anew when it is full,
    and `counter_lasts` is False for one that begins at zero whenever the driver opens the device.

    `sampling` says what is possible: the rated power, and what voltage times current can confirm.

    `power.testing.source_contract` has tests that every source should pass.
    """

    poll_s: float
    counter_lag_s: float
    counter_step_wh: float

    @property
    def identity(self) -> Identity:
        """Return who measures."""
        ...

    @property
    def sampling(self) -> Sampling:
        """Return how it measures, and how well, since it was opened."""
        ...

    def read(self) -> Sequence[Sample]:
        """Return the samples since the last call, in order of time; raise `MeterError`.

        It ends within two seconds. An empty answer means that there is nothing new yet. After a
        `MeterReplyError` or `MeterBusy` the device stays open, and a sample counts as lost; after
        three in a row, or any other error, it is opened again. `MeterRestarted` means at once.
        """
        ...

    def close(self) -> None:
        """Release the device; never raises."""
        ...


@dataclass(frozen=True)
class Tools:
    """What a driver gets from outside: clocks, a sleep, the wire log, the wait for one reply."""

    clock: Clock = real_elapsed_s
    sleep: Callable[[float], None] = time.sleep
    utc: UtcClock = utc_now
    wire_log: WireLog | None = None
    timeout_s: float = 2.0

    def note(self, event: str, content: str | bytes) -> None:
        """Write a line into the wire log, if there is one."""
        if self.wire_log is not None:
            self.wire_log.note(event, content)

    def note_stream(self, event: str, content: bytes) -> None:
        """Write bytes of a stream into the wire log, which keeps the first of them."""
        if self.wire_log is not None:
            self.wire_log.note_stream(event, content)


class DeviceTime:
    """The host's time of what a device has counted on its own clock.

    A message is never early. So the shortest way that any message has taken tells the two clocks
    apart best.
    """

    def __init__(self) -> None:
        self._offset_s: float | None = None

    def host_s(self, device_s: float, arrived_s: float) -> float:
        """Return when a device's second was, given when the news of it arrived."""
        offset_s = arrived_s - device_s
        if self._offset_s is None or offset_s < self._offset_s:
            self._offset_s = offset_s
        return device_s + self._offset_s
