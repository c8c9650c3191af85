# SPDX-License-Identifier: Apache-2.0
"""The NUMeric:LIST commands: harmonics as lists (option /G5, pages 6-21 to 6-28)."""

from __future__ import annotations

from power.emulator import formats, harmonics
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import one
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument
from power.emulator.item_list import cleared, count_of, deleted, in_list
from power.emulator.kept import kept, words
from power.emulator.measurement import Values
from power.emulator.numeric_values import analysis, item_value, shown_values
from power.emulator.waveform import MOST_ORDER

_MOST = 32
_PATTERNS = {
    1: ("U", "I", "P"),
    2: ("U", "I", "P", "PHIU", "PHII"),
    3: ("U", "I", "P", "UHDF", "IHDF", "PHDF"),
    4: harmonics.LIST_FUNCTIONS,
}


def preset(pattern: int) -> dict[int, str]:
    """Return the items of a default pattern (page 6-28)."""
    items = [f"{name},{element}" for element in "123" for name in _PATTERNS[pattern]]
    return dict(enumerate(items, 1))


def list_text(meter: Instrument, data: Data, values: Values) -> str | bytes:
    """Return the lists of all items, or of one, as text or as a block of single floats."""
    settings = meter.settings
    if data:
        items = [settings.lists.get(in_list(formats.integer(one(data)), _MOST), "NONE")]
    else:
        items = [settings.lists.get(k, "NONE") for k in range(1, settings.number_of_lists + 1)]
    most = int(settings.kept.get((_ORDER, 1), str(MOST_ORDER)))
    orders = harmonics.orders_of(settings.kept.get((_SELECT, 1), "ALL"), most)
    numbers = [number for item in items for number in _list(meter, item, orders, values)]
    if settings.float_format:
        return formats.floats(numbers)
    return ",".join(formats.engineering(number, 5) for number in numbers)


def _list(meter: Instrument, item: str, orders: list[int | None], values: Values) -> list[float]:
    function, _, element = item.partition(",")
    if function == "NONE":
        return [formats.NO_DATA] * len(orders)
    amounts = {name: item_value(meter, f"{name},{element}", values) for name in ("U", "I", "P")}
    analysed = analysis(meter, amounts)
    return [analysed.component(function, number) for number in orders]


def _write_number(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.number_of_lists = count_of(data, _MOST)


def _write_item(meter: Instrument, numbers: Numbers, data: Data) -> None:
    number = in_list(numbers[0], _MOST)
    if not data:
        raise CommandRefused(109)
    if data[0].upper() == "NONE":
        meter.settings.lists[number] = "NONE"
        return
    function = formats.word(data[0], harmonics.LIST_FUNCTIONS)
    element = data[1] if len(data) > 1 else "1"
    if element not in ("1", "2", "3"):
        raise CommandRefused(222)
    meter.settings.lists[number] = f"{function},{element}"


def _ask_item(meter: Instrument, numbers: Numbers, data: Data) -> str:
    return meter.settings.lists.get(in_list(numbers[0], _MOST), "NONE")


def _write_preset(meter: Instrument, numbers: Numbers, data: Data) -> None:
    pattern = formats.integer(one(data))
    if pattern not in _PATTERNS:
        raise CommandRefused(222)
    meter.settings.lists = preset(pattern)


def _write_clear(meter: Instrument, numbers: Numbers, data: Data) -> None:
    meter.settings.lists = cleared(meter.settings.lists, data, _MOST)


def _write_delete(meter: Instrument, numbers: Numbers, data: Data) -> None:
    before = {k: meter.settings.lists.get(k, "NONE") for k in range(1, _MOST + 1)}
    meter.settings.lists = deleted(before, data, _MOST)


def _order(meter: Instrument, data: Data) -> str:
    text = one(data)
    order = MOST_ORDER if text.upper() == "ALL" else formats.integer(text)
    return str(min(max(order, 1), MOST_ORDER))


_ORDER = ":NUMeric:LIST:ORDer"
_SELECT = ":NUMeric:LIST:SELect"

COMMANDS: tuple[Command, ...] = (
    command(
        ":NUMeric:LIST:VALue",
        ask=lambda meter, numbers, data: list_text(meter, data, shown_values(meter)),
        headed=False,
    ),
    command(
        ":NUMeric:LIST:NUMber",
        write=_write_number,
        ask=lambda meter, numbers, data: str(meter.settings.number_of_lists),
    ),
    kept(_ORDER, str(MOST_ORDER), _order),
    kept(_SELECT, "ALL", words("EVEN", "ODD", "ALL")),
    command(
        ":NUMeric:LIST:ITEM<x>",
        write=_write_item,
        ask=_ask_item,
        listed=lambda meter: [(k,) for k in range(1, meter.settings.number_of_lists + 1)],
    ),
    command(":NUMeric:LIST:PRESet", write=_write_preset),
    command(":NUMeric:LIST:CLEar", write=_write_clear),
    command(":NUMeric:LIST:DELete", write=_write_delete),
)
