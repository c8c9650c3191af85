# SPDX-License-Identifier: Apache-2.0
"""What pyarrow reads of long lines is what the other readers read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.detections import pack
from referee.formats import detection_lines, long_lines
from referee.formats.detection_lines import FIELDS_WITHOUT_CONFIDENCE, LINE_FIELDS, parse_lines
from referee.formats.faults import FormatError
from referee.formats.long_lines import parse_long

ids = st.one_of(
    st.integers(-(2**64), 2**64).map(str),
    st.sampled_from("7 007 -0 7.0 7e0 1.5 0x10 9223372036854775807".split()),
)
numbers = st.one_of(
    st.decimals(-(10**7), 10**7, places=6).map(str),
    st.floats().map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from("5. .5 -.5 1e-05 +7 -0 -0.0 00012 1E3 1e400 5e-324 1e 1.2.3 --5 -".split()),
    st.sampled_from(["", " 7", "1_0", "0x1p3", "nan(1)", "null", '"7"', "\x0b5", "\uff17"]),
)


@st.composite
def lines(draw):
    """Draw some lines and the names of their fields."""
    fields = draw(st.sampled_from([LINE_FIELDS, FIELDS_WITHOUT_CONFIDENCE]))
    between = draw(st.sampled_from([",", ",", " ", "\t", ", "]))
    row = st.tuples(*(ids if field.endswith("_id") else numbers for field in fields))
    rows = draw(st.lists(row.map(between.join), min_size=1, max_size=3))
    return (draw(st.sampled_from(["\n", "\n\n", " \n"])).join(rows)).encode(), fields


def outcome(content):
    """Return the rows as bytes, or the refusal."""
    try:
        return pack(parse_lines(content))
    except FormatError as error:
        return str(error)


@given(lines())
def test_it_reads_no_more_than_the_grammar_and_the_same_bits(drawn):
    """Lines that it takes have the bits that the other readers give; it may leave some to them."""
    content, fields = drawn
    found = parse_long(content, fields)
    if found is not None:
        assert outcome(content) == pack(found)


@pytest.mark.parametrize("separator", [b",", b" "])
def test_long_plain_lines(monkeypatch, separator):
    """A long text of plain lines needs no other reader, with or without confidences."""
    monkeypatch.setattr(detection_lines, "LONG", 0)
    monkeypatch.setattr(detection_lines, "_FEW", 0)
    for confidence in (b"", b"0.25 "):
        row = b"%d 3 " + confidence + b"1 2.5 -3e2 4\n"
        content = b"".join(row % number for number in range(300)).replace(b" ", separator)
        expected = pack(parse_lines(content))
        with monkeypatch.context() as patch:
            patch.setattr(detection_lines, "read_tables", None)
            assert expected == pack(parse_lines(content, long=True))


def test_without_the_library(monkeypatch):
    """Without pyarrow, numpy reads the same."""
    monkeypatch.setattr(long_lines.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(detection_lines, "LONG", 0)
    monkeypatch.setattr(detection_lines, "_FEW", 0)
    assert None is parse_long(b"1,2,.5,3,4,5,6\n", LINE_FIELDS)
    assert 1 == len(parse_lines(b"1,2,.5,3,4,5,6\n", long=True))
