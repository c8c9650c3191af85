# SPDX-License-Identifier: Apache-2.0
"""The value of each output item, and its text (pages 6-24 and 6-25)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from power.emulator import formats, harmonics
from power.emulator.formats import NO_DATA, OVER_RANGE
from power.emulator.instrument import Instrument
from power.emulator.measurement import Values

NO_ELEMENT = ("TIME", "MATH", "URANge", "IRANge", "FPLL")
ENERGY = ("WH", "WHP", "WHM", "AH", "AHP", "AHM")

NORMAL_ITEM = ":DISPlay[:NORMal]:ITEM<x>"
"""The header of what the displays show."""

# The order of `UPPeak` and `U` does not matter: a typed word must have at least the short form.
FUNCTIONS = (
    *"U I P S Q LAMBda PHI FU FI UPPeak UMPeak IPPeak IMPeak PPPeak PMPeak TIME".split(),
    *ENERGY,
    *"MATH URANge IRANge URMS UMN UDC URMN UAC IRMS IMN IDC IRMN IAC".split(),
    *harmonics.FUNCTIONS,
)

# WT200 output has these numbers instead of words.
_NUMERALS = {"NAN": "9.91E+37", "INF": "9.90E+37"}

_SIMPLE: dict[str, Callable[[Values], float]] = {
    "U": lambda values: values.volts,
    "I": lambda values: values.amperes,
    "P": lambda values: values.watts,
    "S": lambda values: values.volts * values.amperes,
    "Q": lambda values: _reactive(values),
    "LAMBda": lambda values: _ratio(values.watts, values.volts * values.amperes),
    "PHI": lambda values: _angle(values),
    "FU": lambda values: values.frequency,
    "FI": lambda values: values.frequency,
    "UPPeak": lambda values: values.voltage_peak,
    "UMPeak": lambda values: values.voltage_trough,
    "IPPeak": lambda values: values.current_peak,
    "IMPeak": lambda values: values.current_trough,
    "PPPeak": lambda values: values.power_peak,
    "PMPeak": lambda values: values.power_trough,
    "WH": lambda values: values.energy_wh,
    "WHP": lambda values: values.positive_wh,
    "WHM": lambda values: values.negative_wh,
    "AH": lambda values: values.charge_ah,
    "AHP": lambda values: values.positive_ah,
    "AHM": lambda values: values.negative_ah,
    "TIME": lambda values: values.time_s,
}


def function_of(item: str) -> str:
    """Return an item's function as the manual writes it; `NONE` and unknown ones give ''."""
    name = item.partition(",")[0]
    return next((word for word in FUNCTIONS if word.upper() == name), "")


def shown_values(meter: Instrument) -> Values:
    """Return the values that output has now: those of the update, or the held ones."""
    return meter.held_values or meter.measurement.values


def item_value(meter: Instrument, item: str, values: Values) -> float:
    """Return the value of an output item as the display shows it, or NaN if there is none."""
    function = function_of(item)
    if function == "URANge":
        return meter.settings.range_of("VOLTage")
    if function == "IRANge":
        return meter.settings.range_of(meter.settings.input_of_current)
    masked = meter.measurement.overlay.masked(function, meter.measurement.updates)
    if masked is not None:
        return masked
    if function in NO_ELEMENT or _exists(meter, item):
        return _existing(meter, function, item, values)
    return formats.NO_DATA


def _existing(meter: Instrument, function: str, item: str, values: Values) -> float:
    load = meter.measurement.inputs.load
    if function in _SIMPLE:
        return _SIMPLE[function](values) * _share(meter, function, item)
    if function == "MATH":
        return _computed(meter.settings.math, values, lambda name: _displayed(meter, name, values))
    if function in harmonics.FUNCTIONS:
        amounts = {name: _existing(meter, name, item, values) for name in ("U", "I", "P")}
        return analysis(meter, amounts).value(function, item.split(",")[2:])
    if function in ("URMS", "IRMS") and math.isfinite(values.watts):
        return load.volts if function == "URMS" else abs(load.current_a(values.watts))
    if function in ("UDC", "IDC") and math.isfinite(values.watts):
        direct = load.frequency_hz == 0
        amount = load.volts if function == "UDC" else load.current_a(values.watts)
        return amount if direct else 0.0
    return formats.NO_DATA


def analysis(meter: Instrument, amounts: Mapping[str, float]) -> harmonics.Analysis:
    """Return the harmonic analysis that the settings choose, of shown U, I and P."""
    kept = meter.settings.kept
    most = int(kept.get((":HARMonics:ORDer", 1), "1,50").split(",")[1])
    of_total = kept.get((":HARMonics:THD", 1), "TOTal") == "TOTal"
    return harmonics.Analysis(meter.measurement.inputs.load, amounts, most, of_total)


def _displayed(meter: Instrument, display: int, values: Values) -> float:
    """Return what display A (1) or B (2) shows, the operands of MATH."""
    item = meter.settings.kept.get((NORMAL_ITEM, display), ("U,1", "I,1")[display - 1]).upper()
    return formats.NO_DATA if item == "MATH" else item_value(meter, item, values)


def _exists(meter: Instrument, item: str) -> bool:
    """Tell whether the meter has an item's element; a sum needs several."""
    element = item.split(",")[1] if "," in item else "1"
    if element.isdigit():
        return int(element) in meter.model.elements
    return len(meter.model.elements) > 1


# What divides among the elements; voltage, ratios, frequency and time are the same in all.
_DIVIDED = (*"I P S Q IPPeak IMPeak PPPeak PMPeak".split(), *ENERGY)


def _share(meter: Instrument, function: str, item: str) -> float:
    """Return an element's part of a value; a sum has the mean current (IM WT310E-01EN, 1-8)."""
    if function not in _DIVIDED or len(meter.model.elements) == 1:
        return 1.0
    elements, shares = meter.model.elements, meter.measurement.inputs.load.shares
    of = dict(zip(elements, shares, strict=False))
    element = item.split(",")[1] if "," in item else "1"
    if element.isdigit():
        return of.get(int(element), 0.0)
    return 1 / len(elements) if function in ("I", "IPPeak", "IMPeak") else 1.0


def item_text(item: str, value: float) -> str:
    """Return a value as in ASCII output: TIME in whole seconds, energy with 6 digits."""
    name = item.split(",")[0]
    if name == "TIME" and math.isfinite(value):
        return str(int(value))
    return formats.engineering(value, 6 if name in ENERGY else 5)


def values_text(meter: Instrument, items: Sequence[str], values: Values) -> str | bytes:
    """Return the output of items, as text or as a block of single floats."""
    numbers = [item_value(meter, item, values) for item in items]
    if meter.settings.float_format:
        return formats.floats(numbers)
    texts = [item_text(item, value) for item, value in zip(items, numbers, strict=True)]
    if meter.measurement.overlay.numerals:
        texts = [_NUMERALS.get(text, text) for text in texts]
    for index, item in enumerate(items):
        if item in ("URANGE", "IRANGE"):
            texts[index] = meter.measurement.overlay.hyphenated(texts[index])
    return ",".join(texts)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else formats.OVER_RANGE


def _reactive(values: Values) -> float:
    apparent = values.volts * values.amperes
    if not math.isfinite(apparent) or not math.isfinite(values.watts):
        return values.watts
    return math.sqrt(max(0.0, apparent**2 - values.watts**2))


def _angle(values: Values) -> float:
    ratio = _ratio(values.watts, values.volts * values.amperes)
    if not math.isfinite(ratio):
        return formats.OVER_RANGE if math.isinf(ratio) else ratio
    return math.degrees(math.acos(min(1.0, max(-1.0, ratio))))


def _computed(equation: str, values: Values, displayed: Callable[[int], float]) -> float:
    """Return the value of an equation of MATH (page 6-17), written as in `:MATH?`, such as `CFU1`.

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
