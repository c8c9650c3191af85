# SPDX-License-Identifier: Apache-2.0
"""The recording program never waits for what shows it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from power.live.feed import LiveFeed
from power.live.records import message_line, reading_line
from power.meter import Reading


def test_a_reader_that_stands_still_costs_lines_and_no_time(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """With a full pipe lines are left out; the reader then gets whole lines, and how many lack."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # It reads nothing until the gate opens.
    command = ["sh", "-c", f"read go < {gate}; exec cat"]
    with (
        open(tmp_path / "seen", "wb") as seen,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=seen) as process,
    ):
        feed = LiveFeed(process)
        for number in range(1000):
            feed.send(reading_line(make_reading(float(number)), float(number)))
        left_out = feed.left_out
        assert 0 < left_out < 1000
        gate.write_text("go\n")
        while feed.left_out:  # the first line for which there is room tells it
            feed.send(message_line("x" * 3000))
        feed.close(finish=True)
    lines = [json.loads(line) for line in (tmp_path / "seen").read_bytes().splitlines()]
    readings = [line["reading"]["elapsed_s"] for line in lines if "reading" in line]
    assert [float(number) for number in range(1000 - left_out)] == readings
    told = next(line["message"] for line in lines if "message" in line)
    assert int(told.split()[0]) >= left_out


def test_a_program_that_has_ended_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """The recording goes on, with one warning."""
    with subprocess.Popen(["true"], stdin=subprocess.PIPE) as process:
        process.wait()
        feed = LiveFeed(process)
        for _ in range(3):
            feed.send(message_line("hello"))
        feed.close(finish=True)
    assert 1 == len(caplog.messages)
    assert "the recording goes on" in caplog.messages[0]


def test_a_program_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a recording waits a bounded time for its picture."""
    with subprocess.Popen(["sleep", "600"], stdin=subprocess.PIPE) as process:
        with monkeypatch.context() as patched:
            patched.setattr("power.live.feed._LAST_PICTURE_S", 0.05)
            LiveFeed(process).close(finish=True)
        assert -9 == process.returncode


def test_a_program_that_stands_still_to_the_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, make_reading: Callable[..., Reading]
) -> None:
    """Nothing is left behind that would hold the page's port for ever."""
    with subprocess.Popen(["sleep", "600"], stdin=subprocess.PIPE) as process:
        feed = LiveFeed(process)
        while not feed.left_out:
            feed.send(reading_line(make_reading(1.0), 1.0))
        with monkeypatch.context() as patched:
            patched.setattr("power.live.feed._LAST_LINES_S", 0.05)
            feed.close()
        assert -9 == process.wait(timeout=180)
