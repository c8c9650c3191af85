# SPDX-License-Identifier: Apache-2.0
"""How a duration is written, on command lines and in configurations."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.commands.seconds import any_seconds, some_seconds, whole_seconds
from power.durations import FORMS, duration_s

PARTS = st.none() | st.integers(0, 10**6)


@given(PARTS, PARTS, PARTS)
def test_each_unit_counts_as_often_as_it_says(
    hours: int | None, minutes: int | None, seconds: int | None
) -> None:
    """Hours, minutes and seconds add up, whichever of them are there."""
    parts = {"h": hours, "m": minutes, "s": seconds}
    text = "".join(f"{number}{unit}" for unit, number in parts.items() if number is not None)
    if text:
        assert 3600 * (hours or 0) + 60 * (minutes or 0) + (seconds or 0) == duration_s(text)


@given(st.floats(0, allow_nan=False, allow_infinity=False) | st.integers(0, 10**9))
def test_a_number_is_seconds_as_ever(number: float) -> None:
    """What was written in plain seconds before there were units means the same."""
    assert float(number) == duration_s(str(number))


@given(st.text(alphabet="0123456789.hms -+einfaxHMS٣_:", max_size=8) | st.text(max_size=8))
def test_any_other_text_is_refused_with_what_is_right(text: str) -> None:
    """A text is a finite duration, or a sentence shows how to write one."""
    try:
        assert 0 <= duration_s(text) < float("inf")
    except ValueError as error:
        assert FORMS in str(error)


@pytest.mark.parametrize(
    "text",
    ["", "s", "1m1h", "1h30", "1.h", "-5", "-5s", "10M", "10 m", "1d", "nan", "inf", "9" * 400]
    + ["9" * 400 + "h", "٣", "1m2m", "500ms"],
)
def test_what_is_no_duration(text: str) -> None:
    """A unit stands once, in order, in small letters, behind a number; nothing else is guessed."""
    with pytest.raises(ValueError, match="is no duration: write it as"):
        duration_s(text)


def test_the_options_bound_what_they_take() -> None:
    """A length of a run is whole and not 0; a time to wait may be 0, and a bound may not."""
    assert (5400, 90.0, 0.0) == (whole_seconds("1.5h"), some_seconds("1m30s"), any_seconds("0"))
    for kind, text, told in (
        (whole_seconds, "1.5", "give 1 or 2"),
        (whole_seconds, "0.5s", "give 1 s or more"),
        (some_seconds, "0m", "give more than 0"),
        (any_seconds, "soon", FORMS),
    ):
        with pytest.raises(argparse.ArgumentTypeError, match=told):
            kind(text)
