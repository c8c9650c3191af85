# SPDX-License-Identifier: Apache-2.0
"""Write numbers as the meter does, and read the data of its program messages."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence

from power.emulator.errors import CommandRefused

# The stand-ins for missing values in text and in single floats (page 6-25).
NO_DATA = math.nan
OVER_RANGE = math.inf
_NO_DATA_FLOAT = bytes.fromhex("7E951BEE")
_OVER_RANGE_FLOAT = bytes.fromhex("7E94F56A")

_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[Ee][+-]?\d+)?)\s*([A-Za-z]*)")
_MULTIPLIERS = {
    "": 1.0,
    "EX": 1e18,
    "PE": 1e15,
    "T": 1e12,
    "G": 1e9,
    "MA": 1e6,
    "K": 1e3,
    "M": 1e-3,
    "U": 1e-6,
    "N": 1e-9,
    "P": 1e-12,
    "F": 1e-15,
}


def engineering(value: float, digits: int) -> str:
    """Return NR3 with an exponent that is a multiple of three, as `103.79E+00` (page 6-19)."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INF"
    if value == 0:
        return f"{0:.{digits - 1}f}E+00"
    exponent = 3 * math.floor(math.floor(math.log10(abs(value))) / 3)
    mantissa = value / 10.0**exponent
    whole = len(str(int(abs(mantissa))))
    text = f"{mantissa:.{max(0, digits - whole)}f}"
    if abs(float(text)) >= 1000:
        exponent += 3
        text = f"{mantissa / 1000:.{digits - 1}f}"
    return f"{text}E{exponent:+03d}"


def fixed(value: float, decimals: int) -> str:
    """Return NR3 with a set number of decimals, as the meter writes its ranges: `150.0E+00`."""
    exponent = 0 if value >= 1 else -3
    return f"{value / 10.0**exponent:.{decimals}f}E{exponent:+03d}"


def floats(values: Sequence[float]) -> bytes:
    """Return a block of big-endian single floats with an unpadded length (page 6-19)."""
    body = b"".join(_single(value) for value in values)
    length = str(len(body)).encode()
    return b"#" + str(len(length)).encode() + length + body


def _single(value: float) -> bytes:
    if math.isnan(value):
        return _NO_DATA_FLOAT
    if math.isinf(value):
        return _OVER_RANGE_FLOAT
    return struct.pack(">f", value)


def number(text: str, unit: str = "") -> float:
    """Return a number that may carry a multiplier and a unit (page 5-6).

    `MA` means mega, except for current, where it is milliampere.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise CommandRefused(141 if text[:1].isalpha() else 120)
    suffix = match[2].upper()
    if math.isinf(float(match[1])):
        raise CommandRefused(123)
    if suffix and not unit:
        raise CommandRefused(138)
    if unit == "A" and suffix == "MA":
        return float(match[1]) * 1e-3
    if unit and suffix.endswith(unit):
        suffix = suffix[: -len(unit)]
    if suffix not in _MULTIPLIERS:
        raise CommandRefused(131)
    return float(match[1]) * _MULTIPLIERS[suffix]


def integer(text: str) -> int:
    """Return a whole number; a fraction is rounded (page 5-6)."""
    return round(number(text))


def boolean(text: str) -> bool:
    """Return a boolean, written ON, OFF or as a number; 0 means off (page 5-7)."""
    word = text.strip().upper()
    if word in ("ON", "OFF"):
        return word == "ON"
    return integer(text) != 0


def register(text: str) -> int:
    """Return a register, written in decimal, #H, #Q or #B (page 5-7), limited to 16 bits."""
    prefix, digits = text[:2].upper(), text[2:]
    bases = {"#H": 16, "#Q": 8, "#B": 2}
    try:
        value = int(digits, bases[prefix]) if prefix in bases else integer(text)
    except ValueError:
        raise CommandRefused(120) from None
    return min(max(value, 0), 0xFFFF)


def word(text: str, words: Sequence[str]) -> str:
    """Return the word (written `VMEan`) that a text means, in any length from short to long."""
    given = text.strip().upper()
    for choice in words:
        short = "".join(character for character in choice if not character.islower())
        if choice.upper().startswith(given) and len(given) >= len(short):
            return choice
    raise CommandRefused(141 if given[:1].isalpha() else 104)
