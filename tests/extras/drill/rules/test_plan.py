# SPDX-License-Identifier: Apache-2.0
"""The plan of a drill: a seed decides it, and each fault comes once its time has come."""

from __future__ import annotations

import pytest

from referee.extras.drill.rules.faults import BY_NAME, FAULTS
from referee.extras.drill.rules.plan import Planned, draw_plan, due

CABLE, CUT = BY_NAME["meter-unplugged"], BY_NAME["power-cut"]


def test_the_same_seed_gives_the_same_plan():
    """A trainer can give the same drill to the next pair."""
    plans = [draw_plan([], FAULTS, 6, seed) for seed in (7, 7, 8)]
    assert plans[0] == plans[1] != plans[2]


@pytest.mark.parametrize("sessions", [1, 4, len(FAULTS), len(FAULTS) + 3])
def test_without_names_each_session_has_one_fault(sessions):
    """No fault comes twice before all have come, and each comes in the first half."""
    plan = draw_plan([], FAULTS, sessions, 3)
    assert list(range(1, sessions + 1)) == [one.turn for one in plan]
    first = [one.fault.name for one in plan[: len(FAULTS)]]
    assert len(first) == len(set(first))
    assert all(0.15 <= one.share <= 0.5 for one in plan)


@pytest.mark.parametrize(
    ("named", "sessions", "turns"),
    [
        ([CABLE], 1, [1]),
        ([CABLE, CUT], 2, [1, 2]),
        ([CABLE, CUT], 4, [1, 2]),
        ([CABLE, CUT, CABLE], 1, [1, 1, 1]),
        ([CABLE, CUT, CABLE, CUT], 2, [1, 1, 2, 2]),
    ],
)
def test_named_faults_come_in_their_order(named, sessions, turns):
    """They are spread over the sessions; those of one session come one after the other."""
    plan = draw_plan(named, FAULTS, sessions, 1)
    assert named == [one.fault for one in plan]
    assert turns == [one.turn for one in plan]
    shares = [one.share for one in plan if one.turn == 1]
    assert shares == sorted(shares) and max(shares) <= 0.9


def test_a_machine_without_faults_has_an_empty_plan():
    """Nothing can come, so the drill is an undisturbed rehearsal."""
    assert [] == draw_plan([], [], 4, 1)


PLAN = [Planned(CABLE, 1, 0.4), Planned(CUT, 2, 0.5)]


@pytest.mark.parametrize(
    ("done", "turn", "share", "wanted"),
    [
        (0, 1, 0.39, None),
        (0, 1, 0.4, CABLE),
        (1, 1, 0.9, None),  # its session has not come
        (1, 2, 0.49, None),
        (1, 2, 0.5, CUT),
        (0, 2, 0.15, CABLE),  # the first session ended too early
        (0, 2, 0.14, None),
        (2, 3, 0.9, None),
    ],
)
def test_a_fault_is_due_in_its_session_or_a_later_one(done, turn, share, wanted):
    """It comes when so much of its session has run, and early in a later session."""
    found = due(PLAN, done, turn, share)
    assert wanted == (None if found is None else found.fault)
