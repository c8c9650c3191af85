# SPDX-License-Identifier: Apache-2.0
"""Replies of the meter, in every spelling that it may use."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power import scpi
from power.errors import MeterReplyError

STATES = ("RESet", "STARt", "STOP", "TIMeup", "ERRor")


@pytest.mark.parametrize(
    ("reply", "data"),
    [
        (":INTEGRATE:TIMER 0,5,0", "0,5,0"),
        (":INTEG:TIM 0,5,0", "0,5,0"),
        ("0,5,0", "0,5,0"),
        ("FREQUENCY 0", "0"),
        ("150.0E+00", "150.0E+00"),
        ("EXTERNAL,10.0E+00", "EXTERNAL,10.0E+00"),
        ('"WT310E"', '"WT310E"'),
    ],
)
def test_header_is_taken_off_when_there_is_one(reply: str, data: str) -> None:
    """A reply gives the same data with headers on and off."""
    assert data == scpi.without_header(reply)


def test_header_without_data_is_an_error() -> None:
    """A header without data is an error."""
    with pytest.raises(MeterReplyError, match="header without data"):
        scpi.without_header(":INTEG:TIM")


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("NAN", "no data"),
        ("nan", "no data"),
        ("9.91E+37", "no data"),
        ("9.91e+037", "no data"),
        ("INF", "over range"),
        ("-INF", "over range"),
        ("9.9E+37", "over range"),
        ("1E+400", "over range"),
    ],
)
def test_a_stand_in_never_becomes_a_number(field: str, reason: str) -> None:
    """NAN, INF and their numerals become absent values with a reason."""
    assert scpi.Absent(reason) == scpi.parse_number(field)


@pytest.mark.parametrize("field", ["", "1,2", "0x10", "1_000", "12.5W", "１２", "1e", "infinity"])
def test_anything_else_is_refused(field: str) -> None:
    """Other texts are errors, even if Python's float accepts them."""
    with pytest.raises(MeterReplyError, match="where a number belongs"):
        scpi.parse_number(field)


@given(st.floats(min_value=-9e37, max_value=9e37))
def test_every_finite_number_survives(value: float) -> None:
    """Every finite number comes back unchanged in any notation."""
    assert value == scpi.parse_number(repr(value))


@given(st.text(max_size=30))
def test_no_text_becomes_a_number_that_is_not_finite(text: str) -> None:
    """Any text gives an error or a finite number."""
    try:
        value = scpi.parse_number(text)
    except MeterReplyError:
        return
    assert isinstance(value, scpi.Absent) or math.isfinite(value)


def test_single_floats_of_the_manual_are_recognised() -> None:
    """0x7E951BEE is no data and 0x7E94F56A over range, though they decode slightly off."""
    block = bytes.fromhex("7E951BEE7E94F56A42C80000")
    assert [scpi.NO_DATA, scpi.OVER_RANGE, 100.0] == scpi.parse_floats(block, 3)


@pytest.mark.parametrize("head", [b"#212", b"#40012", b"#800000012"])
def test_block_length_may_be_padded(head: bytes) -> None:
    """A block's length may be padded, and its data may hold line feeds."""
    body = struct.pack(">3f", 1.5, 0.0, 2.5)[:-1] + b"\n"
    assert (body, b";START\n") == scpi.split_block(head + body + b";START\n")


@pytest.mark.parametrize("raw", [b"#", b"#0", b"#2", b"#2x2abc", b"#212short", b"1.0,2.0"])
def test_broken_block_is_an_error(raw: bytes) -> None:
    """A block that ends early or has no length is refused."""
    with pytest.raises(MeterReplyError, match="block"):
        scpi.split_block(raw)


@pytest.mark.parametrize(("data", "count"), [("1,2", 3), ("1,2,3,4", 3), ("", 3)])
def test_another_number_of_fields_is_an_error(data: str, count: int) -> None:
    """Another number of fields is an error, without padding or dropping."""
    with pytest.raises(MeterReplyError, match="values where 3 were asked for"):
        scpi.parse_fields(data, count)


@pytest.mark.parametrize(
    ("reply", "word"),
    [("STAR", "START"), ("START", "START"), ("star", "START"), ("TIM", "TIMEUP"), ("RES", "RESET")],
)
def test_both_spellings_of_a_word_count(reply: str, word: str) -> None:
    """A state is understood with VERBose on and off."""
    assert word == scpi.parse_word(reply, STATES)


@pytest.mark.parametrize("reply", ["ST", "STARTS", "RUN", "", "5"])
def test_an_unknown_word_is_an_error(reply: str) -> None:
    """An unknown word is an error, and no state."""
    with pytest.raises(MeterReplyError):
        scpi.parse_word(reply, STATES)


@pytest.mark.parametrize(
    ("reply", "code", "text"),
    [
        ('0,"No error"', 0, "No error"),
        ('113,"Undefined header"', 113, "Undefined header"),
        ("813", 813, ""),
        ('813,""', 813, ""),
    ],
)
def test_error_entry_with_and_without_text(reply: str, code: int, text: str) -> None:
    """An error entry may lack its text, as with QMESsage OFF."""
    assert scpi.DeviceError(code, text) == scpi.parse_error(reply)


@pytest.mark.parametrize(
    ("reply", "seconds"), [("0,5,0", 300), (":INTEG:TIM 1,0,1", 3601), ("10000,0,0", 36_000_000)]
)
def test_timer_is_seconds(reply: str, seconds: int) -> None:
    """A timer's hours, minutes and seconds add up."""
    assert seconds == scpi.parse_timer(reply)


@pytest.mark.parametrize("reply", ["300", "0,5", "0,5,0,0", "0,-5,0", "a,b,c"])
def test_broken_timer_is_an_error(reply: str) -> None:
    """A timer in another form is an error."""
    with pytest.raises(MeterReplyError):
        scpi.parse_timer(reply)


def test_semicolons_in_quotes_do_not_split() -> None:
    """A semicolon in an error's quoted text does not split the reply."""
    assert ['113,"a;b"', "START"] == scpi.split_units('113,"a;b";START')


@pytest.mark.parametrize("raw", [b"", b"\n", b"\xff\xfe12\n", b"12\x0013\n"])
def test_bytes_that_are_no_text_are_an_error(raw: bytes) -> None:
    """Bytes that are no text are an error before any parsing."""
    with pytest.raises(MeterReplyError, match="no text of its language"):
        scpi.decode(raw)
