# SPDX-License-Identifier: Apache-2.0
"""When to read, and when to try again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.follow.schedule import Schedule, back_off_s


@given(st.floats(0, 1e6), st.sampled_from([0.1, 0.25, 1.0, 20.0]), st.floats(0, 1e6))
def test_the_next_instant_is_within_one_interval(
    origin_s: float, interval_s: float, now_s: float
) -> None:
    """It lies after now, at most an interval away, and on the grid, whatever was missed."""
    due_s = Schedule(origin_s, interval_s).next_after(now_s)
    assert -1e-6 < due_s - now_s <= interval_s + 1e-6
    steps = (due_s - origin_s) / interval_s
    assert steps == pytest.approx(round(steps), abs=1e-6)


def test_the_pause_doubles_to_a_bound() -> None:
    """A quarter of a second at first, five seconds at most, after however many attempts."""
    assert [0.25, 0.5, 1.0, 2.0, 4.0, 5.0] == [back_off_s(attempt) for attempt in range(1, 7)]
    assert 5.0 == back_off_s(100_000)
