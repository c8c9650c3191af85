# SPDX-License-Identifier: Apache-2.0
"""Read the replies of Yokogawa's SCPI-like language: headers, enumerations, numbers, blocks.

A meter may answer with or without headers, in long or short words (IM WT310E-17EN, page 5-5).
Somebody may have changed this setting. So every function here accepts every spelling. A missing
value never becomes a number: it becomes an `Absent` with the reason.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from power.errors import PREPARE_AGAIN, MeterReplyError

# No-data is 9.91E+37 and over-range 9.9E+37 in float output and in WT200 text (page 6-25). As
# single floats they decode to 9.9099995e37 and 9.9000003e37, so the limit lies below both.
SENTINEL_LIMIT = 9.8e37
_OVER_RANGE_LIMIT = 9.905e37

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ERROR_ENTRY = re.compile(r'([+-]?\d+)(?:\s*,\s*"(.*)")?')


@dataclass(frozen=True)
class Absent:
    """The reason why a field holds no number."""

    reason: str


@dataclass(frozen=True)
class DeviceError:
    """One entry of the meter's error queue."""

    code: int
    text: str

    def __str__(self) -> str:
        return f'{self.code} "{self.text}"'


NO_DATA = Absent("no data")
OVER_RANGE = Absent("over range")


def decode(raw: bytes) -> str:
    """Return a reply's text without its terminator; anything but printable ASCII is an error."""
    text = raw.decode("latin-1").rstrip("\r\n")
    if not text or any(not " " <= character <= "~" for character in text):
        raise MeterReplyError(
            f"the meter answered {raw[:60]!r}, which is no text of its language; "
            "check the cable and the line settings"
        )
    return text


def without_header(unit: str) -> str:
    """Return the data of one reply unit, whether or not it begins with a header.

    `:INTEG:TIM 0,5,0` and `0,5,0` both give `0,5,0`; a unit after `;` may have lost its path
    (`FREQUENCY 0`).
    """
    unit = unit.strip()
    head, blank, rest = unit.partition(" ")
    if unit.startswith(":") or (blank and re.fullmatch(r"[A-Za-z][A-Za-z0-9:]*", head)):
        if not blank:
            raise MeterReplyError(f"the meter answered {unit!r}, a header without data")
        return rest.strip()
    return unit


def split_units(reply: str) -> list[str]:
    """Split a compound reply at its semicolons, except inside quotes."""
    units: list[str] = []
    quoted = False
    current = ""
    for character in reply:
        if character == '"':
            quoted = not quoted
        if character == ";" and not quoted:
            units.append(current)
            current = ""
        else:
            current += character
    units.append(current)
    return units


def parse_number(field: str) -> float | Absent:
    """Return the finite number in a field, or the reason why there is none.

    NAN and 9.91E+37 mean no data, INF and 9.9E+37 over-range or overflow (page 6-25).
    """
    text = field.strip()
    word = text.upper().lstrip("+-")
    if word == "NAN":
        return NO_DATA
    if word == "INF":
        return OVER_RANGE
    if not _NUMBER.fullmatch(text):
        raise MeterReplyError(f"the meter sent {field[:40]!r} where a number belongs")
    return classify(float(text))


def classify(value: float) -> float | Absent:
    """Return a decoded float, or the reason if it is one of the stand-ins for a missing value."""
    if math.isnan(value):
        return NO_DATA
    if math.isinf(value) or SENTINEL_LIMIT <= abs(value) < _OVER_RANGE_LIMIT:
        return OVER_RANGE
    if abs(value) >= SENTINEL_LIMIT:
        return NO_DATA
    return value


def parse_fields(data: str, count: int) -> list[float | Absent]:
    """Return exactly `count` comma-separated values; another count is an error."""
    fields = data.split(",")
    if len(fields) != count:
        raise _changed(f"the meter sent {len(fields)} values where {count} were asked for")
    return [parse_number(field) for field in fields]


def split_block(raw: bytes) -> tuple[bytes, bytes]:
    """Split a reply that begins with a block `#NLLL…` (page 5-7) into the data and the rest.

    The length field may be padded or not (page 6-19 against 5-7).
    """
    digits = int(raw[1:2]) if raw[:1] == b"#" and raw[1:2].isdigit() else 0
    length_field = raw[2 : 2 + digits]
    if digits == 0 or not length_field.isdigit():
        raise MeterReplyError(f"the meter sent {raw[:12]!r} where a data block belongs")
    end = 2 + digits + int(length_field)
    if len(raw) < end:
        raise MeterReplyError(f"the meter's data block ended {end - len(raw)} bytes early")
    return raw[2 + digits : end], raw[end:]


def parse_floats(block: bytes, count: int) -> list[float | Absent]:
    """Return exactly `count` big-endian single floats of a block's data (page 6-25)."""
    if len(block) != 4 * count:
        raise _changed(f"the meter sent {len(block)} bytes where {count} values were asked for")
    return [classify(value) for value in struct.unpack(f">{count}f", block)]


def _changed(what: str) -> MeterReplyError:
    error = MeterReplyError(f"{what}: another program changed its output items; end that program")
    return error.with_remedy(PREPARE_AGAIN)


def parse_setting(reply: str) -> float:
    """Return the number in a setting's reply; a missing value is an error."""
    value = parse_number(without_header(reply))
    if isinstance(value, Absent):
        raise MeterReplyError(f"the meter answered {reply!r} where a setting belongs")
    return value


def parse_flag(reply: str) -> bool:
    """Return a boolean setting, spelled 1/0 or ON/OFF."""
    word = without_header(reply).upper()
    if word in ("1", "ON"):
        return True
    if word in ("0", "OFF"):
        return False
    raise MeterReplyError(f"the meter answered {reply!r} where ON or OFF belongs")


def parse_register(reply: str) -> int:
    """Return a status register, a whole number from 0 to 65535."""
    word = without_header(reply)
    if not word.isdigit() or int(word) > 65535:
        raise MeterReplyError(f"the meter answered {reply!r} where a register belongs")
    return int(word)


def parse_word(reply: str, words: Sequence[str]) -> str:
    """Return which of `words` (written as in the manual, `TIMeup`) the reply names, in capitals.

    The short spelling, the long one and every length between them count (page 5-4).
    """
    given = without_header(reply).upper()
    for word in words:
        long = word.upper()
        short = "".join(character for character in word if not character.islower())
        if long.startswith(given) and len(given) >= len(short):
            return long
    raise MeterReplyError(
        f"the meter answered {reply!r} where one of {', '.join(w.upper() for w in words)} belongs"
    )


def parse_timer(reply: str) -> int:
    """Return the seconds of an `h,m,s` reply."""
    fields = without_header(reply).split(",")
    if len(fields) != 3 or not all(field.strip().isdigit() for field in fields):
        raise MeterReplyError(f"the meter answered {reply!r} where hours, minutes, seconds belong")
    hours, minutes, seconds = (int(field) for field in fields)
    return 3600 * hours + 60 * minutes + seconds


def parse_error(reply: str) -> DeviceError:
    """Return one entry of the error queue; the text may be missing (QMESsage OFF, page 6-31)."""
    match = _ERROR_ENTRY.fullmatch(reply.strip())
    if match is None:
        raise MeterReplyError(f"the meter answered {reply!r} where an error code belongs")
    return DeviceError(int(match[1]), match[2] or "")


def split_values(
    names: Sequence[str], values: Sequence[float | Absent]
) -> tuple[dict[str, float | None], Mapping[str, str]]:
    """Split named values into numbers (None where absent) and the reasons of the absent ones."""
    numbers: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, Absent):
            numbers[name] = None
            reasons[name] = value.reason
        else:
            numbers[name] = value
    return numbers, reasons
