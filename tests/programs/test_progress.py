# SPDX-License-Identifier: Apache-2.0
"""Progress on the terminal: drawn where somebody watches, silent in a pipe."""

from __future__ import annotations

import io
import re
import threading
from contextlib import redirect_stderr

import pytest

from referee.programs import progress


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """Be one."""
        return True


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list whose only item is the time that the progress sees."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    return now


@pytest.fixture
def terminal() -> Terminal:
    """Return a terminal that a test puts in the place of standard error."""
    return Terminal()


def draw(seconds: list[float], step_s: float, stderr: io.StringIO, parts: int = 10) -> None:
    """Do ten parts of a job, or fewer of them, each of which takes some seconds."""
    with redirect_stderr(stderr), progress.progress_bar("pictures") as bar:
        for done in range(1, parts + 1):
            seconds[0] += step_s
            bar(done, 10)


def test_a_long_job_has_a_bar_that_fills(seconds: list[float], terminal: Terminal) -> None:
    """A person sees each part done, with the subject in front."""
    draw(seconds, 1.0, terminal)
    shown = re.findall(r"pictures: .*?(\d+)/10", terminal.getvalue())
    assert [str(number) for number in range(1, 11)] == list(dict.fromkeys(shown))


def test_the_last_state_stays_though_the_last_parts_came_fast(
    seconds: list[float], terminal: Terminal
) -> None:
    """The bar draws at most every tenth of a second, but its end shows the final number."""
    with redirect_stderr(terminal), progress.progress_bar("pictures") as bar:
        for done, took_s in ((1, 1.0), (99, 1.0), (1000, 0.001)):
            seconds[0] += took_s
            bar(done, 1000)
    last_line = terminal.getvalue().rstrip("\n").rpartition("\r")[2]
    assert "100%" in last_line
    assert "1000/1000" in last_line


def test_a_job_that_fails_shows_how_far_it_came(seconds: list[float], terminal: Terminal) -> None:
    """A bar never pretends that the rest was done."""
    draw(seconds, 1.0, terminal, parts=4)
    assert "4/10" in terminal.getvalue().rstrip("\n").rpartition("\r")[2]


def test_a_short_job_has_no_bar(seconds: list[float], terminal: Terminal) -> None:
    """Nothing flickers for work of less than half a second."""
    draw(seconds, 0.01, terminal)
    assert "" == terminal.getvalue()


def test_a_pipe_sees_no_bar(seconds: list[float]) -> None:
    """A log file is not filled with bars."""
    pipe = io.StringIO()
    draw(seconds, 1.0, pipe)
    assert "" == pipe.getvalue()


def test_a_bar_leaves_no_thread(seconds: list[float], terminal: Terminal) -> None:
    """tqdm's own watcher is not started: every thread here has a name and an owner."""
    before = threading.active_count()
    draw(seconds, 1.0, terminal)
    assert before == threading.active_count()


def test_a_status_is_told_to_a_log_now_and_then(seconds: list[float]) -> None:
    """Where nobody watches, a status that changes often is one line every so many seconds."""
    log = io.StringIO()
    status = progress.StatusLine(every_s=2.0)
    with redirect_stderr(log):
        for number in range(10):
            status.show(f"look {number}")
            seconds[0] += 0.5
    assert ["look 0", "look 4", "look 8"] == log.getvalue().splitlines()


def test_a_status_is_drawn_over_itself_on_a_terminal(
    seconds: list[float], terminal: Terminal
) -> None:
    """On a terminal each text takes the place of the one before, and the end leaves the line."""
    status = progress.StatusLine(every_s=2.0)
    with redirect_stderr(terminal):
        status.show("look 1")
        status.show("look 2")
        status.clear()
    assert "\r\x1b[Klook 1\r\x1b[Klook 2\r\x1b[K" == terminal.getvalue()
