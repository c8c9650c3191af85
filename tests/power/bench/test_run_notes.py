# SPDX-License-Identifier: Apache-2.0
"""The notes of a run: what a later program finds after each step, also on a full disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from power.bench.run_notes import RunNotes, RunPlace
from power.energy.judge import RunFacts
from power.logs.facts_file import facts_path, load_course, load_facts
from power.logs.journal import RunJournal
from power.meter import (
    HeldResult,
    Identity,
    IntegrationStart,
    IntegrationState,
    MeterFlag,
    MeterSettings,
)
from power.wipe_rule import RunEvent
from tests.support.full_disk import FullDisk

IDENTITY = Identity("YOKOGAWA", "WT310", "91N4", "F1.03")
SETTINGS = MeterSettings(timer_s=60)
HELD = HeldResult(IDENTITY, IntegrationState.TIMEUP, 0.5, 60.0)


def notes_in(folder: Path, time: Any, journal: RunJournal | None = None) -> RunNotes:
    """Return the notes of a run in a folder."""
    place = RunPlace(folder / "log.csv", "X", journal or RunJournal(folder / "runs.jsonl"))
    return RunNotes(place, clock=time.clock, utc=time.utc)


def test_each_step_is_found_by_a_later_program(tmp_path: Path, fake_time: Any) -> None:
    """Settings, start, flags and the wish to end are on the disk as soon as they are known."""
    notes, log = notes_in(tmp_path, fake_time), tmp_path / "log.csv"
    notes.prepared(IDENTITY, SETTINGS)
    facts, course = load_facts(log), load_course(log)
    assert facts is not None and course is not None
    assert (SETTINGS, None) == (facts.settings, facts.session_s)
    fake_time.sleep(3.0)
    notes.started(IntegrationStart(1002.0, 1002.1, 1002.5))
    notes.flagged(frozenset({MeterFlag.OVER_RANGE}))
    notes.asked(17.0)
    facts, course = load_facts(log), load_course(log)
    assert facts is not None and course is not None
    assert frozenset({MeterFlag.OVER_RANGE}) == facts.flags
    assert (1002.0, 17.0) == (course.start_s, course.asked_s)
    assert course.start_utc.endswith("00:16:42+00:00")


def test_a_full_disk_ends_no_run(
    tmp_path: Path, fake_time: Any, full_disk: FullDisk, caplog: pytest.LogCaptureFixture
) -> None:
    """During a run a full disk is an alarm, old facts stay, and nothing counts as fetched."""
    notes, log = notes_in(tmp_path, fake_time), tmp_path / "log.csv"
    notes.prepared(IDENTITY, SETTINGS)
    before = facts_path(log).read_bytes()
    full_disk.fill(tmp_path / "no such file")
    notes.started(IntegrationStart(1002.0, 1002.1, 1002.5))
    notes.asked(17.0)
    assert not notes.finish(RunFacts(IDENTITY, SETTINGS, 60.0), HELD)
    full_disk.free()
    assert before == facts_path(log).read_bytes()
    assert "the measurement goes on" in caplog.text
    assert [RunEvent.BEGUN] == [e.event for e in RunJournal(tmp_path / "runs.jsonl").entries()]


def test_a_full_disk_before_the_start_is_an_error(
    tmp_path: Path, fake_time: Any, full_disk: FullDisk
) -> None:
    """A run whose facts cannot be kept does not begin."""
    full_disk.fill(tmp_path / "no such file")
    with pytest.raises(OSError):
        notes_in(tmp_path, fake_time).prepared(IDENTITY, SETTINGS)
    full_disk.free()
    assert [] == list(tmp_path.iterdir())


def test_a_journal_that_cannot_be_written_is_told(
    tmp_path: Path, fake_time: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a journal the run goes on, and a sentence says what is lost and how to mend it."""
    (tmp_path / "file").write_text("")
    journal = RunJournal(tmp_path / "file" / "runs.jsonl")
    notes_in(tmp_path, fake_time, journal).prepared(IDENTITY, SETTINGS)
    assert "POWER_JOURNAL" in caplog.text
    assert load_facts(tmp_path / "log.csv") is not None
