# SPDX-License-Identifier: Apache-2.0
"""A recording drawn in the terminal."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

import pytest
from rich.console import Console

from power.live.run_view import RunView
from power.live.terminal import draw_until, line_of, picture
from power.meter import Flag, Reading

Make = Callable[..., Reading]


@pytest.fixture
def view(make_reading: Make) -> RunView:
    """Return a run of two minutes with a gap, and a problem that the meter reports."""
    view = RunView()
    about = {"log": "run.csv", "meter": "YOKOGAWA WT310 EMU000000", "timer_s": 600}
    view.begin({**about, "update_interval_s": 1.0})
    for second in [*range(1, 80), *range(95, 121)]:
        view.add(make_reading(float(second), flags=frozenset({Flag.AUTO_RANGE})), float(second))
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
