# SPDX-License-Identifier: Apache-2.0
"""Settings that the meter keeps as text and tells. Few of them change what it measures.

Each is declared by its header, its default, and a reader that turns the data of a command into the
text of the answer. A value outside its limits moves to the nearest one inside (page 5-6).
"""

from __future__ import annotations

from collections.abc import Callable

from power.emulator import formats
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import enumeration, one
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument

Read = Callable[[Instrument, Data], str]
"""Returns the canonical text of a command's data; words as in `VMEan`. Refuses other data."""


def kept(pattern: str, default: str | tuple[str, ...], read: Read) -> Command:
    """Return a setting; a numbered header has a default for each of its numbers, from 1."""
    defaults = (default,) if isinstance(default, str) else default
    numbers = tuple((number,) for number in range(1, len(defaults) + 1))

    def place(meter: Instrument, given: Numbers) -> tuple[str, int]:
        number = given[0] if given else 1
        if not 1 <= number <= len(defaults):
            raise CommandRefused(114)
        return pattern, number

    def write(meter: Instrument, given: Numbers, data: Data) -> None:
        meter.settings.kept[place(meter, given)] = read(meter, data)

    def ask(meter: Instrument, given: Numbers, data: Data) -> str:
        at = place(meter, given)
        return spelled(meter, meter.settings.kept.get(at, defaults[at[1] - 1]))

    def listed(meter: Instrument) -> tuple[Numbers, ...]:
        return numbers if "<x>" in pattern else ((),)

    return command(pattern, write=write, ask=ask, listed=listed)


def spelled(meter: Instrument, text: str) -> str:
    """Return data with each word long or short, as VERBose demands."""
    return ",".join(
        enumeration(meter, part) if part[:1].isalpha() else part for part in text.split(",")
    )


def flag(meter: Instrument, data: Data) -> str:
    """Read a boolean."""
    return str(int(formats.boolean(one(data))))


def words(*choices: str) -> Read:
    """Return a reader of one word."""
    return lambda meter, data: formats.word(one(data), choices)


def whole(*limits: tuple[int, int]) -> Read:
    """Return a reader of whole numbers, each within its limits."""

    def read(meter: Instrument, data: Data) -> str:
        if len(data) != len(limits):
            raise CommandRefused(109 if len(data) < len(limits) else 108)
        pairs = zip(data, limits, strict=True)
        return ",".join(str(min(max(formats.integer(t), low), high)) for t, (low, high) in pairs)

    return read


def nearest(*legal: int) -> Read:
    """Return a reader of one number of a list."""
    return lambda meter, data: f"{meter.nearest(formats.number(one(data)), legal):.0f}"


def source(meter: Instrument, data: Data) -> str:
    """Read a voltage or a current of an element, as U1 or I3; other elements do not exist."""
    text = one(data).upper()
    if text[:1] not in ("U", "I") or not text[1:].isdigit():
        raise CommandRefused(141)
    if int(text[1:]) not in meter.model.elements:
        raise CommandRefused(222)
    return text


def function(choices: tuple[str, ...], *, alone: tuple[str, ...] = (), none: bool = False) -> Read:
    """Return a reader of a function and its element, 1 by itself; those of `alone` have none."""

    def read(meter: Instrument, data: Data) -> str:
        if not data:
            raise CommandRefused(109)
        if len(data) > 2:
            raise CommandRefused(108)
        if none and data[0].upper() == "NONE":
            return "NONE"
        name = formats.word(data[0], choices)
        if name in alone:
            return name
        return f"{name},{element(data[1] if len(data) > 1 else '1')}"

    return read


def element(text: str) -> str:
    """Read an element: 1 to 3, or the sum."""
    given = text.upper()
    if given in ("SIGM", "SIGMA"):
        return "SIGMa"
    if given not in ("1", "2", "3"):
        raise CommandRefused(222 if given.isdigit() else 141)
    return given
