# SPDX-License-Identifier: Apache-2.0
"""A curve in bounded memory."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.live.thinned import Thinned

POINTS = st.lists(
    st.tuples(st.floats(0, 500), st.floats(-100, 100) | st.none()), min_size=1, max_size=60
)


@given(points=POINTS)
def test_bins_hold_what_a_sort_into_bins_gives(
    points: list[tuple[float, float | None]],
) -> None:
    """However the bins grew, they are those of a reader who knows the last width from the start."""
    curve = Thinned(width_s=0.25, most=8)
    for at_s, value in points:
        curve.add(at_s, value)
    assert len(curve) <= 8
    places = [math.floor(at_s / curve.width_s) for at_s, _ in points]
    assert len(curve) == max(places) + 1
    for place, found in enumerate(curve.bins()):
        values = [
            value
            for at, (_, value) in zip(places, points, strict=True)
            if at == place and value is not None
        ]
        if not values:
            assert found is None
            continue
        assert found is not None
        assert (min(values), max(values)) == (found[0], found[2])
        assert sum(values) / len(values) == pytest.approx(found[1])


def test_a_day_at_ten_readings_a_second_stays_small() -> None:
    """Memory is bounded, and one peak in a day still shows."""
    curve = Thinned()
    for tick in range(0, 864_000, 7):
        curve.add(tick / 10, 9.0 if tick == 300_006 else 5.0)
    assert 300 <= len(curve) <= 600
    assert [9.0] == [one[2] for one in curve.bins() if one is not None and one[2] > 5.0]


def test_a_sleep_of_a_year_costs_nothing() -> None:
    """One late value makes wide bins, and no loop over the time between."""
    curve = Thinned()
    curve.add(0.0, 1.0)
    curve.add(3.2e7, 2.0)
    assert [1.0, 2.0] == [one[1] for one in curve.bins() if one is not None]


def test_a_time_before_the_start_counts_as_the_start() -> None:
    """A reading just before the start is in the first bin."""
    curve = Thinned()
    curve.add(-0.5, 3.0)
    assert [(3.0, 3.0, 3.0)] == curve.bins()


def test_a_curve_without_room_is_refused() -> None:
    """One bin cannot be halved, and no time makes no bin."""
    with pytest.raises(ValueError, match="two bins"):
        Thinned(most=1)
    with pytest.raises(ValueError, match="two bins"):
        Thinned(width_s=0.0)
