# SPDX-License-Identifier: Apache-2.0
"""May what a meter holds be wiped? The one rule, and what it says to people."""

from __future__ import annotations

from dataclasses import replace

import pytest

from power.meter import HeldResult, Identity, IntegrationState
from power.wipe_rule import RunEntry, RunEvent, ending, leave_to_wipe, refusal, unfinished

IDENTITY = Identity("YOKOGAWA", "WT310", "91N4", "F1.03")
HELD = HeldResult(IDENTITY, IntegrationState.TIMEUP, 0.5, 360.0)
UTC = "2026-01-01T00:00:00+00:00"


def begun(log: str = "/a.csv", resource: str = "X") -> RunEntry:
    """Return the beginning of a run."""
    return RunEntry(RunEvent.BEGUN, "91N4", resource, log, UTC)


def fetched(held: HeldResult = HELD, log: str = "/a.csv", resource: str = "X") -> RunEntry:
    """Return the end of a run."""
    return ending(RunEvent.FETCHED, held, resource, log, UTC)


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
        # The first run was noted late, when another one had begun.
        ([begun(), begun("/b.csv", "Y"), fetched()], False),
        # A result of no known run, in a new log.
        ([begun(), fetched(log="/rescued.csv")], True),
        ([begun(), fetched(HeldResult(IDENTITY, IntegrationState.TIMEUP, 0.6, 360.0))], False),
        ([begun(), fetched(HeldResult(IDENTITY, IntegrationState.STOP, 0.5, 360.0))], False),
        # The charge tells, where both know one.
        ([begun(), fetched(replace(HELD, charge_ah=0.1))], True),
        ([ending(RunEvent.GIVEN_UP, HELD, "X", "", UTC)], True),
    ],
)
def test_only_the_last_known_result_is_spare(entries: list[RunEntry], spare: bool) -> None:
    """A held result may be wiped only if it is the last one that the journal knows."""
    assert spare is (leave_to_wipe(HELD, entries) is not None)


def test_the_results_of_another_meter_do_not_count() -> None:
    """A journal knows meters by their serial number."""
    other = HeldResult(Identity("YOKOGAWA", "WT310", "OTHER", ""), HELD.state, 0.5, 360.0)
    assert leave_to_wipe(other, [fetched()]) is None
    assert [] == unfinished([begun()], "OTHER")


def test_unfinished_runs_are_told_newest_first() -> None:
    """A run is unfinished from its beginning until it is fetched or given up."""
    entries = [begun("/a.csv"), begun("/b.csv"), fetched(log="/b.csv"), begun("/c.csv")]
    assert ["/c.csv"] == [entry.log for entry in unfinished(entries, "91N4")]
    entries = [begun("/a.csv"), begun("/b.csv"), fetched(log="/a.csv"), begun("/c.csv")]
    assert ["/c.csv", "/b.csv"] == [entry.log for entry in unfinished(entries, "91N4")]


@pytest.mark.parametrize(
    ("entries", "open_runs"),
    [
        # Its log was deleted, so `rescue` wrote the result into a new one.
        ([begun("/a.csv"), fetched(log="/rescued.csv")], []),
        # Nobody fetched it before the next run, which needed somebody's leave.
        ([begun("/a.csv"), begun("/b.csv"), fetched(log="/b.csv")], []),
        ([begun("/a.csv"), ending(RunEvent.GIVEN_UP, HELD, "X", "", UTC)], []),
        # A run that never started ends no other one.
        (
            [begun("/a.csv"), begun("/b.csv"), replace(begun("/b.csv"), event=RunEvent.GIVEN_UP)],
            ["/a.csv"],
        ),
        # A result that is noted a second time, late, is not that of the run since.
        ([begun("/a.csv"), fetched(), begun("/b.csv"), fetched()], ["/b.csv"]),
    ],
)
def test_a_result_ends_the_runs_before_it(entries: list[RunEntry], open_runs: list[str]) -> None:
    """A meter holds one result, so those of earlier runs are gone."""
    assert open_runs == [entry.log for entry in unfinished(entries, "91N4")]


def test_the_charge_tells_equal_results_apart() -> None:
    """Two results of equal energy, time and state are two, if their charges differ."""
    held = replace(HELD, charge_ah=0.1)
    assert leave_to_wipe(held, [fetched(held)]) is not None
    assert leave_to_wipe(held, [fetched(replace(held, charge_ah=0.2))]) is None


def test_an_integration_is_never_spare() -> None:
    """Nothing, and nobody's will, makes a running integration spare; a reset meter is free."""
    running = replace(HELD, state=IntegrationState.START)
    assert leave_to_wipe(running, [fetched(running)], discard=True) is None
    assert leave_to_wipe(HELD, [], discard=True) is not None
    assert leave_to_wipe(None, [begun()]) is not None


@pytest.mark.parametrize("state", list(IntegrationState)[1:])
def test_each_refusal_names_the_two_ways_out(state: IntegrationState) -> None:
    """A person reads how to fetch the energy, and how to give it up, with the meter's address."""
    error = refusal(replace(HELD, state=state), [begun()], "X")
    assert "python -m power rescue X" in str(error) and "the run of /a.csv" in str(error)
    assert "discard" not in str(error)
    assert "python -m power rescue X --discard" in error.whole_text()
