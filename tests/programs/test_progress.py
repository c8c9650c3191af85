# SPDX-License-Identifier: Apache-2.0
"""Progress on the terminal: drawn for a person, silent in a pipe."""

from __future__ import annotations

import io
import re
import threading
from contextlib import redirect_stderr

import pytest

from referee.programs import progress


class Terminal(io.StringIO):
    """A terminal that keeps everything written to it."""

    def isatty(self) -> bool:
        """Return True."""
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
    """Put a terminal in the place of standard error, and return it."""
    return Terminal()


def draw(seconds: list[float], step_s: float, stderr: io.StringIO, parts: int = 10) -> None:
    """Do ten parts of a job, or fewer, each of which takes some seconds."""
    with redirect_stderr(stderr), progress.progress_bar("pictures") as bar:
        for done in range(1, parts + 1):
            seconds[0] += step_s
            bar(done, 10)


def test_a_long_job_has_a_bar_that_fills(seconds: list[float], terminal: Terminal) -> None:
    """A long job has a bar that names its subject and grows with each part."""
    draw(seconds, 1.0, terminal)
    shown = re.findall(r"pictures: .*?(\d+)/10", terminal.getvalue())
    assert [str(number) for number in range(1, 11)] == list(dict.fromkeys(shown))


def test_the_last_state_stays_though_the_last_parts_came_fast(
    seconds: list[float], terminal: Terminal
) -> None:
    """The bar shows the final number at its end, even if the last parts came fast."""
    with redirect_stderr(terminal), progress.progress_bar("pictures") as bar:
        for done, took_s in ((1, 1.0), (99, 1.0), (1000, 0.001)):
            seconds[0] += took_s
            bar(done, 1000)
    last_line = terminal.getvalue().rstrip("\n").rpartition("\r")[2]
    assert "100%" in last_line
    assert "1000/1000" in last_line


def test_a_job_that_fails_shows_how_far_it_came(seconds: list[float], terminal: Terminal) -> None:
    """The bar of a failed job stops at the parts that were done."""
    draw(seconds, 1.0, terminal, parts=4)
    assert "4/10" in terminal.getvalue().rstrip("\n").rpartition("\r")[2]


def test_a_short_job_has_no_bar(seconds: list[float], terminal: Terminal) -> None:
    """A job of less than half a second has no bar."""
    draw(seconds, 0.01, terminal)
    assert "" == terminal.getvalue()


def test_a_pipe_sees_no_bar(seconds: list[float]) -> None:
    """A pipe or a log file gets no bar."""
    pipe = io.StringIO()
    draw(seconds, 1.0, pipe)
    assert "" == pipe.getvalue()


def test_a_bar_leaves_no_thread(seconds: list[float], terminal: Terminal) -> None:
    """A bar starts no thread, so tqdm's own watcher stays off."""
    before = set(threading.enumerate())
    draw(seconds, 1.0, terminal)
    assert not set(threading.enumerate()) - before


def test_a_status_is_told_to_a_log_now_and_then(seconds: list[float]) -> None:
    """A log gets a changing status as one line every so many seconds."""
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
    """On a terminal each status replaces the one before, and the last one leaves the line."""
    status = progress.StatusLine(every_s=2.0)
    with redirect_stderr(terminal):
        status.show("look 1")
        status.show("look 2")
        status.clear()
    assert "\r\x1b[Klook 1\r\x1b[Klook 2\r\x1b[K" == terminal.getvalue()


def test_a_log_is_told_of_long_work(seconds: list[float]) -> None:
    """A file or a pipe gets a line every so many seconds, and nothing of short work."""
    log = io.StringIO()
    with redirect_stderr(log), progress.progress_told("images", every_s=5.0) as tell:
        for done in range(1, 10):
            seconds[0] += 2.0
            tell(done, 9)
    assert ["images: 3 of 9", "images: 6 of 9", "images: 9 of 9"] == log.getvalue().splitlines()


def test_a_terminal_sees_a_bar_of_work_that_a_log_is_told_of(
    seconds: list[float], terminal: Terminal
) -> None:
    """The same work has a bar where somebody looks."""
    with redirect_stderr(terminal), progress.progress_told("images") as tell:
        for done in (1, 2):
            seconds[0] += 1.0
            tell(done, 2)
    assert "images: 100%" in terminal.getvalue()
