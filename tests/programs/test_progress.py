# SPDX-License-Identifier: Apache-2.0
"""Progress on the terminal: drawn where somebody watches, silent in a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from referee.programs import progress


class Terminal(io.StringIO):
    """Stand in for a terminal."""

    def isatty(self) -> bool:
        """Be one."""
        return True


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list whose only item is the time that the progress sees."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def draw(seconds: list[float], step_s: float) -> None:
    """Do ten parts of a job, each of which takes some seconds."""
    with progress.progress_bar("pictures") as bar:
        for done in range(1, 11):
            seconds[0] += step_s
            bar(done, 10)


def test_a_long_job_has_a_bar_that_fills(
    seconds: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person sees how much is done, and the line is cleared at the end."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    draw(seconds, 1.0)
    assert "] 10 of 10 pictures" in sys.stderr.getvalue()
    assert sys.stderr.getvalue().endswith("\r\x1b[K")


def test_a_short_job_has_none(seconds: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing flickers for work of less than half a second."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    draw(seconds, 0.01)
    assert sys.stderr.getvalue() == ""


def test_a_pipe_sees_no_bar(seconds: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file is not filled with bars."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    draw(seconds, 1.0)
    assert sys.stderr.getvalue() == ""


def test_a_status_is_told_to_a_log_now_and_then(
    seconds: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody watches, a status that changes often is one line every so many seconds."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    status = progress.StatusLine(every_s=2.0)
    for number in range(10):
        status.show(f"look {number}")
        seconds[0] += 0.5
    assert sys.stderr.getvalue().split("\n")[:-1] == ["look 0", "look 4", "look 8"]
