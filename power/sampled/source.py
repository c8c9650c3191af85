# SPDX-License-Identifier: Apache-2.0
"""What a driver of a meter without an integrator gives: samples of power, and who measured them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from power.clock import real_elapsed_s
from power.meter import Identity, Sampling
from power.resource import Resource
from power.transports.transport import Clock, UtcClock, WireLog, utc_now


@dataclass(frozen=True)
class Sample:
    """A power in W at `at_s`, in seconds of the integrator's clock.

    With a `span_s` the power is the mean over that many seconds before `at_s`; otherwise it is that
    of the moment. `counter_wh` is the device's own energy counter, which only grows. `over_range`
    says that the device could not measure all of it.
    """

    at_s: float
    power_w: float
    voltage_v: float | None = None
    current_a: float | None = None
    span_s: float = 0.0
    counter_wh: float | None = None
    over_range: bool = False


class Source(Protocol):
    """An open device that measures power; only one thread uses it.

    `poll_s` is the time between two calls of `read`, 0 if `read` itself waits for data.
    `counter_lag_s` says by how much the device's energy counter may lag behind its power.
    """

    poll_s: float
    counter_lag_s: float

    @property
    def identity(self) -> Identity:
        """Return who measures."""
        ...

    @property
    def sampling(self) -> Sampling:
        """Return how it measures, and how well."""
        ...

    def read(self) -> Sequence[Sample]:
        """Return the samples since the last call, in order of time; raise `MeterError`.

        It ends within two seconds. An empty answer means that there is nothing new yet.
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

    def note(self, event: str, content: str) -> None:
        """Write a line into the wire log, if there is one."""
        if self.wire_log is not None:
            self.wire_log.note(event, content)


def as_stated(sampling: Sampling, resource: Resource) -> Sampling:
    """Return how a device samples, with the accuracy of the option `accuracy`, in %, if given."""
    if "accuracy" not in resource.options:
        return sampling
    percent = resource.number("accuracy", None, least=0.0, most=100.0)
    return replace(
        sampling, of_reading=percent / 100, source="the option accuracy of the resource string"
    )


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
