# SPDX-License-Identifier: Apache-2.0
"""What two processes read of long lines is what one reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from referee.core.detections import pack
from referee.formats import detection_lines, fast_reading, number_table
from referee.formats.detection_lines import begin_lines, parse_lines
from referee.formats.faults import FormatError
from tests.formats.test_one_grammar import LINES, odd_lines

ROOT = Path(__file__).parents[2]


@pytest.fixture
def short_blocks(monkeypatch):
    """Let short texts count as long ones, in blocks of a few lines."""
    monkeypatch.setattr(fast_reading, "_LONG", 0)
    monkeypatch.setattr(number_table, "_BLOCK", 100)


def outcome(read, content):
    """Return the rows as bytes, or the refusal."""
    try:
        return pack(read(content))
    except FormatError as error:
        return str(error)


def read_by_two(content):
    """Read lines as a long file is read."""
    return begin_lines(content)()


@pytest.mark.parametrize("confidence", [b"0.25 ", b"-nan ", b""])
@pytest.mark.parametrize("separator", [b",", b" ", b" , "])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n \n"])
def test_long_plain_lines(short_blocks, monkeypatch, confidence, separator, end):
    """Long plain lines have the same bits, and no line is read a second time."""
    row = b"%d 3 " + confidence + b"-0 2.5 -3e2 9007199254740993"
    lines = [row.replace(b" ", separator) % number for number in range(60)]
    content = end.join(lines)
    expected = pack(parse_lines(content))
    monkeypatch.setattr(detection_lines, "parse_lines", None)
    assert expected == outcome(read_by_two, content)


@pytest.mark.parametrize("place", [0, 199])
@pytest.mark.parametrize(
    "odd",
    [b"7.jpg 2 1 1 2 3 4", b"99999999999999999999 2 1 1 2 3 4", b"1 2 1 1 2 3", b"1 2 1 a 2 3 4"],
)
def test_an_odd_line_is_read_or_named_wherever_it_is(short_blocks, place, odd):
    """A line that is no row of numbers is read, or named by its place in the whole text."""
    lines = [b"1 2 0.5 1 2 3 4"] * 200
    lines[place] = odd
    content = b"\n".join(lines)
    assert outcome(parse_lines, content) == outcome(read_by_two, content)


def compare(bodies):
    """Read each odd text in pieces and at once, and compare."""
    for body in bodies:
        for content in (body, body + b"\n" + b"1 2 0.5 1 2 3 4\n" * 30):
            assert outcome(parse_lines, content) == outcome(read_by_two, content), content[:99]


def test_every_odd_text_gives_the_same(short_blocks, monkeypatch):
    """Each odd text gives the same rows or the same faults, read in pieces or at once."""
    monkeypatch.setattr(detection_lines, "_FEW", 0)
    monkeypatch.setattr(fast_reading, "_is_of_use", lambda: False)
    compare(odd_lines())


def compare_odd_lines():
    """Read each odd body by two processes and by one, and compare."""
    fast_reading._LONG = detection_lines._FEW = 0
    number_table._BLOCK = 100
    compare(LINES)


@pytest.mark.slow
def test_two_processes_read_odd_texts_as_one():
    """Each odd body gives the same rows or the same faults, read by two processes or by one.

    A hundred forks cost a small process little, and that of all tests much.
    """
    program = f"import {__name__} as tests; tests.compare_odd_lines()"
    told = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert 0 == told.returncode, told.stderr
