# SPDX-License-Identifier: Apache-2.0
"""The integrator: its states, its timer, and the energy that it has counted (page 6-16)."""

from __future__ import annotations

from power.emulator.errors import CommandRefused

STATE_WORDS = {
    "RESET": "RESet",
    "START": "STARt",
    "STOP": "STOP",
    "TIMEUP": "TIMeup",
    "ERROR": "ERRor",
}


class EmulatedIntegrator:
    """The counter of energy between START and STOP; times are seconds of the emulator's clock.

    Users of real meters found these error codes: 842 for START while started, 844 for STOP while
    not started, 845 for RESET while started. The codes 841 (START after TIMEUP or ERROR) and 847
    (continuous mode without a timer) are guesses.
    """

    def __init__(self) -> None:
        self.state = "RESET"
        self.positive_j = 0.0
        self.negative_j = 0.0
        self.positive_c = 0.0
        self.negative_c = 0.0
        self.started_s = 0.0
        self._before_s = 0.0
        self.ended_s = 0.0

    @property
    def running(self) -> bool:
        """Tell whether energy is being counted."""
        return self.state == "START"

    def start(self, now: float, *, continuous: bool, timer_s: int) -> None:
        """Begin to count; after STOP go on and add to the energy so far."""
        if self.running:
            raise CommandRefused(842)
        if self.state in ("TIMEUP", "ERROR"):
            raise CommandRefused(841)
        if continuous and timer_s == 0:
            raise CommandRefused(847)
        self._before_s = self.elapsed_s(now)
        self.started_s = now
        self.state = "START"

    def stop(self, now: float) -> None:
        """End at a command or a key."""
        if not self.running:
            raise CommandRefused(844)
        self.end(now, "STOP")

    def end(self, now: float, state: str) -> None:
        """Leave START for `STOP`, `TIMEUP` or `ERROR`."""
        self.ended_s = now
        self.state = state

    def reset(self) -> None:
        """Go back to zero energy and time."""
        if self.running:
            raise CommandRefused(845)
        self.__init__()  # type: ignore[misc]

    def restart(self, now: float) -> None:
        """Begin again from zero, as continuous mode does whenever the timer expires."""
        self.__init__()  # type: ignore[misc]
        self.started_s = now
        self.state = "START"

    def elapsed_s(self, now: float) -> float:
        """Return the time counted so far."""
        if self.state == "RESET":
            return 0.0
        return self._before_s + (now if self.running else self.ended_s) - self.started_s

    def expires_s(self, timer_s: int) -> float:
        """Return when the timer will end a running integration."""
        return self.started_s + timer_s - self._before_s

    def add(
        self, positive_j: float, negative_j: float, positive_c: float, negative_c: float
    ) -> None:
        """Count energy and charge of both directions."""
        self.positive_j += positive_j
        self.negative_j += negative_j
        self.positive_c += positive_c
        self.negative_c += negative_c

    @property
    def energy_wh(self) -> float:
        """Return the energy in watt-hours, positive and negative power added up."""
        return (self.positive_j + self.negative_j) / 3600
