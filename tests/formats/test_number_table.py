# SPDX-License-Identifier: Apache-2.0
"""Tables of numbers parsed as whole arrays, compared with float()."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.formats import number_table
from referee.formats.number_table import are_whole, line_spans, parse_numbers

plain = st.decimals(-(10**7), 10**7, places=6).map(str)
small = st.integers(-300, 300).map(str)
floats = st.floats().map(repr)
odd = st.sampled_from("5. .5 -.5 1e-05 +7 -0 -0.0 00012 nan inf 1.7976931348623157e308 1E3".split())
near_limit = st.sampled_from(
    "99999999.99999999 90071992.54740993 12345678.12345678 123456789 0.123456789".split()
)
broken = st.sampled_from(
    [
        "1.2.3",
        "--5",
        "5-3",
        "1-",
        "x",
        "",
        "1/2",
        "0x10",
        "1;2",
        "1,",
        "1_0",
        "\x0b5",
        "5\x1f",
        "\uff17",
    ]
)
cell = st.one_of(plain, small, floats, odd, near_limit)
separator = st.sampled_from([",", " ", "\t", "  ", ", "])
ending = st.sampled_from(["\n", "\r\n", "\n\n", " \n"])


@st.composite
def tables(draw, cells=cell):
    """Draw the text of a table with its number of columns."""
    columns = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), max_size=6))
    text = ""
    for row in rows:
        between = draw(separator)
        text += between.join(row) + draw(ending)
    return text.removesuffix("\n") if draw(st.booleans()) else text, columns


def by_float(text, columns):
    """Parse cell by cell with float(), or return None."""
    rows = []
    for line in text.split("\n"):
        line = line.strip(" \t\r")
        if not line:
            continue
        row = re.split(r"[ \t]*,[ \t]*|[ \t]+", line)
        if len(row) != columns:
            return None
        try:
            if re.search(r"[^-+.0-9A-Za-z]", "".join(row)):
                return None
            rows.append([float(item) for item in row])
        except ValueError:
            return None
    return np.array(rows).reshape(-1, columns)


def assert_same_table(expected, actual):
    """Compare bit by bit, so that -0.0 is not 0.0 and NaN is NaN."""
    assert (expected is None) == (actual is None)
    if expected is not None:
        assert expected.shape == actual.shape
        np.testing.assert_array_equal(np.signbit(expected), np.signbit(actual))
        np.testing.assert_array_equal(expected, actual)


@pytest.mark.slow
@given(tables())
@settings(max_examples=150)
def test_numbers_are_those_of_float(table):
    """Every value has the bits that float() gives, in any notation."""
    text, columns = table
    assert_same_table(by_float(text, columns), parse_numbers(text.encode(), columns))


@pytest.mark.slow
@given(tables(st.one_of(cell, cell, cell, broken)))
@settings(max_examples=150)
def test_what_is_no_table_is_left_to_the_caller(table):
    """Broken cells, empty cells and lines of another width give None."""
    text, columns = table
    assert_same_table(by_float(text, columns), parse_numbers(text.encode(), columns))


def test_rows_keep_their_order_across_blocks(monkeypatch):
    """Lines keep their order across blocks and ways of parsing."""
    monkeypatch.setattr(number_table, "_BLOCK", 64)
    lines = [f"{n},1e{n % 5},0.5" if n % 7 == 0 else f"{n} {n} -{n}.25" for n in range(200)]
    content = "\n".join(lines).encode()
    expected = [[n, 10.0 ** (n % 5), 0.5] if n % 7 == 0 else [n, n, -n - 0.25] for n in range(200)]
    assert expected == parse_numbers(content, 3).tolist()


@pytest.mark.parametrize(
    "content",
    [
        b"1 2\n3\n",
        b"1 2 3\n4\n",
        b"1\n2 3 4\n",
        b"1 2 3 4\n",
        b"1,2,\n",
        b",1,2\n",
        b"1,,2\n",
        b"1\x002\n",
        b"1 2\n\xff 4\n",
    ],
)
def test_lines_that_do_not_fit(content):
    """A line of another width makes no table, even if the numbers would fit across lines."""
    assert None is parse_numbers(content, 2)


def test_commas_and_blanks_may_mix():
    """One line may separate its numbers by commas and blanks."""
    assert [[1.0, 2.0, 3.0]] * 3 == parse_numbers(b"1 2, 3\n1 , 2 3\n1,2 3e0\n", 3).tolist()


@pytest.mark.parametrize("content", [b" 1 2\n\t3 4", b"1 2\n\n3 4\n\n", b"\n1 2\n 3 4\n"])
def test_indented_and_blank_lines(content):
    """Rows may be indented, and blank lines between them do not count."""
    assert [[1.0, 2.0], [3.0, 4.0]] == parse_numbers(content, 2).tolist()


def test_nothing_is_an_empty_table():
    """Empty content and empty lines give no rows."""
    assert (0, 7) == parse_numbers(b"", 7).shape == parse_numbers(b"\n \r\n\n", 7).shape


@pytest.mark.parametrize(
    ("numbers", "whole"),
    [([1.0, -2.0], True), ([], True), ([1.5], False), ([np.nan], False), ([2.0**53], False)],
)
def test_whole_numbers_are_exact(numbers, whole):
    """Ids must be integers that a double holds exactly."""
    assert whole is are_whole(np.array(numbers))


def test_usual_lines_are_read_as_one_list(monkeypatch):
    """A block of lines as most programs write them needs neither numpy's reader nor float()."""

    def unwanted(*_, **__):
        raise AssertionError("a block of plain numbers was left to a slow reader")

    monkeypatch.setattr(number_table.np, "loadtxt", unwanted)
    monkeypatch.setattr(number_table, "_by_float", unwanted)
    for text in (b"1,2,0.5,-3.25\n2,2,0.0,0\n", b"1 2 0.5 -3.25\n2 2 0.0 0"):
        table = number_table.parse_block(text, 4)
        assert [[1, 2, 0.5, -3.25], [2, 2, 0, 0]] == table.tolist()


@pytest.mark.parametrize("cell", ["-0", "-0.0", "-0.00", "-0e3", "-1e-999", "-00"])
def test_a_zero_keeps_its_sign(cell):
    """A list of JSON loses the sign of a zero; a block that may hold one is read by numpy."""
    for text in (f"{cell},1\n", f"1,{cell}\n", f"1,{cell}", f"{cell} 1\n0.5 2\n"):
        table = number_table.parse_block(text.encode(), 2)
        assert np.signbit(table[table == 0]).tolist() == [True]


LINES = b"".join(b"%d\n" % number for number in range(200))


@pytest.mark.parametrize("size", [1, 16, 10_000])
@pytest.mark.parametrize("content", [LINES, LINES + b"without a line end", b"\n" * 99, b"7", b""])
def test_blocks_hold_each_line_once_in_order(monkeypatch, content, size):
    """Joined blocks are the content, and each but the last ends with a line."""
    monkeypatch.setattr(number_table, "_BLOCK", size)
    blocks = [content[span] for span in line_spans(content)]
    assert content == b"".join(blocks)
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(len(block) >= size for block in blocks[:-1])
