# SPDX-License-Identifier: Apache-2.0
"""OVIC's leaderboard: the best entry of each team, ties, and entries that are too slow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.extras.ovic.rules.leaderboard import ScoredEntry, leaderboard
from referee.extras.ovic.rules.score import DETECTION_2020, ovic_score


def rows(*entries):
    """Return (rank, team, entry, entries) of each row of the leaderboard."""
    scored = [ScoredEntry(number, *entry) for number, entry in enumerate(entries, 1)]
    return [
        (row.rank, row.entry.team, row.entry.entry_id, row.entries)
        for row in leaderboard(DETECTION_2020, scored)
    ]


def test_no_entry_is_an_empty_board():
    """Without entries there are no rows."""
    assert [] == rows()


def test_a_team_has_its_best_entry():
    """The highest metric counts, not the highest accuracy nor the newest entry."""
    assert [(1, "ants", 2, 3)] == rows(("ants", 25.0, 36.0), ("ants", 24.0, 24.0), ("ants", 1, 24))


def test_equal_metrics_share_a_rank():
    """Equal teams share a rank, the next rank is left out, and the earlier one stands first."""
    found = rows(
        ("bees", 20.0, 20.0), ("ants", 20.0, 24.0), ("wasps", 19.0, 24.0), ("flies", 21, 9)
    )
    # 20 ms and 24 ms are the same to the rules: both count as 24 ms.
    assert [(1, "flies", 4, 1), (2, "bees", 1, 1), (2, "ants", 2, 1), (4, "wasps", 3, 1)] == found


def test_entries_that_are_too_slow_have_no_rank():
    """A valid entry beats any invalid one; the invalid ones follow by latency."""
    found = rows(("ants", 90.0, 40.0), ("bees", 1.0, 36.0), ("wasps", 95.0, 36.1))
    assert [(1, "bees", 2, 1), (None, "wasps", 3, 1), (None, "ants", 1, 1)] == found


ENTRIES = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 100), st.integers(1, 60)), max_size=15
)


@given(ENTRIES)
def test_the_board_is_what_its_rule_says(entries):
    """Each team has one row with its highest metric, and a rank is 1 plus the better teams."""
    found = leaderboard(
        DETECTION_2020, [ScoredEntry(n, *entry) for n, entry in enumerate(entries, 1)]
    )
    best = {}
    for team, accuracy, latency_ms in entries:
        metric = ovic_score(DETECTION_2020, accuracy, latency_ms).metric
        if metric is not None:
            best[team] = max(metric, best.get(team, metric))
    assert {entry[0] for entry in entries} == {row.entry.team for row in found}
    assert len(found) == len({row.entry.team for row in found})
    for row in found:
        mine = best.get(row.entry.team)
        assert mine == row.score.metric
        assert row.rank == (
            None if mine is None else 1 + sum(other > mine for other in best.values())
        )
