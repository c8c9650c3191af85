# SPDX-License-Identifier: Apache-2.0
"""Rows that can never match are named, each with its first reason."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.detections import Detections
from referee.core.flags import Flag, flag_rows

GOOD = (1, 5, 0.5, 0.0, 0.0, 9.0, 9.0)
CLASSES = np.asarray([2, 5, 90], dtype=np.int64)


def flags(*rows):
    """Return the flags of these rows in a contest of ten images."""
    return flag_rows(Detections.from_rows(rows), 10, CLASSES)


def changed(**values):
    """Return the good row with these cells changed."""
    names = ("image", "klass", "confidence", "xmin", "ymin", "xmax", "ymax")
    return tuple(values.get(name, cell) for name, cell in zip(names, GOOD, strict=True))


@pytest.mark.parametrize(
    "row",
    [
        GOOD,
        changed(image=10),
        changed(klass=2),
        changed(klass=90),
        changed(confidence=-3.0),
        changed(confidence=1e300),
        changed(xmin=9.0, ymin=9.0),
        changed(xmin=-10.0, xmax=3331.5),
    ],
)
def test_odd_rows_that_may_match_are_not_flagged(row):
    """Rows at the allowed edges, boxes of one pixel and boxes outside the frame have no flag."""
    assert () == flags(row)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (changed(image=0), "unknown image"),
        (changed(image=-1), "unknown image"),
        (changed(image=11), "unknown image"),
        (changed(klass=0), "class out of range"),
        (changed(klass=1), "class out of range"),
        (changed(klass=91), "class out of range"),
        (changed(klass=2**62), "class out of range"),
        (changed(confidence=math.nan), "confidence not finite"),
        (changed(confidence=math.inf), "confidence not finite"),
        (changed(xmin=math.nan), "coordinate not finite"),
        (changed(ymax=math.inf), "coordinate not finite"),
        (changed(xmin=9.5), "inverted box"),
        (changed(ymin=9.5), "inverted box"),
    ],
)
def test_rows_that_never_match(row, reason):
    """Each reason is found at its edge."""
    assert (Flag(1, reason),) == flags(GOOD, row, GOOD)


def test_first_reason_counts():
    """A row with many faults is flagged once, for the first of them."""
    worst = (0, 999, math.nan, math.nan, 0.0, -1.0, -1.0)
    assert (Flag(0, "unknown image"), Flag(2, "class out of range")) == flags(
        worst, GOOD, changed(klass=7, confidence=math.nan)
    )


def test_nothing_to_flag():
    """An empty answer and a contest without classes give no flags."""
    assert () == flags()
    found = flag_rows(Detections.from_rows([GOOD]), 10, np.empty(0, dtype=np.int64))
    assert (Flag(0, "class out of range"),) == found


def reason_of(image, klass, confidence, *corners):
    """Return the first reason that applies to a row, by the rules as they are written."""
    xmin, ymin, xmax, ymax = corners
    if not 1 <= image <= 10:
        return "unknown image"
    if klass not in CLASSES.tolist():
        return "class out of range"
    if not math.isfinite(confidence):
        return "confidence not finite"
    if not all(map(math.isfinite, corners)):
        return "coordinate not finite"
    return "inverted box" if xmax < xmin or ymax < ymin else None


NUMBERS = st.floats() | st.sampled_from([0.0, -0.0, 1.0, 2.0, math.nan, math.inf, -math.inf])


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.integers(-(2**53), 2**53) | st.integers(0, 11) | st.just(1),
            st.integers(-(2**53), 2**53) | st.sampled_from([1, 2, 5, 90, 91]),
            *[NUMBERS | st.just(1.0)] * 5,
        ),
        max_size=8,
    )
)
def test_flags_are_what_the_rules_say(rows):
    """A row among others gets the flag that plain comparisons give it alone."""
    reasons = [(place, reason_of(*row)) for place, row in enumerate(rows)]
    assert tuple(Flag(place, reason) for place, reason in reasons if reason) == flags(*rows)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            *[st.integers(-(2**53), 2**53) | st.integers(0, 12)] * 2,
            *[st.floats() | st.floats(0, 1)] * 5,
        )
    )
)
def test_flags_ascend_and_name_rows_once(rows):
    """Any post has at most one flag a row, in the order of rows."""
    found = [flag.row for flag in flags(*rows)]
    assert sorted(set(found)) == found
    assert all(0 <= row < len(rows) for row in found)
