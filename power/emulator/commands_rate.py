# SPDX-License-Identifier: Apache-2.0
"""The RATE and averaging commands (pages 6-18 and 6-29)."""

from __future__ import annotations

from power.emulator import formats
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import choice, flag, one, pair
from power.emulator.instrument import Instrument
from power.emulator.kept import kept, nearest, source


def _write_rate(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Set the update interval; with AUTO the emulator goes on at the interval that it had."""
    automatic = one(data).upper() == "AUTO"
    wanted = meter.settings.rate_s if automatic else formats.number(one(data), "S")
    meter.require_reset()
    meter.settings.rate_auto = automatic
    meter.settings.rate_s = meter.nearest(wanted, meter.model.rates_s)
    meter.measurement.restart_updates(meter.clock())


def _ask_rate(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return "AUTO" if meter.settings.rate_auto else formats.engineering(meter.settings.rate_s, 4)


def _write_averaging_count(meter: Instrument, numbers: Numbers, data: Data) -> None:
    wanted = formats.number(one(data))
    meter.settings.averaging_count = int(meter.nearest(wanted, (8.0, 16.0, 32.0, 64.0)))


def _ask_averaging_count(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return str(meter.settings.averaging_count)


COMMANDS: tuple[Command, ...] = (
    command(":RATE", write=_write_rate, ask=_ask_rate),
    command(":SAMPle:RATE", write=_write_rate, ask=_ask_rate),
    kept(":RATE:AUTO:TIMeout", "5", nearest(1, 5, 10, 20)),
    kept(":RATE:AUTO:SYNChronize", "U1", source),
    pair(":MEASure:AVERaging[:STATe]", flag("averaging")),
    pair(":MEASure:AVERaging:TYPE", choice("averaging_type", ("LINear", "EXPonent"))),
    command(":MEASure:AVERaging:COUNt", write=_write_averaging_count, ask=_ask_averaging_count),
    pair(":MEASure:MHOLd", flag("max_hold")),
)
