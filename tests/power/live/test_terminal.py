# SPDX-License-Identifier: Apache-2.0
"""A recording drawn in the terminal."""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from power.live.run_view import RunView
from power.live.terminal import (
    ASCII,
    BLOCKS,
    Marks,
    _recent,
    _whole,
    chart,
    columns_of,
    draw_until,
    line_of,
    nice_top,
    picture,
)
from power.meter import MeterFlag, Reading

Make = Callable[..., Reading]


@pytest.fixture
def view(make_reading: Make) -> RunView:
    """Return a run of two minutes with a gap, and a problem that the meter reports."""
    view = RunView()
    about = {"log": "run.csv", "meter": "YOKOGAWA WT310 EMU000000", "timer_s": 600}
    view.begin({**about, "update_interval_s": 1.0})
    for second in [*range(1, 80), *range(95, 121)]:
        view.add(
            make_reading(float(second), flags=frozenset({MeterFlag.AUTO_RANGE})), float(second)
        )
    return view


def shown(view: RunView, width: int, height: int, encoding: str = "utf-8") -> list[str]:
    """Return the lines of the picture on a terminal without colours."""
    screen = io.StringIO()
    console = Console(file=screen, width=width, height=height, no_color=True)
    console.print(picture(view, width, height, 120.5, encoding))
    return screen.getvalue().splitlines()


@pytest.mark.parametrize(("width", "height"), [(200, 60), (80, 24), (40, 16), (20, 12)])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_picture_fits_the_terminal(
    view: RunView, width: int, height: int, encoding: str
) -> None:
    """Every line is within the width, at each size, and the figures are there."""
    lines = shown(view, width, height, encoding)
    assert max(len(line) for line in lines) <= width
    assert len(lines) < height + 3
    text = "\n".join(lines)
    assert "RUNNING" in text
    assert "power 6 W" in text
    assert "energy 0.2 Wh" in text
    assert encoding == "utf-8" or text.isascii()


def test_everything_is_said_where_there_is_room(view: RunView) -> None:
    """Ranges, time of the timer, both curves, gaps and flags are on a usual terminal."""
    text = "\n".join(shown(view, 80, 24))
    assert "range 150 V, 0.1 A" in text
    assert "time 120 s of 600 s" in text
    assert "the whole run, 0 to 120 s" in text
    assert "the last minute, 60 to 120 s" in text
    assert "gaps 1, 16.0 s in all; the newest from 79.0 to 95.0 s" in text
    assert "the meter reports: auto_range" in text


def test_a_silent_meter_is_told(view: RunView) -> None:
    """A reading that is overdue is told instead of an old power; after the end none is due."""
    assert "120.0 s: 6 W, 0.2 Wh, START" == line_of(view, 121.0)
    assert "120.0 s: no reading for 10 s" == line_of(view, 130.0)
    view.end({"verdict": "VALID"})
    assert "120.0 s: 6 W, 0.2 Wh, START" == line_of(view, 130.0)
    assert "waiting" == line_of(RunView(), 0.0)


def test_before_the_first_reading_there_is_a_picture() -> None:
    """Nothing is known yet, and nothing breaks."""
    view = RunView()
    assert any("WAITING" in line for line in shown(view, 80, 24))


def test_without_a_terminal_messages_and_a_last_line_go_out(
    view: RunView, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file or a pipe gets plain lines, without any control character."""
    view.tell("the meter answers again")
    draw_until(view, threading.Lock(), lambda: True, lambda: 121.0)
    assert "the meter answers again\n120.0 s: 6 W, 0.2 Wh, START\n" == capsys.readouterr().err


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
    means = [one and one[1] for one in columns_of(bins, (0.0, 20.0), 8, 1.0)]
    assert [1.0, 1.0, None, None, 3.0, 3.0, 4.0, 4.0] == means


@pytest.mark.parametrize("update_s", [0.1, 0.25, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("width", [11, 71, 191])
def test_a_steady_load_is_drawn_without_holes(
    make_reading: Make, update_s: float, width: int
) -> None:
    """Readings come a little early or late; no column between two of them is empty."""
    view = RunView()
    view.begin({"update_interval_s": update_s, "timer_s": 600})
    for number in range(1, 60):
        at_s = update_s * (number + 0.2 + 0.15 * math.sin(number))
        view.add(make_reading(at_s, power_w=5.0), at_s)
    for title, span_s, curve in (_whole(view), _recent(view)):
        columns = columns_of(curve, span_s, width, update_s)
        drawn = [place for place, values in enumerate(columns) if values is not None]
        assert list(range(drawn[0], drawn[-1] + 1)) == drawn, title
        assert {5.0} == {values[1] for values in columns if values is not None}


def test_a_missed_reading_leaves_a_hole(make_reading: Make) -> None:
    """Nobody saw the power of that time, and its neighbours stand for one update each."""
    view = RunView()
    view.begin({"update_interval_s": 1.0, "timer_s": 600})
    for second in range(1, 60):
        if second not in (20, 40, 41):
            view.add(make_reading(second + 0.2, power_w=5.0), second + 0.2)
    _, span_s, curve = _recent(view)
    columns = columns_of(curve, span_s, 240, 1.0)
    empty = [place / 4 for place, values in enumerate(columns) if values is None]
    holes = [at_s for at_s in empty if 2 < at_s < 59]
    assert 3 <= len([at_s for at_s in holes if 19 <= at_s <= 20.5]) <= 5
    assert 7 <= len([at_s for at_s in holes if 39 <= at_s <= 41.5]) <= 9
    assert len(holes) <= 14


def test_many_bins_in_a_column_keep_the_peak() -> None:
    """A peak of one bin in a hundred shows."""
    bins = [(float(k), steady(9.0 if k == 42 else 1.0)) for k in range(100)]
    columns = columns_of(bins, (0.0, 100.0), 10, 1.0)
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
@example([steady(1.192e-06)], 3)
@example([steady(1.5e-12)], 3)
@example([steady(2e11)], 3)
def test_a_chart_has_its_size(columns: list[tuple[float, float, float] | None], rows: int) -> None:
    """No value makes a row longer than the columns, also below 0 and in millionths of a watt."""
    drawn = chart(columns, rows, BLOCKS)
    assert rows == len(drawn)
    assert max(len(row) for row in drawn) <= 9 + len(columns)


@pytest.mark.parametrize(("marks", "label"), [(BLOCKS, "  1.5 µW"), (ASCII, "  1.5 uW")])
def test_a_device_that_sleeps_has_a_scale(marks: Marks, label: str) -> None:
    """Millionths of a watt, which a PPK2 measures, are told without an exponent."""
    rows = chart([steady(1.3e-6)], 3, marks)
    assert rows[0].startswith(label + marks.axis)


def test_small_figures_have_a_prefix(make_reading: Make) -> None:
    """The power and the energy of a device that sleeps, as a picture and as a line."""
    view = RunView()
    view.begin({"log": "run.csv", "meter": "PPK2", "timer_s": None, "update_interval_s": 1.0})
    view.add(replace(make_reading(1.0), power_w=1.3e-6, energy_wh=3.6e-10), 1.0)
    assert "power 1.3 µW" in "\n".join(shown(view, 80, 24))
    assert "1.0 s: 1.3 uW, 360 pWh, START" == line_of(view, 1.5)
    assert "\n".join(shown(view, 80, 24, "ascii")).isascii()


@pytest.mark.parametrize("value", [0.0, -3.0, 1e12, float("inf")])
def test_a_curve_without_height_has_a_scale(value: float) -> None:
    """Nothing, or less, is drawn on a scale of 1 W."""
    assert 1.0 == nice_top(value)
