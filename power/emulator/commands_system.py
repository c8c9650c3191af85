# SPDX-License-Identifier: Apache-2.0
"""The INTEGrate, STATus, COMMunicate and SYSTem commands (pages 6-7, 6-16, 6-31 to 6-33)."""

from __future__ import annotations

from collections.abc import Callable

from power.emulator import formats
from power.emulator.command_tree import Ask, Command, Data, Numbers, Write, command
from power.emulator.commands_input import choice, enumeration, one, pair
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument
from power.emulator.integrator import STATE_WORDS
from power.emulator.kept import flag, kept, nearest

_FILTERS = ("RISE", "FALL", "BOTH", "NEVer")


def _write_timer(meter: Instrument, numbers: Numbers, data: Data) -> None:
    if len(data) != 3:
        raise CommandRefused(109 if len(data) < 3 else 108)
    hours, minutes, seconds = (formats.integer(text) for text in data)
    meter.require_reset()
    hours = min(max(hours, 0), 10000)
    rest = (0, 0) if hours == 10000 else (min(max(minutes, 0), 59), min(max(seconds, 0), 59))
    meter.settings.timer = (hours, *rest)


def _ask_timer(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return ",".join(str(part) for part in meter.settings.timer)


def _start(meter: Instrument, numbers: Numbers, data: Data) -> None:
    now = meter.clock()
    meter.measurement.start(now)
    meter.busy_until_s = now + meter.options.busy_window_s
    meter.started(now)


def _stop(meter: Instrument, numbers: Numbers, data: Data) -> None:
    if meter.faults.take("race") is not None and meter.measurement.integrator.running:
        meter.measurement.stop(meter.clock(), "TIMEUP")
    meter.measurement.stop(meter.clock())


def _reset(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.measurement.reset()


def _ask_state(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return enumeration(meter, STATE_WORDS[meter.measurement.integrator.state])


def _write_filter(meter: Instrument, numbers: Numbers, data: Data) -> None:
    if not 1 <= numbers[0] <= 16:
        raise CommandRefused(114)
    meter.measurement.filters[numbers[0]] = formats.word(one(data), _FILTERS)


def _ask_filter(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return enumeration(meter, meter.measurement.filters.get(numbers[0], "NEVer"))


def _shared_flag(name: str) -> tuple[Write, Ask]:
    """Return the functions that write and ask a communication flag; `*RST` does not change it."""

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        setattr(meter.communication, name, formats.boolean(one(data)))

    def ask(meter: Instrument, numbers: Numbers, data: Data) -> str:
        return str(int(getattr(meter.communication, name)))

    return write, ask


def _write_messages(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.messages = formats.boolean(one(data))


def _write_extended_enable(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.extended_enable = formats.register(one(data))


def _ask_line_errors(meter: Instrument, numbers: Numbers, data: Data) -> str:
    value, meter.line_errors = meter.line_errors, 0
    return str(value)


def _write_language(meter: Instrument, numbers: Numbers, data: Data) -> None:
    words = ("WT300E", "WT300", "WT200") if meter.model.e_series else ("WT300", "WT200")
    given = one(data).upper()
    if given not in words:
        raise CommandRefused(141)
    meter.communication.command = given


def _text(value: Callable[[Instrument], str]) -> Ask:
    return lambda meter, numbers, data: value(meter)


COMMANDS: tuple[Command, ...] = (
    pair(":INTEGrate:MODE", choice("integrate_mode", ("NORMal", "CONTinuous"), reset_only=True)),
    command(":INTEGrate:TIMer", write=_write_timer, ask=_ask_timer),
    command(":INTEGrate:STARt", write=_start),
    command(":INTEGrate:STOP", write=_stop),
    command(":INTEGrate:RESet", write=_reset),
    command(":INTEGrate:STATe", ask=_ask_state, headed=False),
    command(":STATus:ERRor", ask=_text(lambda meter: meter.next_error()), headed=False),
    command(
        ":STATus:QMESsage",
        write=_write_messages,
        ask=_text(lambda meter: str(int(meter.messages))),
    ),
    command(
        ":STATus:CONDition", ask=_text(lambda meter: str(meter.measurement.condition)), headed=False
    ),
    command(
        ":STATus:EESE",
        write=_write_extended_enable,
        ask=_text(lambda meter: str(meter.extended_enable)),
    ),
    command(":STATus:EESR", ask=_text(lambda meter: str(meter.take_events())), headed=False),
    command(
        ":STATus:FILTer<x>",
        write=_write_filter,
        ask=_ask_filter,
        listed=lambda meter: [(bit,) for bit in range(1, 17)],
    ),
    kept(":STATus:QENable", "0", flag),
    command(":STATus:SPOLl", ask=_text(lambda meter: str(meter.status_byte(False)))),
    pair(":COMMunicate:HEADer", _shared_flag("header")),
    pair(":COMMunicate:VERBose", _shared_flag("verbose")),
    pair(":COMMunicate:REMote", _shared_flag("remote")),
    pair(":COMMunicate:LOCKout", _shared_flag("lockout")),
    command(":COMMunicate:STATus", ask=_ask_line_errors, headed=False),
    command(
        ":SYSTem:COMMunicate:COMMand",
        write=_write_language,
        ask=_text(lambda meter: meter.communication.command),
    ),
    command(":SYSTem:MODel", ask=_text(lambda meter: f'"{meter.options.model}"')),
    command(":SYSTem:SERial", ask=_text(lambda meter: f'"{meter.serial}"')),
    command(":SYSTem:SUFFix", ask=_text(lambda meter: '"-C1-D/C7/EX2/G5/DA4"')),
    kept(":SYSTem:KLOCk", "0", flag),
    kept(":SYSTem:RESolution", "5", nearest(4, 5)),
    # An address of the range for documents (RFC 7042, section 2.1.2).
    command(
        ":SYSTem:COMMunicate:ETHernet:MACaddress", ask=_text(lambda meter: '"00-00-5E-00-53-01"')
    ),
    command(
        ":SYSTem:VERsion[:FIRMware]",
        ask=_text(lambda meter: f'"{meter.options.firmware.lstrip("F")}"'),
        headed=False,
    ),
)
