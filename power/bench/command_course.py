# SPDX-License-Identifier: Apache-2.0
"""The course of a measured command: idle time, the command, and idle time again."""

from __future__ import annotations

from typing import Protocol

from power.energy.above_idle import Span, settling_s
from power.meter import MeterSettings, Reading


class Launched(Protocol):
    """A command, which somebody starts when it is asked for.

    `begun_s` and `ended_s` are moments on the clock of the readings, None until they are known.
    `failed` is true if it could not be started.
    """

    begun_s: float | None
    ended_s: float | None
    failed: bool

    def launch(self) -> None:
        """Ask for the start; the second call does nothing."""
        ...


class CommandCourse:
    """The course that readings lead through: each one may ask for the start, or be the last.

    While the meter gives no values the course waits, so that there are `idle_s` seconds of readings
    on both sides of the command.
    """

    def __init__(self, command: Launched, idle_s: float) -> None:
        self._command = command
        self._idle_s = idle_s
        self._settling_s = 0.0
        self._idle_since_s: float | None = None
        self._idle_again_s: float | None = None
        self._over = False

    def begin(self, settings: MeterSettings) -> None:
        """Note the settings of the integration that has begun."""
        self._settling_s = settling_s(settings)

    def see(self, reading: Reading) -> None:
        """Go on by a reading."""
        if reading.power_w is None or reading.energy_wh is None:
            return
        at_s = reading.monotonic_s
        if self._idle_since_s is None:
            self._idle_since_s = at_s
        if at_s >= self._idle_since_s + self._idle_s:
            self._command.launch()
        ended_s = self._command.ended_s
        if ended_s is None:
            return
        if self._idle_again_s is None and at_s >= ended_s + self._settling_s:
            self._idle_again_s = at_s
        if self._idle_again_s is not None and at_s >= self._idle_again_s + self._idle_s:
            self._over = True

    def over(self) -> bool:
        """Tell whether nothing is left to measure."""
        return self._over or self._command.failed

    @property
    def span(self) -> Span | None:
        """Return when the command ran, None if it did not run to its end."""
        begun_s, ended_s = self._command.begun_s, self._command.ended_s
        return None if begun_s is None or ended_s is None else Span(begun_s, ended_s)
