# SPDX-License-Identifier: Apache-2.0
"""A wire to an emulated meter in this process; its clock and its sleep are passed in."""

from __future__ import annotations

from collections.abc import Callable

from power.emulator.interpreter import Interpreter
from power.errors import MeterSilent, MeterUnreachable


class DirectTransport:
    """A transport that hands messages straight to an emulated meter's interpreter.

    If only `sleep` moves the clock, hours of measuring pass in seconds.
    """

    name = "emulated meter in this process"

    def __init__(self, interpreter: Interpreter, sleep: Callable[[float], None]) -> None:
        self._interpreter = interpreter
        self._clock = interpreter.instrument.clock
        self._sleep = sleep
        self._check_link(0.0)

    def write(self, message: str) -> None:
        """Hand one message over."""
        self._check_link(0.0)
        self._interpreter.receive(message.encode("ascii") + b"\n")

    def read(self, timeout_s: float) -> bytes:
        """Return the reply; sleep until it is ready or the time-out has passed."""
        deadline_s = self._clock() + timeout_s
        while True:
            self._check_link(timeout_s)
            reply = self._interpreter.fetch(1 << 20)
            if reply is not None:
                return reply[0]
            left_s = deadline_s - self._clock()
            if left_s <= 0:
                self._interpreter.unterminated()
                raise MeterSilent(f"{self.name} did not answer within {timeout_s:g} s")
            next_s = self._interpreter.next_event_s() - self._clock()
            # Sleep for a millisecond at least: rounding might never reach the exact time.
            self._sleep(min(left_s, max(next_s, 0.001)))

    def clear(self) -> None:
        """Do a device clear."""
        self._check_link(0.0)
        self._interpreter.clear()

    def close(self) -> None:
        """Do nothing: this wire holds nothing open."""

    def _check_link(self, timeout_s: float) -> None:
        """Raise a wire's error while the link is cut or mute."""
        self._interpreter.pump()
        faults = self._interpreter.instrument.faults
        if faults.unplugged:
            raise MeterUnreachable("the link is cut; check the cable")
        if faults.hanging:
            self._sleep(timeout_s)
            raise MeterSilent(f"{self.name} is mute")
