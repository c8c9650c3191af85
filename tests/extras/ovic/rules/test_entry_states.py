# SPDX-License-Identifier: Apache-2.0
"""The states of an entry, and the order in which entries have their turns."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from referee.extras.ovic.rules.entry_states import (
    BUSY,
    HAS_SCORE,
    MOVES,
    EntryState,
    line,
    measurement_line,
    next_entry,
)

R, W, A = EntryState.RECEIVED, EntryState.WAITING, EntryState.AGAIN
OVER = (EntryState.REFUSED, EntryState.SCORED, EntryState.FAILED, EntryState.VOID)


@dataclass(frozen=True)
class Standing:
    """An entry as the line knows it."""

    entry_id: int
    state: EntryState
    tries: int = 0


def test_every_state_but_void_can_be_left():
    """Each state has moves, but for VOID; entries that are over move by an operator alone."""
    assert set(EntryState) == set(MOVES)
    assert [EntryState.VOID] == [state for state, moves in MOVES.items() if not moves]
    assert {"again", "struck", "voided"} == {kind for state in OVER for kind in MOVES[state]}


def test_a_running_model_can_end_in_every_way():
    """From each busy state an entry can be given back, given up, and voided."""
    back = dict(zip(BUSY, (R, W, A), strict=True))
    for state in BUSY:
        ends = {"kept"} if state is EntryState.REMEASURING else {"refused", "failed"}
        assert {"interrupted", "stopped", "voided", *ends} <= MOVES[state].keys()
        assert MOVES[state]["interrupted"] is MOVES[state]["stopped"] is back[state]


def test_a_score_is_lost_by_an_operator_alone():
    """From a state with a score each move but `voided` leads to a state with a score."""
    for state in HAS_SCORE:
        lost = {kind for kind, after in MOVES[state].items() if after not in HAS_SCORE}
        assert {"voided"} == lost


def test_those_without_a_score_are_measured_first():
    """A round delays no new entry, and within each group the line is as ever."""
    entries = [Standing(1, A), Standing(2, A, 1), Standing(3, W, 2), Standing(4, R), Standing(5, W)]
    assert [5, 3, 1, 2] == [entry.entry_id for entry in measurement_line(entries)]
    assert 5 == next_entry(entries, R).entry_id
    assert 4 == next_entry(entries, A).entry_id


def test_the_line_is_by_number_but_interrupted_entries_stand_behind():
    """An entry that was interrupted waits for those that were interrupted less often."""
    entries = [Standing(1, W, 2), Standing(2, W, 1), Standing(3, R), Standing(4, W), Standing(5, W)]
    assert [4, 5, 2, 1] == [entry.entry_id for entry in line(entries, W)]


def test_nobody_is_next_in_an_empty_line():
    """Without standing entries nobody is next."""
    over = [Standing(n, state) for n, state in enumerate((*OVER, *BUSY))]
    assert next_entry([], R) is next_entry(over, W) is None


@given(st.lists(st.sampled_from([R, W]), min_size=1, max_size=12), st.sampled_from([R, W]))
def test_both_lines_take_turns(states, last):
    """While both lines have entries they are served in turns, so no line waits for the other."""
    entries = [Standing(number, state) for number, state in enumerate(states)]
    while entries:
        found = next_entry(entries, last)
        both = {R, W} == {entry.state for entry in entries}
        assert not both or found.state is not last
        assert found == line(entries, found.state)[0]
        entries.remove(found)
        last = found.state
