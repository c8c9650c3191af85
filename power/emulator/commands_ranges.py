# SPDX-License-Identifier: Apache-2.0
"""The ratios of scaling, the valid ranges, and the external sensor (pages 6-12 to 6-14)."""

from __future__ import annotations

from power.emulator import formats
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import one
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument
from power.emulator.kept import flag, kept
from power.emulator.settings import RATIOS, peak_jump_header, valid_ranges_header

_LEAST_RATIO, _MOST_RATIO = 0.001, 9999.0
_ELEMENTS = (1, 2, 3)


def _ratio(text: str) -> float:
    return min(max(formats.number(text), _LEAST_RATIO), _MOST_RATIO)


def _ratio_text(value: float) -> str:
    """Return a ratio with four digits, as `1.000` and `10.00` (page 6-14)."""
    return f"{value:.{max(0, 4 - len(str(int(value))))}f}"


def _ratios(header: str, kind: str) -> tuple[Command, Command, Command]:
    """Return the commands of one ratio: of all elements, and of each."""

    def write_all(meter: Instrument, numbers: Numbers, data: Data) -> None:
        value = _ratio(one(data))
        meter.settings.ratios.update({(kind, element): value for element in _ELEMENTS})

    def ask_all(meter: Instrument, numbers: Numbers, data: Data) -> str:
        return _ratio_text(meter.settings.ratio(kind, meter.model.elements[0]))

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        meter.settings.ratios[kind, _element(meter, numbers)] = _ratio(one(data))

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        return _ratio_text(meter.settings.ratio(kind, _element(meter, numbers)))

    return (
        command(f"{header}[:ALL]", write=write_all),
        command(f"{header}:ALL", ask=ask_all),
        command(
            f"{header}:ELEMent<x>",
            write=write,
            ask=ask,
            listed=lambda meter: [(element,) for element in meter.model.elements],
        ),
    )


def _element(meter: Instrument, numbers: Numbers) -> int:
    if numbers[0] not in meter.model.elements:
        raise CommandRefused(114)
    return numbers[0]


def _legal(meter: Instrument, quantity: str) -> tuple[float, ...]:
    return meter.model.ranges(quantity, meter.settings.crest_factor)


def _unit(quantity: str) -> str:
    return "A" if quantity == "CURRent" else "V"


def _valid(header: str, quantity: str) -> Command:
    """Return the setting of the ranges that auto-range may take: ALL, or a list (page 6-12)."""

    def read(meter: Instrument, data: Data) -> str:
        if not data:
            raise CommandRefused(109)
        if data[0].upper() == "ALL":
            return "ALL"
        legal = _legal(meter, quantity)
        chosen = {meter.nearest(formats.number(text, _unit(quantity)), legal) for text in data}
        return ",".join(formats.engineering(value, 4) for value in sorted(chosen, reverse=True))

    return kept(header, "ALL", read)


def _jump(header: str, quantity: str) -> Command:
    """Return the setting of the range to take when a peak is over range (page 6-13)."""

    def read(meter: Instrument, data: Data) -> str:
        text = one(data)
        if text.upper() == "OFF":
            return "OFF"
        value = meter.nearest(formats.number(text, _unit(quantity)), _legal(meter, quantity))
        return formats.engineering(value, 4)

    return kept(header, "OFF", read)


COMMANDS: tuple[Command, ...] = (
    kept("[:INPut]:RCONfig", "0", flag),
    _valid(valid_ranges_header("VOLTage"), "VOLTage"),
    _jump(peak_jump_header("VOLTage"), "VOLTage"),
    _valid(valid_ranges_header("CURRent"), "CURRent"),
    _jump(peak_jump_header("CURRent"), "CURRent"),
    _valid(valid_ranges_header("SENSor"), "SENSor"),
    _jump(peak_jump_header("SENSor"), "SENSor"),
    *_ratios("[:INPut]:CURRent:SRATio", "SRATio"),
    *(made for kind in RATIOS for made in _ratios(f"[:INPut]:SCALing:{kind}", kind)),
)
