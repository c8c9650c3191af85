# SPDX-License-Identifier: Apache-2.0
"""The STORe and RECall commands (pages 6-30, 6-32): measured values, and sets of settings."""

from __future__ import annotations

from dataclasses import fields

from power.emulator import formats
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import one
from power.emulator.commands_list import list_text
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument
from power.emulator.kept import whole
from power.emulator.measurement import Values
from power.emulator.numeric_values import values_text

_INTERVAL = whole((0, 99), (0, 59), (0, 59))
_MOST_PANELS = 4
_NOTHING = Values(**{field.name: formats.NO_DATA for field in fields(Values)})


def _write_state(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.measurement.memory.switch(formats.boolean(one(data)), meter.clock())


def _write_interval(meter: Instrument, numbers: Numbers, data: Data) -> None:
    hours, minutes, seconds = (int(part) for part in _INTERVAL(meter, data).split(","))
    meter.measurement.memory.interval_s = 3600 * hours + 60 * minutes + seconds


def _ask_interval(meter: Instrument, numbers: Numbers, data: Data) -> str:
    minutes, seconds = divmod(meter.measurement.memory.interval_s, 60)
    return f"{minutes // 60},{minutes % 60},{seconds}"


def _panel(data: Data) -> int:
    number = formats.integer(one(data))
    if not 1 <= number <= _MOST_PANELS:
        raise CommandRefused(222)
    return number


def _store_panel(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.panels[_panel(data)] = meter.settings.copy()


def _recall_panel(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Take back settings; nobody says what an empty file does, so it is refused as out of range."""
    number = _panel(data)
    meter.require_reset()
    if number not in meter.panels:
        raise CommandRefused(222)
    meter.settings.__dict__.update(meter.panels[number].copy().__dict__)
    meter.measurement.restart_updates(meter.clock())


def _block(meter: Instrument, data: Data) -> Values:
    """Return a stored block; without a number, or beyond the last, there is no data (6-30)."""
    blocks = meter.measurement.memory.blocks
    number = formats.integer(one(data)) if data else 0
    return blocks[number - 1] if 1 <= number <= len(blocks) else _NOTHING


def _ask_value(meter: Instrument, numbers: Numbers, data: Data) -> str | bytes:
    settings = meter.settings
    items = [settings.item(k) for k in range(1, settings.number_of_items + 1)]
    return values_text(meter, items, _block(meter, data))


def _ask_list(meter: Instrument, numbers: Numbers, data: Data) -> str | bytes:
    return list_text(meter, (), _block(meter, data))


COMMANDS: tuple[Command, ...] = (
    command(
        ":STORe[:STATe]",
        write=_write_state,
        ask=lambda meter, numbers, data: str(int(meter.measurement.memory.is_on)),
    ),
    command(":STORe:INTerval", write=_write_interval, ask=_ask_interval),
    command(":STORe:PANel", write=_store_panel),
    command(
        ":RECall:NUMber",
        ask=lambda meter, numbers, data: str(len(meter.measurement.memory.blocks)),
        headed=False,
    ),
    command(":RECall[:NORMal]:VALue", ask=_ask_value, headed=False),
    command(":RECall:LIST:VALue", ask=_ask_list, headed=False),
    command(":RECall:PANel", write=_recall_panel),
)
