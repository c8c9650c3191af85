# SPDX-License-Identifier: Apache-2.0
"""The journal of runs: what it keeps, and what it says about a held result."""

from __future__ import annotations

from pathlib import Path

import pytest

from power.logs.journal import Entry, Event, Held, Journal, ending, is_spare, unfinished
from power.meter import Identity, IntegrationState
from tests.support.full_disk import FullDisk

IDENTITY = Identity("YOKOGAWA", "WT310", "91N4", "F1.03")
HELD = Held(IDENTITY, IntegrationState.TIMEUP, 0.5, 360.0)
UTC = "2026-01-01T00:00:00+00:00"


def begun(log: str = "/a.csv", resource: str = "X") -> Entry:
    """Return the beginning of a run."""
    return Entry(Event.BEGUN, "91N4", resource, log, UTC)


def fetched(held: Held = HELD, log: str = "/a.csv", resource: str = "X") -> Entry:
    """Return the end of a run."""
    return ending(Event.FETCHED, held, resource, Path(log), UTC)


def test_what_is_noted_is_read_again(tmp_path: Path) -> None:
    """Every line comes back, in order, also after half a line of a killed program."""
    path = tmp_path / "state" / "runs.jsonl"
    journal = Journal(path)
    assert [] == journal.entries()
    journal.note(begun())
    with open(path, "ab") as file:
        file.write(b"[" * 100_000 + b'\n{"event": "fetc')
    journal.note(fetched())
    assert [begun(), fetched()] == journal.entries()
    assert 0 == path.stat().st_mode & 0o077


def test_no_journal_keeps_nothing() -> None:
    """A journal without a path takes every line and returns none."""
    journal = Journal(None)
    journal.note(begun())
    assert [] == journal.entries()


def test_a_full_disk_is_an_error(tmp_path: Path, full_disk: FullDisk) -> None:
    """A line that is not on the disk is not noted."""
    path = tmp_path / "runs.jsonl"
    full_disk.fill(path)
    with pytest.raises(OSError, match="runs.jsonl"):
        Journal(path).note(begun())


@pytest.mark.parametrize(
    ("entries", "spare"),
    [
        ([], False),
        ([begun()], False),
        ([begun(), fetched()], True),
        # A later run that nobody finished may have the same energy.
        ([begun(), fetched(), begun("/b.csv")], False),
        # One meter has several addresses, so a run that began at another one counts.
        ([begun(), fetched(), begun("/b.csv", "Y")], False),
        ([begun(), fetched(), begun("/b.csv", "Y"), fetched(log="/b.csv", resource="Y")], True),
        ([begun(), fetched(Held(IDENTITY, IntegrationState.TIMEUP, 0.6, 360.0))], False),
        ([begun(), fetched(Held(IDENTITY, IntegrationState.STOP, 0.5, 360.0))], False),
        ([ending(Event.GIVEN_UP, HELD, "X", None, UTC)], True),
    ],
)
def test_only_the_last_known_result_is_spare(entries: list[Entry], spare: bool) -> None:
    """A held result may be wiped only if it is the last one that the journal knows."""
    assert spare is is_spare(HELD, entries)


def test_the_results_of_another_meter_do_not_count() -> None:
    """A journal knows meters by their serial number."""
    other = Held(Identity("YOKOGAWA", "WT310", "OTHER", ""), HELD.state, 0.5, 360.0)
    assert not is_spare(other, [fetched()])
    assert [] == unfinished([begun()], "OTHER")


def test_unfinished_runs_are_told_newest_first() -> None:
    """A run is unfinished from its beginning until it is fetched or given up."""
    entries = [begun("/a.csv"), begun("/b.csv"), fetched(log="/b.csv"), begun("/c.csv")]
    assert ["/c.csv", "/a.csv"] == [entry.log for entry in unfinished(entries, "91N4")]
