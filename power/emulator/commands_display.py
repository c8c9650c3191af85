# SPDX-License-Identifier: Apache-2.0
"""The DISPlay, HARMonics, MATH and AOUTput commands (pages 6-5 to 6-10 and 6-17).

What the front panel shows and what the D/A output puts out, nobody can see over the wire. So these
settings are kept and told. MATH has an effect: `numeric_values` computes it.
"""

from __future__ import annotations

from power.emulator import formats
from power.emulator.command_tree import Command, Data, Numbers, command
from power.emulator.commands_input import enumeration, one
from power.emulator.errors import CommandRefused
from power.emulator.instrument import Instrument
from power.emulator.kept import flag, function, kept, source, whole, words
from power.emulator.numeric_values import NORMAL_ITEM

_PEAKS = ("UPPeak", "UMPeak", "IPPeak", "IMPeak", "PPPeak", "PMPeak")
_INTEGRATED = ("WH", "WHP", "WHM", "AH", "AHP", "AHM")

# What each of the displays A to D can show, and what it shows by itself.
_NORMAL = (
    ("U", "I", "P", "S", "Q", "TIME"),
    ("U", "I", "P", "LAMBda", "PHI"),
    ("U", "I", "P", *_PEAKS, *_INTEGRATED, "MATH"),
    ("U", "I", "P", "LAMBda", "FU", "FI", "UTHD", "ITHD"),
)
_HARMONIC = (
    ("U", "I", "P", "ORDer"),
    ("U", "I", "P", "UHDF", "IHDF", "PHDF", "PHIU", "PHII"),
    ("U", "I", "P"),
    ("U", "I", "P", "LAMBda", "FU", "FI", "UTHD", "ITHD"),
)
_CHANNELS = 12
_CHANNEL = (*"U I P S Q LAMBda PHI FU FI".split(), *_INTEGRATED, "MATH", "UPeak", "IPeak")
_CHANNELS_NORMAL = tuple("U,1 I,1 P,1 S,1 Q,1 LAMBda,1 PHI,1 FU,1 FI,1 NONE NONE NONE".split())
_CHANNELS_INTEGRATE = ("P,1", "WH,1", "WHP,1", "WHM,1", "AH,1", "AHP,1", "AHM,1", *["NONE"] * 5)


def _displays(pattern: str, shown: tuple[tuple[str, ...], ...], alone: tuple[str, ...]) -> Command:
    """Return the items of the four displays; each has functions of its own."""
    readers = [function(choices, alone=alone) for choices in shown]
    defaults = ("U,1", "I,1", "P,1", "FU,1")
    declared = kept(pattern, defaults, readers[0])

    def write(meter: Instrument, numbers: Numbers, data: Data) -> None:
        if not 1 <= numbers[0] <= len(readers):
            raise CommandRefused(114)
        meter.settings.kept[pattern, numbers[0]] = readers[numbers[0] - 1](meter, data)

    return command(pattern, write=write, ask=declared.ask, listed=declared.listed)


def _limits(meter: Instrument, data: Data) -> str:
    """Read the upper and the lower limit of a D/A output."""
    if len(data) != 2:
        raise CommandRefused(109 if len(data) < 2 else 108)
    most = 9.999e12
    return ",".join(
        formats.engineering(min(max(formats.number(text), -most), most), 4) for text in data
    )


def _preset_outputs(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Put the D/A output items to a default pattern; the manual does not list them."""
    normal = formats.word(one(data), ("NORMal", "INTEGrate")) == "NORMal"
    for channel, item in enumerate(_CHANNELS_NORMAL if normal else _CHANNELS_INTEGRATE, 1):
        meter.settings.kept[_OUTPUT, channel] = item


def _write_math(meter: Instrument, numbers: Numbers, data: Data) -> None:
    """Choose the equation; efficiency needs several elements."""
    text = one(data).upper()
    name, number = text.rstrip("0123456789"), text[len(text.rstrip("0123456789")) :]
    if name in ("CFU", "CFI", "AVW"):
        if not 1 <= int(number or "1") <= (4 if name == "AVW" else 3):
            raise CommandRefused(222)
        meter.settings.math = f"{name}{number or '1'}"
        return
    chosen = formats.word(text, ("EFFiciency", "ADD", "SUB", "MUL", "DIV", "DIVA", "DIVB"))
    if chosen == "EFFiciency" and len(meter.model.elements) == 1:
        raise CommandRefused(222)
    meter.settings.math = chosen


_OUTPUT = ":AOUTput[:NORMal]:CHANnel<x>"
_ORDER = ":HARMonics:ORDer"

COMMANDS: tuple[Command, ...] = (
    _displays(NORMAL_ITEM, _NORMAL, ("TIME", "MATH")),
    _displays(":DISPlay:HARMonics:ITEM<x>", _HARMONIC, ("ORDer",)),
    kept(":HARMonics:PLLSource", "U1", source),
    kept(_ORDER, "1,50", whole((1, 1), (1, 50))),
    kept(":HARMonics:THD", "TOTal", words("TOTal", "FUNDamental")),
    kept(":HARMonics:DISPlay[:STATe]", "0", flag),
    kept(":HARMonics:DISPlay:ORDer", "1", whole((1, 50))),
    command(
        ":MATH",
        write=_write_math,
        ask=lambda meter, numbers, data: enumeration(meter, meter.settings.math),
    ),
    command(":AOUTput[:NORMal]:PRESet", write=_preset_outputs),
    kept(_OUTPUT, _CHANNELS_NORMAL, function(_CHANNEL, alone=("MATH",), none=True)),
    kept(":AOUTput[:NORMal]:IRTime", "1,0,0", whole((0, 10000), (0, 59), (0, 59))),
    kept(":AOUTput[:NORMal]:MODE<x>", ("FIXed",) * _CHANNELS, words("FIXed", "MANual", "COMPare")),
    kept(":AOUTput[:NORMal]:RATE<x>", ("100.0E+00,-100.0E+00",) * _CHANNELS, _limits),
)
