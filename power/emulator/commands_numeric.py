# SPDX-License-Identifier: Apache-2.0
"""The NUMeric commands: the choice and the form of the values sent (pages 6-19 to 6-27)."""

from __future__ import annotations

from power.emulator import formats, harmonics
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import enumeration, one
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument
from power.emulator.item_list import cleared, count_of, deleted, in_list
from power.emulator.kept import element
from power.emulator.numeric_values import (
    FUNCTIONS,
    NO_ELEMENT,
    function_of,
    shown_values,
    values_text,
)
from power.emulator.settings import PRESETS, preset
from power.emulator.waveform import MOST_ORDER

_MOST_ITEMS = 255
# Functions of a harmonic order (page 6-24); LAMBDAK and PHIK know the first one alone.
_ORDERED = harmonics.FUNCTIONS[:10]


def _write_item(meter: Instrument, numbers: Numbers, data: Data) -> None:
    number = in_list(numbers[0], _MOST_ITEMS)
    if not data:
        raise CommandRefused(109)
    if data[0].upper() == "NONE":
        meter.settings.items[number] = "NONE"
        return
    function = formats.word(data[0], _known(meter))
    if function in NO_ELEMENT:
        meter.settings.items[number] = function.upper()
        return
    parts = [function.upper(), element(data[1] if len(data) > 1 else "1").upper()]
    if function in _ORDERED:
        parts.append(_order(data[2] if len(data) > 2 else "TOTal"))
    meter.settings.items[number] = ",".join(parts)


def _order(text: str) -> str:
    """Return a harmonic order: TOTAL, DC, or 1 to 50."""
    if text[:1].isalpha():
        return formats.word(text, ("TOTal", "DC")).upper()
    return str(min(max(formats.integer(text), 1), MOST_ORDER))


def _ask_item(meter: Instrument, numbers: Numbers, data: Data) -> str:
    item = meter.settings.item(in_list(numbers[0], _MOST_ITEMS))
    name, *rest = item.split(",")
    shown = [enumeration(meter, "SIGMa") if part == "SIGMA" else part for part in rest]
    return ",".join([enumeration(meter, function_of(item) or name), *shown])


def _known(meter: Instrument) -> tuple[str, ...]:
    if meter.options.range_items:
        return FUNCTIONS
    return tuple(word for word in FUNCTIONS if word not in ("URANge", "IRANge"))


def _write_number(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.number_of_items = count_of(data, _MOST_ITEMS)


def _ask_number(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return str(meter.settings.number_of_items)


def _write_format(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.float_format = formats.word(one(data), ("ASCii", "FLOat")) == "FLOat"


def _ask_format(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return enumeration(meter, "FLOat" if meter.settings.float_format else "ASCii")


def _write_preset(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Set a default pattern (page 6-26); the manual leaves open what another number does."""
    pattern = formats.integer(one(data))
    if pattern not in PRESETS:
        raise CommandRefused(222)
    items = dict(enumerate(preset(pattern), 1))
    meter.settings.items = {k: items.get(k, "NONE") for k in range(1, _MOST_ITEMS + 1)}


def _write_clear(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.items = cleared(meter.settings.items, data, _MOST_ITEMS)


def _write_delete(meter: Instrument, numbers: Numbers, data: Data) -> None:
    before = {number: meter.settings.item(number) for number in range(1, _MOST_ITEMS + 1)}
    meter.settings.items = deleted(before, data, _MOST_ITEMS)


def _ask_header(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return ",".join(item.replace(",", "-E", 1) for item in _asked_items(meter, data))


def _ask_value(meter: Instrument, numbers: Numbers, data: Data) -> str | bytes:
    """Return the values of all items, or of one; on HOLD the values when it began (6-23)."""
    return values_text(meter, _asked_items(meter, data), shown_values(meter))


def _asked_items(meter: Instrument, data: Data) -> list[str]:
    if data:
        return [meter.settings.item(in_list(formats.integer(one(data)), _MOST_ITEMS))]
    return [meter.settings.item(k) for k in range(1, meter.settings.number_of_items + 1)]


def _write_hold(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.numeric_hold = formats.boolean(one(data))
    meter.hold_values(meter.settings.hold or meter.settings.numeric_hold)


def _ask_hold(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return str(int(meter.settings.numeric_hold))


COMMANDS: tuple[Command, ...] = (
    command(":NUMeric:FORMat", write=_write_format, ask=_ask_format),
    command(":NUMeric[:NORMal]:NUMber", write=_write_number, ask=_ask_number),
    command(
        ":NUMeric[:NORMal]:ITEM<x>",
        write=_write_item,
        ask=_ask_item,
        listed=lambda meter: [(k,) for k in range(1, meter.settings.number_of_items + 1)],
    ),
    command(":NUMeric[:NORMal]:PRESet", write=_write_preset),
    command(":NUMeric[:NORMal]:CLEar", write=_write_clear),
    command(":NUMeric[:NORMal]:DELete", write=_write_delete),
    command(":NUMeric[:NORMal]:HEADer", ask=_ask_header, headed=False),
    command(":NUMeric[:NORMal]:VALue", ask=_ask_value, headed=False),
    command(":NUMeric:HOLD", write=_write_hold, ask=_ask_hold),
)
