# SPDX-License-Identifier: Apache-2.0
"""Numbers as the meter writes and reads them."""

from __future__ import annotations

import math

import pytest

from power.emulator import formats
from power.emulator.errors import CommandRefused


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (103.79, 5, "103.79E+00"),
        (1.0143, 5, "1.0143E+00"),
        (50.001, 5, "50.001E+00"),
        (0.0, 5, "0.0000E+00"),
        (0.000123456, 6, "123.456E-06"),
        (-0.041667, 5, "-41.667E-03"),
        (999.996, 5, "1.0000E+03"),
        (12345.6, 5, "12.346E+03"),
        (0.25, 4, "250.0E-03"),
        (math.nan, 5, "NAN"),
        (math.inf, 5, "INF"),
    ],
)
def test_engineering_notation(value: float, digits: int, text: str) -> None:
    """Exponents are multiples of three, as in the manual's examples (page 6-19)."""
    assert text == formats.engineering(value, digits)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("100MS", "S", 0.1),
        ("0.1", "S", 0.1),
        ("1S", "S", 1.0),
        ("200MA", "A", 0.2),
        ("0.2", "A", 0.2),
        ("300V", "V", 300.0),
        ("300v", "V", 300.0),
        ("0.3KV", "V", 300.0),
        ("1.5MAV", "V", 1.5e6),
        ("2E-1A", "A", 0.2),
    ],
)
def test_multipliers_and_units(text: str, unit: str, value: float) -> None:
    """`MA` is mega, except for current (page 5-6)."""
    assert value == pytest.approx(formats.number(text, unit))


@pytest.mark.parametrize(
    ("text", "unit", "code"),
    [("MAX", "V", 141), ("1.2.3", "V", 120), ("5W", "V", 131), ("5V", "", 138)],
)
def test_broken_numbers_are_refused(text: str, unit: str, code: int) -> None:
    """Each malformed number has its error code (appendix 1)."""
    with pytest.raises(CommandRefused) as caught:
        formats.number(text, unit)
    assert code == caught.value.code


@pytest.mark.parametrize(
    ("text", "value"),
    [("15", 15), ("#H0F", 15), ("#Q777", 511), ("#B001100", 12), ("99999", 65535)],
)
def test_registers(text: str, value: int) -> None:
    """Registers may be decimal, hexadecimal, octal or binary (page 5-7)."""
    assert value == formats.register(text)


def test_block_of_the_manual() -> None:
    """Ten values make an unpadded `#240`; no data and over-range have patterns (page 6-25)."""
    block = formats.floats([math.nan, math.inf, 3600.0])
    assert b"#212" + bytes.fromhex("7E951BEE7E94F56A45610000") == block
    assert formats.floats([0.0] * 10).startswith(b"#240")


@pytest.mark.parametrize(
    ("text", "on"), [("ON", True), ("off", False), ("1", True), ("0", False), ("0.4", False)]
)
def test_booleans(text: str, on: bool) -> None:
    """A boolean is a word, or a number that is rounded (page 5-7)."""
    assert on is formats.boolean(text)
