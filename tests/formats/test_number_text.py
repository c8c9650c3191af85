# SPDX-License-Identifier: Apache-2.0
"""Lines of detections read back to the same bits."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from referee.core.detections import Detections, pack
from referee.formats.detection_lines import parse_lines
from referee.formats.number_text import detection_lines

IDS = st.integers(-(2**63) + 1, 2**63 - 1)
# A NaN has many bits, and its text has one.
NUMBERS = st.floats().map(lambda value: math.nan if math.isnan(value) else value)
ROWS = st.lists(st.tuples(IDS, IDS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=8)


@given(ROWS)
def test_lines_read_back_to_the_same_bits(rows):
    """Whatever a contestant posts, its lines hold every bit of every number."""
    found = Detections.from_rows(rows)
    assert pack(found) == pack(parse_lines(detection_lines(found)))


def test_many_rows_are_as_many_lines():
    """Rows beyond one block follow each other, also around a block with a NaN in it."""
    rows = [(k, 1, k / 7, 0.1, 0.2, 0.3, 0.4) for k in range(20_000)]
    rows[9_000] = (9_000, 1, math.nan, -math.inf, 0.0, -0.0, 1e300)
    found = Detections.from_rows(rows)
    text = detection_lines(found)
    assert 20_000 == text.count(b"\n")
    assert pack(found) == pack(parse_lines(text))


def test_no_rows_are_no_lines():
    """An empty answer has no line."""
    assert b"" == detection_lines(Detections.empty())
