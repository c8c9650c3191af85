# SPDX-License-Identifier: Apache-2.0
"""The NUMeric commands: the choice and the form of the values sent (pages 6-19 to 6-27)."""

from __future__ import annotations

import math
from collections.abc import Callable

from power.emulator import formats
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import enumeration, one
from power.emulator.errors import Refused
from power.emulator.instrument import Instrument
from power.emulator.measurement import Values

_MOST_ITEMS = 255
_NO_ELEMENT = ("TIME", "MATH", "URANge", "IRANge")
_ENERGY = ("WH", "WHP", "WHM", "AH", "AHP", "AHM")

# The order of `UPPeak` and `U` does not matter: a typed word must have at least the short form.
FUNCTIONS = (
    *("U", "I", "P", "S", "Q", "LAMBda", "PHI", "FU", "FI"),
    *("UPPeak", "UMPeak", "IPPeak", "IMPeak", "PPPeak", "PMPeak"),
    *("TIME", *_ENERGY, "MATH", "URANge", "IRANge"),
    *("URMS", "UMN", "UDC", "URMN", "UAC", "IRMS", "IMN", "IDC", "IRMN", "IAC"),
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
    "WH": lambda values: values.energy_wh,
    "WHP": lambda values: values.positive_wh,
    "WHM": lambda values: values.negative_wh,
    "AH": lambda values: values.charge_ah,
    "TIME": lambda values: values.time_s,
}


def item_value(meter: Instrument, item: str) -> float:
    """Return the value of an output item as the display shows it, or NaN if there is none."""
    name = item.split(",")[0]
    function = next((word for word in FUNCTIONS if word.upper() == name), "")
    if function in ("URANge", "IRANge"):
        return meter.settings.range_of("VOLTage" if function == "URANge" else "CURRent")
    masked = meter.measurement.overlay.masked(function, meter.measurement.updates)
    if masked is not None:
        return masked
    values = meter.held_values or meter.measurement.values
    if function in _SIMPLE:
        return _SIMPLE[function](values) * _share(meter, function, item)
    load = meter.measurement.load
    if function in ("URMS", "IRMS") and math.isfinite(values.watts):
        return load.volts if function == "URMS" else abs(load.current_a(values.watts))
    if function in ("UDC", "IDC") and math.isfinite(values.watts):
        direct = load.frequency_hz == 0
        amount = load.volts if function == "UDC" else load.current_a(values.watts)
        return amount if direct else 0.0
    return formats.NO_DATA


# What divides among the elements; voltage, ratios, frequency and time are the same in all.
_DIVIDED = ("I", "P", "S", "Q", "IPPeak", "IMPeak", "WH", "WHP", "WHM", "AH")


def _share(meter: Instrument, function: str, item: str) -> float:
    """Return an element's part of a value; a sum has the mean current (IM WT310E-01EN, 1-8)."""
    if function not in _DIVIDED or len(meter.model.elements) == 1:
        return 1.0
    elements, shares = meter.model.elements, meter.measurement.load.shares
    of = dict(zip(elements, shares, strict=False))
    element = item.partition(",")[2] or "1"
    if element.isdigit() and int(element) <= 3:
        return of.get(int(element), 0.0)
    return 1 / len(elements) if function in ("I", "IPPeak", "IMPeak") else 1.0


def item_text(item: str, value: float) -> str:
    """Return a value as in ASCII output: TIME in whole seconds, energy with 6 digits."""
    name = item.split(",")[0]
    if name == "TIME" and math.isfinite(value):
        return str(int(value))
    return formats.engineering(value, 6 if name in _ENERGY else 5)


def _write_item(meter: Instrument, numbers: Numbers, data: Data) -> None:
    number = _in_list(numbers[0])
    if not data:
        raise Refused(109)
    if data[0].upper() == "NONE":
        meter.settings.items[number] = "NONE"
        return
    function = formats.word(data[0], _known(meter))
    if function in _NO_ELEMENT:
        meter.settings.items[number] = function.upper()
        return
    element = data[1].upper() if len(data) > 1 else "1"
    if element not in ("1", "2", "3", "4", "SIGM", "SIGMA"):
        raise Refused(141)
    meter.settings.items[number] = f"{function.upper()},{element}"


def _ask_item(meter: Instrument, numbers: Numbers, data: Data) -> str:
    name, comma, element = meter.settings.item(_in_list(numbers[0])).partition(",")
    word = next((function for function in FUNCTIONS if function.upper() == name), name)
    return enumeration(meter, word) + comma + element


def _known(meter: Instrument) -> tuple[str, ...]:
    if meter.options.range_items:
        return FUNCTIONS
    return tuple(word for word in FUNCTIONS if word not in ("URANge", "IRANge"))


def _in_list(number: int) -> int:
    if not 1 <= number <= _MOST_ITEMS:
        raise Refused(114)
    return number


def _write_number(meter: Instrument, numbers: Numbers, data: Data) -> None:
    text = one(data)
    count = _MOST_ITEMS if text.upper() == "ALL" else formats.integer(text)
    meter.settings.number_of_items = min(max(count, 1), _MOST_ITEMS)


def _ask_number(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return str(meter.settings.number_of_items)


def _write_format(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.float_format = formats.word(one(data), ("ASCii", "FLOat")) == "FLOat"


def _ask_format(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return enumeration(meter, "FLOat" if meter.settings.float_format else "ASCii")


def _write_preset(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Set the default pattern; only pattern 2 of the four is imitated (page 6-26)."""
    if formats.integer(one(data)) != 2:
        raise Refused(222)
    meter.settings.items.clear()


def _write_clear(meter: Instrument, numbers: Numbers, data: Data) -> None:
    if not data or data[0].upper() == "ALL":
        meter.settings.items = {number: "NONE" for number in range(1, _MOST_ITEMS + 1)}
        return
    first = formats.integer(data[0])
    last = formats.integer(data[1]) if len(data) > 1 else first
    for number in range(_in_list(first), _in_list(last) + 1):
        meter.settings.items[number] = "NONE"


def _ask_header(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return ",".join(item.replace(",", "-E") for item in _asked_items(meter, data))


def _ask_value(meter: Instrument, numbers: Numbers, data: Data) -> str | bytes:
    """Return the values of all items, or of one; on HOLD the values when it began (6-23)."""
    items = _asked_items(meter, data)
    return _values(meter, items)


def _values(meter: Instrument, items: list[str]) -> str | bytes:
    values = [item_value(meter, item) for item in items]
    if meter.settings.float_format:
        return formats.floats(values)
    texts = [item_text(item, value) for item, value in zip(items, values, strict=True)]
    if meter.measurement.overlay.numerals:
        texts = [_NUMERALS.get(text, text) for text in texts]
    for index, item in enumerate(items):
        if item in ("URANGE", "IRANGE"):
            texts[index] = meter.measurement.overlay.hyphenated(texts[index])
    return ",".join(texts)


def _asked_items(meter: Instrument, data: Data) -> list[str]:
    if data:
        return [meter.settings.item(_in_list(formats.integer(one(data))))]
    return [meter.settings.item(k) for k in range(1, meter.settings.number_of_items + 1)]


def _write_hold(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.numeric_hold = formats.boolean(one(data))
    meter.hold_values(meter.settings.hold or meter.settings.numeric_hold)


def _ask_hold(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return str(int(meter.settings.numeric_hold))


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


COMMANDS: tuple[Command, ...] = (
    command(":NUMeric:FORMat", write=_write_format, ask=_ask_format),
    command(":NUMeric[:NORMal]:NUMber", write=_write_number, ask=_ask_number),
    command(":NUMeric[:NORMal]:ITEM<x>", write=_write_item, ask=_ask_item),
    command(":NUMeric[:NORMal]:PRESet", write=_write_preset),
    command(":NUMeric[:NORMal]:CLEar", write=_write_clear),
    command(":NUMeric[:NORMal]:HEADer", ask=_ask_header, headed=False),
    command(":NUMeric[:NORMal]:VALue", ask=_ask_value, headed=False),
    command(":NUMeric:HOLD", write=_write_hold, ask=_ask_hold),
)
