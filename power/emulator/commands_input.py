# SPDX-License-Identifier: Apache-2.0
"""The INPut and HOLD commands (pages 6-11 to 6-15)."""

from __future__ import annotations

from power.emulator import formats
from power.emulator.command_tree import Ask, Command, Data, Numbers, Write, command
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument
from power.emulator.ranging import OVR1, POA1, POV1

MODES = ("RMS", "VMEan", "DC")


def one(data: Data) -> str:
    """Return the only parameter; refuse none or several."""
    if not data:
        raise CommandRefused(109)
    if len(data) > 1:
        raise CommandRefused(108)
    return data[0]


def enumeration(meter: Instrument, word: str) -> str:
    """Return character data, long or short as VERBose demands; `word` is written `VMEan`."""
    if meter.communication.verbose:
        return word.upper()
    return "".join(character for character in word if not character.islower())


def pair(pattern: str, functions: tuple[Write, Ask]) -> Command:
    """Return a setting from the functions that write and ask it."""
    return command(pattern, write=functions[0], ask=functions[1])


def flag(name: str, *, reset_only: bool = False) -> tuple[Write, Ask]:
    """Return the functions that write and ask a boolean setting."""

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        value = formats.boolean(one(data))
        if reset_only:
            meter.require_reset()
        setattr(meter.settings, name, value)

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        return str(int(getattr(meter.settings, name)))

    return write, ask


def choice(name: str, words: tuple[str, ...], *, reset_only: bool = False) -> tuple[Write, Ask]:
    """Return the functions that write and ask a setting whose values are words."""

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        value = formats.word(one(data), words)
        if reset_only:
            meter.require_reset()
        setattr(meter.settings, name, value)

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        return enumeration(meter, str(getattr(meter.settings, name)))

    return write, ask


def _write_crest_factor(meter: Instrument, numbers: Numbers, data: Data) -> None:
    text = one(data).upper()
    legal = ("3", "6", "A6") if meter.model.e_series else ("3", "6")
    if text not in legal:
        text = "6" if formats.number(text) > 4.5 else "3"
    meter.require_reset()
    settings = meter.settings
    halves = {"3": 1.0, "6": 0.5, "A6": 0.5}
    ratio = halves[text] / halves[settings.crest_factor]
    settings.crest_factor = text
    settings.voltage_range_v *= ratio
    settings.current_range_a *= ratio
    if settings.sensor_range_v is not None:
        settings.sensor_range_v *= ratio
    meter.measurement.blank()


def _range(quantity: str, unit: str, decimals: int) -> tuple[Write, Ask]:
    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        _set_range(meter, quantity, formats.number(one(data), unit))

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        text = formats.fixed(meter.settings.range_of(quantity), decimals)
        return meter.measurement.overlay.hyphenated(text)

    return write, ask


def _set_range(meter: Instrument, quantity: str, wanted: float) -> None:
    _require_not_running(meter)
    legal = meter.model.ranges(quantity, meter.settings.crest_factor)
    chosen = meter.nearest(wanted, legal)
    if meter.faults.take("clamp") is not None:
        chosen = min((value for value in legal if value > chosen), default=legal[-2])
    meter.measurement.set_range(quantity, chosen)
    meter.measurement.blank()


def _current_range() -> tuple[Write, Ask]:
    """Return the range of the current, or `EXTernal` and that of the sensor's input (6-13)."""
    write_direct, ask_direct = _range("CURRent", "A", 3)

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        if not data or not data[0][:1].isalpha():
            write_direct(meter, numbers, data)
            return
        formats.word(data[0], ("EXTernal",))
        _set_range(meter, "SENSor", formats.number(one(data[1:]), "V"))

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str | bytes:
        volts = meter.settings.sensor_range_v
        if volts is None:
            return ask_direct(meter, numbers, data)
        size = formats.fixed(volts, 2 if volts >= 1 else 1)
        return f"{enumeration(meter, 'EXTernal')},{size}"

    return write, ask


def _auto(quantity: str) -> tuple[Write, Ask]:
    name = "voltage_auto" if quantity == "VOLTage" else "current_auto"

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        value = formats.boolean(one(data))
        _require_not_running(meter)
        setattr(meter.settings, name, value)

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        return str(int(getattr(meter.settings, name)))

    return write, ask


def _require_not_running(meter: Instrument) -> None:
    # Nobody knows what this series does here, so an option decides.
    if meter.measurement.integrator.running and not meter.options.ranges_while_running:
        raise CommandRefused(813)


def _ask_peak_over(meter: Instrument, numbers: Numbers, data: Data) -> str:
    condition = meter.measurement.condition
    return str((condition >> POV1 & 1) | (condition >> POA1 & 1) << 1)


def _ask_check_range(meter: Instrument, numbers: Numbers, data: Data) -> str:
    """Return the CHECK RANGE lamps VL VH VO VP AL AH AO AP (page 6-15)."""
    settings, load = meter.settings, meter.measurement.inputs.load
    condition = meter.measurement.condition
    amperes = meter.measurement.values.amperes
    bits = 0
    for shift, rms, size, peak_bit in (
        (0, load.volts, settings.voltage_range_v, POV1),
        (4, abs(amperes), settings.current_range_a, POA1),
    ):
        bits |= (rms <= 0.3 * size) << shift
        bits |= (rms > 1.3 * size) << shift + 1
        bits |= (condition >> OVR1 & 1 and rms > 1.4 * size) << shift + 2
        bits |= (condition >> peak_bit & 1) << shift + 3
    return str(bits)


def _write_hold(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Hold display and output of the measured values (page 6-11)."""
    meter.settings.hold = formats.boolean(one(data))
    meter.hold_values(meter.settings.hold or meter.settings.numeric_hold)


def _ask_hold(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return str(int(meter.settings.hold))


def _write_wiring(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Set the wiring of a model with several elements; the others have P1W2 (page 6-15)."""
    value = formats.word(one(data), ("P1W2", "P1W3", "P3W3", "P3W4", "V3A3"))
    meter.require_reset()
    if len(meter.model.elements) == 1 and value != "P1W2":
        raise CommandRefused(222)
    meter.settings.wiring = value


def _ask_wiring(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return meter.settings.wiring if len(meter.model.elements) > 1 else "P1W2"


COMMANDS = (
    pair("[:INPut]:MODE", choice("mode", MODES, reset_only=True)),
    command(
        "[:INPut]:CFACtor",
        write=_write_crest_factor,
        ask=lambda meter, numbers, data: meter.settings.crest_factor,
    ),
    command("[:INPut]:WIRing", write=_write_wiring, ask=_ask_wiring),
    pair("[:INPut]:FILTer:LINE", flag("line_filter", reset_only=True)),
    pair("[:INPut]:FILTer:FREQuency", flag("frequency_filter", reset_only=True)),
    pair("[:INPut]:SYNChronize", choice("synchronize", ("VOLTage", "CURRent", "OFF"))),
    pair("[:INPut]:SCALing[:STATe]", flag("scaling")),
    pair("[:INPut]:VOLTage:RANGe", _range("VOLTage", "V", 1)),
    pair("[:INPut]:VOLTage:AUTO", _auto("VOLTage")),
    pair("[:INPut]:CURRent:RANGe", _current_range()),
    pair("[:INPut]:CURRent:AUTO", _auto("CURRent")),
    command("[:INPut]:POVer", ask=_ask_peak_over, headed=False),
    command("[:INPut]:CRANge", ask=_ask_check_range, headed=False),
    command(":HOLD", write=_write_hold, ask=_ask_hold),
    command(":SAMPle:HOLD", write=_write_hold, ask=_ask_hold),
)
