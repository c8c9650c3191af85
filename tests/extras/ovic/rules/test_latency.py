# SPDX-License-Identifier: Apache-2.0
"""Latencies become figures, and a measurement that moved is refused."""

from __future__ import annotations

import random

import pytest

from referee.extras.ovic.rules.latency import FEWEST_RUNS, latency_of, stability_of
from referee.extras.ovic.rules.pace import Pace, pace_of


def quiet(runs: int = 100) -> list[float]:
    """Return runs of 10 ms that scatter by 1 %."""
    chance = random.Random(3)
    return [10 * chance.uniform(0.99, 1.01) for _ in range(runs)]


def test_figures_of_known_runs():
    """Mean, median, extremes and percentiles of 0 to 100 ms are known."""
    figures = latency_of([float(ms) for ms in range(101)][::-1])
    assert (101, 50, 50, 0, 100) == (
        *(figures.runs, figures.mean, figures.median, figures.least, figures.most),
    )
    assert {1: 1, 10: 10, 25: 25, 75: 75, 90: 90, 99: 99} == figures.percentiles


def test_a_quiet_machine_is_stable():
    """Runs that scatter around one value count."""
    found = stability_of(quiet(), 0.05)
    assert found.stable
    assert found.drift < 0.02 and found.excess < 0.01


def test_a_machine_that_slows_down_is_refused():
    """A last part that is 10 % slower is drift, also where the whole scatters little."""
    times = quiet()
    times[-20:] = [1.1 * ms for ms in times[-20:]]
    found = stability_of(times, 0.05)
    assert not found.stable
    assert 0.1 == pytest.approx(found.drift, abs=0.02)
    assert "parts of the measurement differ by" in found.reasons[0]


def test_interruptions_are_refused_by_the_mean():
    """One run in ten that takes twice as long leaves the medians and moves the mean."""
    times = [2 * ms if k % 10 == 0 else ms for k, ms in enumerate(quiet())]
    (reason,) = stability_of(times, 0.05).reasons
    assert "mean is" in reason and "interrupted" in reason
    assert stability_of(times, 0.2).stable


def test_too_few_runs_prove_nothing():
    """With fewer than ten runs a part nothing is judged."""
    assert stability_of(quiet(FEWEST_RUNS), 0.05).stable
    with pytest.raises(ValueError, match="too few"):
        stability_of(quiet(FEWEST_RUNS - 1), 0.05)


@pytest.mark.parametrize(
    ("runs_ms", "pace"),
    [
        ([(40, 40), (99, 40)], Pace.FAST_ENOUGH),  # the fastest run counts
        ([(48, 48)], Pace.FAST_ENOUGH),  # the limit itself is fast enough
        ([(60, 59), (70, 58)], Pace.TOO_SLOW),  # the work alone takes too long
        ([(60, 20), (70, 58)], Pace.BUSY),  # the model waited for its core
    ],
)
def test_who_waited_for_the_core_is_not_too_slow(runs_ms, pace):
    """A model is too slow by its own work, at a limit of 48 ms."""
    assert pace is pace_of(runs_ms, 48)
