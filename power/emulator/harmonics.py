# SPDX-License-Identifier: Apache-2.0
"""Harmonics of the emulated load (option /G5, pages 6-10 and 6-21 to 6-28).

The waveforms of the load are given by their harmonics (`power.emulator.waveform`). Their amounts
are fitted to what the display shows, so ranges, scaling and elements are in the harmonics too. The
meter measures no component of direct current (page 6-21), so a load of direct current has no data.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from power.emulator.formats import NO_DATA
from power.emulator.load import Load
from power.emulator.waveform import MOST_ORDER, spectrum

FUNCTIONS = tuple("UK IK PK LAMBDAK PHIK PHIUk PHIIk UHDFk IHDFk PHDFk UTHD ITHD FPLL".split())
LIST_FUNCTIONS = ("U", "I", "P", "PHIU", "PHII", "UHDF", "IHDF", "PHDF")

# An order below this part of the whole has no phase.
_LEAST = 1e-6


@dataclass(frozen=True)
class Analysis:
    """The analysis of a load: up to which order, and what the distortions refer to.

    `amounts` holds U, I and P as the display shows them. `of_total` chooses the total instead of
    the fundamental as what distortion factors refer to (HARMonics:THD, page 6-10).
    """

    load: Load
    amounts: Mapping[str, float]
    most_order: int = MOST_ORDER
    of_total: bool = False

    def value(self, function: str, orders: Sequence[str]) -> float:
        """Return a harmonic function; `orders` is the text of the order, if there is one."""
        frequency_hz = self.load.frequency_hz
        if frequency_hz == 0:
            return NO_DATA
        if function == "FPLL":
            return frequency_hz
        if function in ("UTHD", "ITHD"):
            return self._distortion(function[0])
        number = order(orders[0] if orders else "")
        if function in ("LAMBDAK", "PHIK"):
            # Page 6-24 gives them for the fundamental alone.
            return self._of_fundamental(function) if number == 1 else NO_DATA
        return self.component(function[:-1], number)

    def component(self, function: str, number: int | None) -> float:
        """Return one order of a function of `LIST_FUNCTIONS`; `number` is as `order` returns it."""
        if number is None or self.load.frequency_hz == 0 or number > self.most_order:
            return NO_DATA
        if function in ("U", "I", "P"):
            return self._amount(function, number)
        if function in ("PHIU", "PHII"):
            return self._phase(self._parts(function[-1]), number) if number >= 2 else NO_DATA
        if number == 0:
            return NO_DATA
        name = function[0]
        reference = self._amount(name, 0 if self.of_total else 1)
        return 100.0 * self._amount(name, number) / reference if reference else NO_DATA

    def _parts(self, name: str) -> tuple[complex, ...]:
        load = self.load
        return spectrum(load.voltage_waveform if name == "U" else load.shape_of_current)

    def _amount(self, name: str, number: int) -> float:
        """Return an order of U, I or P, and the total of all orders for 0."""
        voltages, currents = self._parts("U"), self._parts("I")
        orders = range(1, self.most_order + 1) if number == 0 else (number,)
        if name == "P":
            watts = math.fsum((voltages[k] * currents[k].conjugate()).real for k in orders)
            return self.amounts["P"] * watts / self.load.power_factor
        parts = voltages if name == "U" else currents
        return self.amounts[name] * math.sqrt(math.fsum(abs(parts[k]) ** 2 for k in orders))

    def _distortion(self, name: str) -> float:
        """Return the total harmonic distortion of U or I, in percent (page 6-10)."""
        parts = self._parts(name)
        rest = math.sqrt(math.fsum(abs(part) ** 2 for part in parts[2 : self.most_order + 1]))
        whole = math.hypot(abs(parts[1]), rest) if self.of_total else abs(parts[1])
        return 100.0 * rest / whole

    @staticmethod
    def _phase(parts: Sequence[complex], number: int) -> float:
        """Return the phase of an order to the fundamental, in degrees from -180 to 180."""
        if abs(parts[number]) < _LEAST:
            return NO_DATA
        angle = cmath.phase(parts[number]) - number * cmath.phase(parts[1])
        return math.degrees(cmath.phase(cmath.exp(1j * angle)))

    def _of_fundamental(self, function: str) -> float:
        """Return power factor or phase difference of the fundamental; a current behind is > 0."""
        ratio = self._parts("U")[1] / self._parts("I")[1]
        finish: Callable[[float], float] = math.cos if function == "LAMBDAK" else math.degrees
        return finish(cmath.phase(ratio))


def order(text: str) -> int | None:
    """Return a harmonic order: 0 for the total, None for the component of direct current."""
    if text.upper() in ("TOTAL", "TOT", ""):
        return 0
    return None if text.upper() == "DC" else int(text)


def orders_of(select: str, most: int) -> list[int | None]:
    """Return the orders of a list: the total, direct current, then those up to `most` (6-21)."""
    first, step = {"ALL": (1, 1), "ODD": (1, 2), "EVEN": (2, 2)}[select]
    return [0, None, *range(first, most + 1, step)]
