# SPDX-License-Identifier: Apache-2.0
"""The commands of the older WT210 and WT230, which the meter takes in command mode WT200.

Chapter 8 (pages 8-1 to 8-6) lists them, each with the command that does the same in the other
modes. It refers to the manual of the WT210 for their data. What is taken from programs that people
use with a WT210 or WT230 is marked below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from power.emulator import (
    commands_display,
    commands_input,
    commands_ranges,
    commands_rate,
    formats,
    numeric_values,
)
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import one
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument

# The order of the values is that of the preset patterns, which programs rely on: V, A, W, and W,
# WH, AH, TIME. Where the others stand is not established.
FUNCTIONS = {
    **{"V": "U", "A": "I", "W": "P", "VA": "S", "VAR": "Q", "PF": "LAMBDA", "DEGRee": "PHI"},
    **{"VHZ": "FU", "AHZ": "FI", "WH": "WH", "WHP": "WHP", "WHM": "WHM"},
    **{"AH": "AH", "AHP": "AHP", "AHM": "AHM", "VPK": "UPPEAK", "APK": "IPPEAK"},
}
"""The measured functions, and their names in the other command modes."""

_ALONE = ("TIME", "MATH")
_PRESETS = {"NORMal": ("V", "A", "W"), "INTEGrate": ("W", "WH", "AH", "TIME"), "CLEar": ()}
_SIGMA = "SIGMA"
# Programs for the WT210 read these where the other modes write NAN and INF.
_NO_DATA, _OVER_RANGE = "9.91E+37", "9.9E+37"

_SAME = {
    "[:CONFigure]:AVERaging[:STATe]": ":MEASure:AVERaging[:STATe]",
    "[:CONFigure]:CFACtor": "[:INPut]:CFACtor",
    "[:CONFigure]:CURRent:AUTO": "[:INPut]:CURRent:AUTO",
    "[:CONFigure]:CURRent:ESCaling[:ALL]": "[:INPut]:CURRent:SRATio[:ALL]",
    "[:CONFigure]:CURRent:ESCaling:ELEMent<x>": "[:INPut]:CURRent:SRATio:ELEMent<x>",
    "[:CONFigure]:CURRent:RANGe": "[:INPut]:CURRent:RANGe",
    "[:CONFigure]:FILTer": "[:INPut]:FILTer:FREQuency",
    "[:CONFigure]:LFILter": "[:INPut]:FILTer:LINE",
    "[:CONFigure]:MHOLd[:STATe]": ":MEASure:MHOLd",
    "[:CONFigure]:MODE": "[:INPut]:MODE",
    "[:CONFigure]:SCALing:PT[:ALL]": "[:INPut]:SCALing:VT[:ALL]",
    "[:CONFigure]:SCALing:CT[:ALL]": "[:INPut]:SCALing:CT[:ALL]",
    "[:CONFigure]:SCALing:SFACtor[:ALL]": "[:INPut]:SCALing:SFACtor[:ALL]",
    "[:CONFigure]:SCALing:PT:ELEMent<x>": "[:INPut]:SCALing:VT:ELEMent<x>",
    "[:CONFigure]:SCALing:CT:ELEMent<x>": "[:INPut]:SCALing:CT:ELEMent<x>",
    "[:CONFigure]:SCALing:SFACtor:ELEMent<x>": "[:INPut]:SCALing:SFACtor:ELEMent<x>",
    "[:CONFigure]:SCALing[:STATe]": "[:INPut]:SCALing[:STATe]",
    "[:CONFigure]:SYNChronize": "[:INPut]:SYNChronize",
    "[:CONFigure]:VOLTage:AUTO": "[:INPut]:VOLTage:AUTO",
    "[:CONFigure]:VOLTage:RANGe": "[:INPut]:VOLTage:RANGe",
    "[:CONFigure]:WIRing": "[:INPut]:WIRing",
    ":HARMonics[:STATe]": ":HARMonics:DISPlay[:STATe]",
    ":HARMonics:SYNChronize": ":HARMonics:PLLSource",
}
"""The commands that do what one command of the other modes does (pages 8-2 to 8-4)."""

# What both have (pages 8-1 to 8-6), and the command of the mode: without it nothing but the panel
# would lead out of WT200. Whether the meter takes that one there is not established.
_IN_BOTH = tuple(
    ":AOUTput[:NORMal]:CHANnel<x> :AOUTput[:NORMal]:IRTime :AOUTput[:NORMal]:PRESet "
    ":HARMonics:DISPlay:ORDer :HARMonics:THD :RECall:PANel :INTEGrate:MODE "
    ":INTEGrate:RESet :INTEGrate:STARt :INTEGrate:STOP :INTEGrate:TIMer :SAMPle:HOLD "
    ":SAMPle:RATE :SYSTem:COMMunicate:COMMand :STORe:INTerval :STORe:PANel :STORe[:STATe]".split()
)
_ONLY_NEW = (":STATus:QENable",)


def in_both(text: str) -> bool:
    """Tell whether a command of the other modes is one of the WT210 and WT230, too."""
    whole_group = text.startswith((":COMMunicate:", ":STATus:")) and text not in _ONLY_NEW
    return whole_group or text in _IN_BOTH


def _same() -> Iterator[Command]:
    """Yield the commands of `_SAME`, each with the action and the answer of its counterpart."""
    known = {
        command.pattern.text: command
        for module in (commands_input, commands_ranges, commands_rate, commands_display)
        for command in module.COMMANDS
    }
    for text, counterpart in _SAME.items():
        other = known[counterpart]
        yield command(
            text, write=other.write, ask=other.ask, headed=other.headed, listed=other.listed
        )


def _write_averaging(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Set type and count together, as `LINear,8`; programs for the WT210 send them so."""
    if len(data) != 2:
        raise CommandRefused(109 if len(data) < 2 else 108)
    kind = formats.word(data[0], ("LINear", "EXPonent"))
    count = int(meter.nearest(formats.number(data[1]), (8.0, 16.0, 32.0, 64.0)))
    meter.settings.averaging_type, meter.settings.averaging_count = kind, count


def _ask_averaging(meter: Instrument, numbers: Numbers, data: Data) -> str:
    settings = meter.settings
    kind = commands_input.enumeration(meter, settings.averaging_type)
    return f"{kind},{settings.averaging_count}"


def _elements(meter: Instrument) -> list[str]:
    """Return the elements of the meter and, where there are several, their sum."""
    elements = [str(element) for element in meter.model.elements]
    return [*elements, _SIGMA] if len(elements) > 1 else elements


def _switch(meter: Instrument, items: list[str], on: bool) -> None:
    now = meter.settings.wt200_items
    meter.settings.wt200_items = now | set(items) if on else now - set(items)


def _items(name: str) -> Iterator[Command]:
    """Yield the switches of one function: of all elements, of one, and of the sum (page 8-5)."""
    head = f":MEASure[:NORMal]:ITEM:{name}"

    def of(meter: Instrument, element: str) -> str:
        if element not in _elements(meter):
            raise CommandRefused(114)
        return f"{name},{element}"

    def write_all(meter: Instrument, numbers: Numbers, data: Data) -> None:
        items = [f"{name},{element}" for element in _elements(meter)]
        _switch(meter, items, formats.boolean(one(data)))

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        item = of(meter, str(numbers[0]) if numbers else _SIGMA)
        _switch(meter, [item], formats.boolean(one(data)))

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        item = of(meter, str(numbers[0]) if numbers else _SIGMA)
        return str(int(item in meter.settings.wt200_items))

    yield command(f"{head}[:ALL]", write=write_all)
    yield command(
        f"{head}:ELEMent<x>",
        write=write,
        ask=ask,
        listed=lambda meter: [(element,) for element in meter.model.elements],
    )
    yield command(
        f"{head}:SIGMa",
        write=write,
        ask=ask,
        listed=lambda meter: [()] if _SIGMA in _elements(meter) else [],
    )


def _alone(name: str) -> Command:
    """Return the switch of a value that no element has."""

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        _switch(meter, [name], formats.boolean(one(data)))

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        return str(int(name in meter.settings.wt200_items))

    return command(f":MEASure[:NORMal]:ITEM:{name}", write=write, ask=ask)


def _write_preset(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Switch a pattern on and all else off."""
    chosen = _PRESETS[formats.word(one(data), tuple(_PRESETS))]
    meter.settings.wt200_items = frozenset()
    for name in chosen:
        alone = name in _ALONE
        _switch(
            meter, [name] if alone else [f"{name},{element}" for element in _elements(meter)], True
        )


def _outputs(meter: Instrument) -> list[str]:
    """Return what is switched on, in the order of the output, as items of the other modes."""
    on = meter.settings.wt200_items
    measured = [
        f"{function},{element}"
        for name, function in FUNCTIONS.items()
        for element in _elements(meter)
        if f"{name},{element}" in on
    ]
    return [*measured, *(name for name in _ALONE if name in on)]


def _numbers(meter: Instrument) -> list[tuple[str, float]]:
    """Return each output with its value; the time is three: hours, minutes and seconds."""
    values = numeric_values.shown_values(meter)
    numbers: list[tuple[str, float]] = []
    for item in _outputs(meter):
        value = numeric_values.item_value(meter, item, values)
        if item == "TIME":
            minutes, seconds = divmod(int(value), 60)
            hours, minutes = divmod(minutes, 60)
            numbers += [("TIME", float(part)) for part in (hours, minutes, seconds)]
        else:
            numbers.append((item, value))
    return numbers


def _ask_values(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return ",".join(_text(item, value) for item, value in _numbers(meter))


def _text(item: str, value: float) -> str:
    if math.isfinite(value):
        return numeric_values.item_text(item, value)
    return _NO_DATA if math.isnan(value) else _OVER_RANGE


def _ask_block(meter: Instrument, numbers: Numbers, data: Data) -> bytes:
    return formats.floats([value for _, value in _numbers(meter)])


COMMANDS: tuple[Command, ...] = (
    *_same(),
    command("[:CONFigure]:AVERaging:TYPE", write=_write_averaging, ask=_ask_averaging),
    command(":MEASure[:NORMal]:ITEM:PRESet", write=_write_preset),
    *(made for name in FUNCTIONS for made in _items(name)),
    *(_alone(name) for name in _ALONE),
    command(":MEASure[:NORMal]:VALue", ask=_ask_values, headed=False),
    command(":MEASure[:NORMal]:BINary", ask=_ask_block, headed=False),
)
