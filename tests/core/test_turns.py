# SPDX-License-Identifier: Apache-2.0
"""The turns of teams: the lottery, who is next, and which session counts."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.states import SessionState
from referee.core.turns import (
    Attempt,
    Turn,
    WaitingTeam,
    counted_attempt,
    draw_lots,
    next_in_lanes,
    next_team,
    rearranged,
    started,
    turn_of,
)

NAMES = st.lists(st.text(min_size=1, max_size=20), unique=True, max_size=12)
S = SessionState


def attempt(session_id, state, *, begun=True, reason=None):
    """Return an attempt that has started, unless it says otherwise."""
    return Attempt(session_id, state, begun, reason)


def test_a_stranger_gets_the_same_order_with_a_shell():
    """sha256sum over seed, line feed and name gives each team's digest."""
    lots = draw_lots(["ants", "Größe 蟻"], "7 June, noon")
    assert 2 == len(lots)
    for lot in lots:
        command = f"printf '7 June, noon\\n{lot.name}' | sha256sum"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert lot.digest == done.stdout.split()[0]


@given(NAMES, st.text(max_size=10), st.randoms())
def test_the_order_of_registration_does_not_matter(names, seed, chance):
    """The drawn order depends on names and seed alone, and has each team once."""
    mixed = list(names)
    chance.shuffle(mixed)
    drawn = [lot.name for lot in draw_lots(names, seed)]
    assert sorted(names) == sorted(drawn)
    assert drawn == [lot.name for lot in draw_lots(mixed, seed)]


def test_every_team_may_be_first():
    """Over many seeds each of four teams is first about as often as the others."""
    firsts = [draw_lots("abcd", str(seed))[0].name for seed in range(2000)]
    assert all(400 < firsts.count(name) < 600 for name in "abcd")


@given(NAMES, st.data())
def test_a_rearranged_order_keeps_every_team(names, data):
    """Moved teams lead in their order, and the others follow in theirs."""
    first = data.draw(st.permutations(names).map(lambda all_: all_[: len(all_) // 2]))
    found = rearranged(names, first)
    assert first == found[: len(first)]
    assert [name for name in names if name not in first] == found[len(first) :]


@pytest.mark.parametrize(
    ("attempts", "counts"),
    [
        ([], None),
        ([attempt(1, S.READY, begun=False)], None),
        ([attempt(1, S.VOID)], None),
        ([attempt(1, S.SCORED)], 1),
        ([attempt(1, S.SCORED), attempt(4, S.VOID)], 1),
        ([attempt(4, S.SCORED), attempt(1, S.SCORED)], 4),
        ([attempt(1, S.SCORED), attempt(4, S.RUNNING)], 4),
        ([attempt(1, S.SCORED), attempt(4, S.ARMED, begun=False)], 1),
        ([attempt(1, S.SEALED), attempt(2, S.VOID, begun=False)], 1),
    ],
)
def test_the_newest_session_that_is_not_void_counts(attempts, counts):
    """Neither the best nor a void session counts, nor one that no team has started."""
    found = counted_attempt(attempts)
    assert counts == (None if found is None else found.session_id)


@pytest.mark.parametrize(
    ("attempts", "withdrawn", "turn"),
    [
        ([], False, Turn.WAITING),
        ([attempt(1, S.READY, begun=False)], False, Turn.WAITING),
        ([attempt(1, S.ARMED, begun=False)], False, Turn.ON),
        ([attempt(1, S.RUNNING)], False, Turn.ON),
        ([attempt(1, S.RUNNING)], True, Turn.ON),
        ([attempt(1, S.ENDED)], False, Turn.RAN),
        ([attempt(1, S.VOID)], False, Turn.WAITING),
        ([attempt(1, S.SCORED)], True, Turn.WITHDRAWN),
        ([], True, Turn.WITHDRAWN),
    ],
)
def test_a_team_has_one_turn(attempts, withdrawn, turn):
    """A void session gives the team its turn back; a live one shows whatever else is true."""
    assert turn is turn_of(attempts, withdrawn=withdrawn)


def test_only_started_sessions_are_attempts():
    """A session that was voided before the login is no attempt."""
    sessions = [attempt(1, S.VOID, begun=False), attempt(2, S.VOID), attempt(3, S.SCORED)]
    assert [2, 3] == [one.session_id for one in started(sessions)]


def test_the_next_team_is_the_first_that_waits():
    """Teams that ran, run or have withdrawn are passed over."""
    turns = dict(zip("abcd", [Turn.RAN, Turn.ON, Turn.WITHDRAWN, Turn.WAITING], strict=True))
    assert "d" == next_team("abcd", turns)
    assert next_team("abc", turns) is None


def waiting(text):
    """Return teams that wait: 'ant' takes any lane, 'bee1' runs in lane 1 only."""
    return [
        WaitingTeam(word.rstrip("123"), int(word[-1]) if word[-1].isdigit() else None)
        for word in text.split()
    ]


@pytest.mark.parametrize(
    ("order", "free", "busy", "expected"),
    [
        ("", [1, 2], [], {}),
        ("ant", [1, 2], [], {1: "ant"}),
        ("ant bee cat", [1, 2], [], {1: "ant", 2: "bee"}),
        ("ant bee1 cat", [1, 2], [], {1: "bee", 2: "ant"}),
        ("ant1 bee1 cat", [1, 2], [], {1: "ant", 2: "cat"}),
        ("ant1 bee1", [1, 2], [], {1: "ant"}),
        # A free lane takes the first team that may run there, and nobody overtakes it.
        ("ant bee1 cat", [1], [2], {1: "ant", 2: "cat"}),
        ("ant2 bee cat", [1], [2], {1: "bee", 2: "ant"}),
        # The lane that becomes free first takes the first team.
        ("ant bee cat", [], [2, 1], {2: "ant", 1: "bee"}),
        ("ant1 bee", [], [2, 1], {2: "bee", 1: "ant"}),
        # A lane that is not declared any more.
        ("ant3 bee", [1, 2], [], {1: "bee"}),
    ],
)
def test_each_lane_has_its_next_team(order, free, busy, expected):
    """A team is next in one lane only, where it may run; the order of the teams decides."""
    assert expected == next_in_lanes(waiting(order), free, busy)


@given(
    st.lists(st.sampled_from([None, 0, 1, 2, 3]), max_size=8),
    st.permutations([1, 2, 3]),
    st.integers(0, 3),
)
def test_lanes_are_filled_by_the_running_order(bound, lanes, free):
    """Nobody runs in a wrong lane or in two, and who is passed over could not have run."""
    teams = [WaitingTeam(str(n), lane) for n, lane in enumerate(bound)]
    found = next_in_lanes(teams, lanes[:free], lanes[free:])
    assert len(set(found.values())) == len(found)
    lane_of = {name: lane for lane, name in found.items()}
    for team in teams:
        if team.name in lane_of:
            assert team.lane in (None, lane_of[team.name])
        elif team.lane is None:
            assert len(found) == 3
        else:
            assert team.lane == 0 or team.lane in found
