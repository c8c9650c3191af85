# SPDX-License-Identifier: Apache-2.0
"""Marks of a recording, which another program makes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from power.append_file import AppendFile
from power.energy.judge import RunFacts
from power.energy.phases import Mark
from power.logs.facts_file import RunCourse, save_facts
from power.logs.marks import add_mark, is_written, marks_path, read_marks, running_logs
from power.meter import MeterSettings
from power.wipe_rule import RunEntry, RunEvent

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log whose run began at second 1000 of the clock."""
    path = tmp_path / "run.csv"
    path.touch()
    save_facts(path, RunFacts(None, MeterSettings(60)), RunCourse(NOW.isoformat(), 1000.0, ""))
    return path


def test_marks_are_read_as_they_were_written(log: Path) -> None:
    """They count from the start, in order of time; half a line is left out."""
    assert () == read_marks(log)
    assert Mark(12.5, "größer") == add_mark(log, "größer", 1012.5, NOW)
    add_mark(log, "first", 1002.0, NOW)
    with marks_path(log).open("a") as file:
        file.write('{"elapsed_s": 3')
    assert (Mark(1002.0, "first"), Mark(1012.5, "größer")) == read_marks(log, 1000.0)


def test_a_broken_line_is_named(log: Path) -> None:
    """The file and the line are in the sentence."""
    marks_path(log).write_text('{"elapsed_s": 1, "text": "a"}\n{"text": "b"}\n')
    with pytest.raises(ValueError, match=r"run\.marks\.jsonl, line 2 is no mark"):
        read_marks(log)


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "x" * 201])
def test_a_mark_is_one_line(log: Path, text: str) -> None:
    """Anything else is refused, and nothing is written."""
    with pytest.raises(ValueError, match="one line of 1 to 200"):
        add_mark(log, text, 1001.0, NOW)
    assert not marks_path(log).exists()


def test_the_recording_that_runs_is_known_by_its_lock(log: Path, tmp_path: Path) -> None:
    """A log of a program that was killed, and one that was fetched, do not run."""
    other = tmp_path / "fetched.csv"
    other.touch()
    file = AppendFile(log)
    assert file.claim()
    try:
        entries = [
            RunEntry(RunEvent.BEGUN, "1", "R", str(tmp_path / "killed.csv"), NOW.isoformat()),
            RunEntry(RunEvent.BEGUN, "1", "R", str(log), NOW.isoformat()),
            RunEntry(RunEvent.BEGUN, "2", "R", str(other), NOW.isoformat()),
            RunEntry(RunEvent.FETCHED, "2", "R", str(other), NOW.isoformat()),
        ]
        assert [log] == running_logs(entries)
        assert is_written(log)
    finally:
        file.close()
    assert [] == running_logs(entries)
