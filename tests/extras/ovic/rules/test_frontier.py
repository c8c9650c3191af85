# SPDX-License-Identifier: Apache-2.0
"""A frontier is estimated from the Pareto front of baselines; a bad one moves it little."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.extras.ovic.rules.frontier import Baseline, estimate_frontier, pareto_front
from referee.extras.ovic.rules.score import Frontier

TRUE = Frontier(16.9, -34.4)


def on_the_line(*latencies_ms: float) -> list[Baseline]:
    """Return baselines exactly on the true frontier."""
    return [Baseline(f"m{ms:g}", ms, TRUE.at(ms)) for ms in latencies_ms]


def test_baselines_on_a_line_give_the_line():
    """Baselines on a frontier, and others behind it, give that frontier back."""
    behind = [Baseline("old", 30, 15), Baseline("slow", 60, 20)]
    estimate = estimate_frontier([*on_the_line(12, 20, 30, 40), *behind])
    assert (TRUE.k, TRUE.a0) == pytest.approx((estimate.frontier.k, estimate.frontier.a0))
    assert ["m12", "m20", "m30", "m40"] == [it.name for it in estimate.front]
    assert ["old", "slow"] == [it.name for it in estimate.dominated]
    assert 0 == pytest.approx(estimate.spread, abs=1e-9)


def test_pareto_means_that_no_other_is_as_fast_and_as_accurate_and_better_in_one():
    """Equal latency or equal accuracy does not save the worse one; twins both stay."""
    fast, twin = Baseline("fast", 10, 20), Baseline("twin", 10, 20)
    same_speed, same_accuracy = Baseline("less", 10, 19), Baseline("slower", 11, 20)
    better = Baseline("better", 20, 30)
    front = pareto_front([better, same_speed, twin, fast, same_accuracy])
    assert [fast, twin, better] == front


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.integers(0, 100)), min_size=1, max_size=12, unique=True
    )
)
def test_the_front_rises_and_everything_behind_it_is_dominated(points):
    """Along the front accuracy rises with latency; each other baseline has a better one on it."""
    baselines = [Baseline(str(k), *map(float, point)) for k, point in enumerate(points)]
    front = pareto_front(baselines)
    for left, right in zip(front, front[1:], strict=False):
        assert left.latency_ms < right.latency_ms and left.accuracy < right.accuracy
    for it in set(baselines) - set(front):
        assert any(f.latency_ms <= it.latency_ms and f.accuracy >= it.accuracy for f in front)


def test_one_impossible_baseline_is_set_aside_and_named():
    """95 % at 5 ms would dominate all others; it is set aside and the frontier stays."""
    chance = random.Random(7)
    baselines = [
        Baseline(it.name, it.latency_ms, it.accuracy - chance.uniform(0, 1))
        for it in on_the_line(10, 14, 18, 22, 26, 30, 34, 38)
    ]
    honest = estimate_frontier(baselines).frontier
    estimate = estimate_frontier([*baselines, Baseline("typo", 5, 95)])
    assert ["typo"] == [it.name for it in estimate.set_aside]
    assert honest == estimate.frontier


def test_a_good_new_model_is_no_outlier():
    """A model three points above the others stays and is on the front."""
    estimate = estimate_frontier([*on_the_line(12, 20, 30, 40), Baseline("new", 25, 23)])
    assert () == estimate.set_aside
    assert "new" in [it.name for it in estimate.front]


def test_few_or_impossible_baselines_are_refused():
    """Fewer than three latencies on the front, or figures out of range, raise with a sentence."""
    with pytest.raises(ValueError, match="2 of 3 baselines are on the Pareto front"):
        estimate_frontier([*on_the_line(12, 20), Baseline("behind", 20, 3)])
    with pytest.raises(ValueError, match="0 of 0 baselines"):
        estimate_frontier([])
    with pytest.raises(ValueError, match="baseline bad: 20 % at 0 ms"):
        estimate_frontier([Baseline("bad", 0, 20)])
