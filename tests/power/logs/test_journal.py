# SPDX-License-Identifier: Apache-2.0
"""The journal of runs on this computer: what it keeps, whatever the disk does."""

from __future__ import annotations

import logging
import multiprocessing
from pathlib import Path

import pytest

from power.logs.journal import JOURNAL_VARIABLE, RunJournal, journal
from power.wipe_rule import RunEntry, RunEvent
from tests.support.full_disk import FullDisk

UTC = "2026-01-01T00:00:00+00:00"


def begun(log: str = "/a.csv") -> RunEntry:
    """Return the beginning of a run."""
    return RunEntry(RunEvent.BEGUN, "91N4", "X", log, UTC)


def fetched(log: str = "/a.csv") -> RunEntry:
    """Return the end of a run."""
    return RunEntry(RunEvent.FETCHED, "91N4", "X", log, UTC, 0.5, 360.0, "TIMEUP", 0.02)


def test_what_is_noted_is_read_again(tmp_path: Path) -> None:
    """Every line comes back, in order, also after half a line of a killed program."""
    path = tmp_path / "state" / "runs.jsonl"
    kept = RunJournal(path)
    assert [] == kept.entries()
    kept.append(begun())
    with open(path, "ab") as file:
        file.write(b"[" * 100_000 + b'\n{"event": "fetc')
    kept.append(fetched())
    assert [begun(), fetched()] == kept.entries()
    assert 0 == path.stat().st_mode & 0o077


def test_no_journal_keeps_nothing_beyond_the_process() -> None:
    """A journal without a path knows what this process has noted."""
    kept = RunJournal(None)
    kept.append(begun())
    assert [begun()] == kept.entries()
    assert [] == RunJournal(None).entries()


def test_what_a_full_disk_refuses_is_kept_and_written_later(
    tmp_path: Path, full_disk: FullDisk
) -> None:
    """A line that is not on the disk is an error; its process knows it, and writes it later."""
    path = tmp_path / "runs.jsonl"
    full_disk.fill(path)
    kept = RunJournal(path)
    with pytest.raises(OSError, match="runs.jsonl"):
        kept.append(begun())
    assert [begun()] == kept.entries()
    full_disk.free()
    kept.append(fetched())
    assert [begun(), fetched()] == kept.entries() == RunJournal(path).entries()


def test_a_journal_that_cannot_be_read_is_empty_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is known from a folder in place of the file, so less is spare; the log says so."""
    with caplog.at_level(logging.WARNING):
        assert [] == RunJournal(tmp_path).entries()
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        b'{"event": "fetched"}',
        b'{"event": "begun", "serial": 7, "resource": "X", "log": "", "utc": "2026-01-01T00:00Z"}',
        b'{"event": "begun", "serial": "7", "resource": "X", "log": "", "utc": "yesterday"}',
        b'{"event": "begun", "serial": "7", "resource": "X", "log": "", "utc": "2026-01-01"}',
        b'{"event": "danced", "serial": "7", "resource": "X", "log": "", "utc": ""}',
        b"[1, 2]",
        b"\xff",
    ],
)
def test_a_line_that_is_no_entry_is_left_out(tmp_path: Path, line: bytes) -> None:
    """Damage costs the damaged line alone."""
    path = tmp_path / "runs.jsonl"
    path.write_bytes(line + b"\n")
    RunJournal(path).append(begun())
    assert [begun()] == RunJournal(path).entries()


def _note_many(path: Path, name: str) -> None:
    for number in range(50):
        RunJournal(path).append(begun(f"/{name}/{number}"))


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    """Each line of each process is whole, in the order in which its process wrote it."""
    path = tmp_path / "runs.jsonl"
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_note_many, args=(path, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    logs = [entry.log for entry in RunJournal(path).entries()]
    for name in "abc":
        mine = [log for log in logs if log.startswith(f"/{name}/")]
        assert [f"/{name}/{number}" for number in range(50)] == mine


def test_the_environment_names_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All programs of a user share a journal, unless the environment names another one."""
    monkeypatch.setenv(JOURNAL_VARIABLE, str(tmp_path / "other.jsonl"))
    journal().append(begun())
    assert [begun()] == RunJournal(tmp_path / "other.jsonl").entries()
