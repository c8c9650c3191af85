# SPDX-License-Identifier: Apache-2.0
"""A curve as rows of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.live.blocks import ASCII, BLOCKS, chart, columns_of, nice_top


def steady(watts: float) -> tuple[float, float, float]:
    """Return the values of a stretch in which nothing changes."""
    return watts, watts, watts


def test_a_column_is_as_high_as_its_mean() -> None:
    """Half of the scale is half of the rows; a peak above its column has a mark."""
    rows = chart([steady(8.0), None, steady(4.0), (0.0, 2.0, 8.0)], 4, BLOCKS)
    assert [
        "    10 W┤▂  ·",
        "        ┤█  ·",
        "        ┤█ ▅·",
        "     0 W┤█ █▆",
    ] == rows


def test_a_terminal_without_blocks_gets_other_marks() -> None:
    """No character is outside ASCII."""
    rows = chart([steady(8.0), (0.0, 2.0, 7.5)], 4, ASCII)
    assert "\n".join(rows).isascii()
    assert "     0 W|##" == rows[-1]


def test_few_bins_fill_the_width_and_a_gap_stays_open() -> None:
    """Each bin covers the columns of its time; a bin without a value covers none."""
    bins = [(0.0, steady(1.0)), (5.0, None), (10.0, steady(3.0)), (15.0, steady(4.0))]
    means = [one and one[1] for one in columns_of(bins, (0.0, 20.0), 8)]
    assert [1.0, 1.0, None, None, 3.0, 3.0, 4.0, 4.0] == means


def test_many_bins_in_a_column_keep_the_peak() -> None:
    """A peak of one bin in a hundred shows."""
    bins = [(float(k), steady(9.0 if k == 42 else 1.0)) for k in range(100)]
    columns = columns_of(bins, (0.0, 100.0), 10)
    assert 9.0 == max(one[2] for one in columns if one)
    assert all(one is not None for one in columns)


@given(value=st.floats(1e-6, 1e6))
def test_the_scale_ends_above_the_highest_value(value: float) -> None:
    """A tenth is free above the curve, and less than half of the height."""
    assert 1.1 * value <= nice_top(value) * 1.000001 <= 2.3 * value


@given(
    columns=st.lists(
        st.none() | st.tuples(*[st.floats(-5, 50)] * 3).map(lambda v: tuple(sorted(v))),
        max_size=40,
    ),
    rows=st.integers(3, 12),
)
def test_a_chart_has_its_size(columns: list[tuple[float, float, float] | None], rows: int) -> None:
    """No value makes a row longer than the columns, also below 0."""
    drawn = chart(columns, rows, BLOCKS)
    assert rows == len(drawn)
    assert max(len(row) for row in drawn) <= 9 + len(columns)


@pytest.mark.parametrize("value", [0.0, -3.0, float("inf")])
def test_a_curve_without_height_has_a_scale(value: float) -> None:
    """Nothing, or less, is drawn on a scale of 1 W."""
    assert 1.0 == nice_top(value)
