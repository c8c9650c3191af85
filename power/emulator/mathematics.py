# SPDX-License-Identifier: Apache-2.0
"""The equations of MATH (page 6-17)."""

from __future__ import annotations

import math
from collections.abc import Callable

from power.emulator.formats import NO_DATA, OVER_RANGE
from power.emulator.measurement import Values


def compute(equation: str, values: Values, displayed: Callable[[int], float]) -> float:
    """Return the value of an equation, written as in `:MATH?`, for example `CFU1` or `AVW1`.

    `displayed` returns what display A (1) or B (2) shows. Efficiency needs two circuits, and the
    emulator has one load: there is no data.
    """
    if equation.startswith("CFU"):
        return _quotient(values.voltage_peak, values.volts)
    if equation.startswith("CFI"):
        return _quotient(values.current_peak, values.amperes)
    if equation.startswith("AVW"):
        return _quotient(3600 * values.energy_wh, values.time_s) if values.time_s else NO_DATA
    if equation == "EFFiciency":
        return NO_DATA
    a, b = displayed(1), displayed(2)
    operations = {
        "ADD": lambda: a + b,
        "SUB": lambda: a - b,
        "MUL": lambda: a * b,
        "DIV": lambda: _quotient(a, b),
        "DIVA": lambda: _quotient(a, b * b),
        "DIVB": lambda: _quotient(a * a, b),
    }
    return operations[equation]()


def _quotient(part: float, whole: float) -> float:
    if math.isnan(part) or math.isnan(whole):
        return NO_DATA
    return part / whole if whole else OVER_RANGE
