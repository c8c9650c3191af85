# SPDX-License-Identifier: Apache-2.0
"""How long an integration lasted, and what is divided by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.energy.duration import (
    Duration,
    carried,
    decimals_carried,
    duration_of,
    mean_power,
    written,
)
from power.energy.judge import facts_from_json, facts_to_json, judge_run
from power.meter import IntegrationState, MeterSettings

STOP, TIMEUP = IntegrationState.STOP, IntegrationState.TIMEUP


@pytest.mark.parametrize(
    ("counted_s", "state", "known", "low_s", "high_s"),
    [
        (600.0, TIMEUP, {}, 600.0, 600.0),
        (4.0, STOP, {"stopped_s": (4.51, 4.53)}, 4.51, 4.53),
        (4.0, STOP, {"stopped_s": (3.9, 6.1)}, 4.0, 5.0),  # a STOP that was sent again
        (4.0, STOP, {"stopped_s": (7.0, 7.1)}, 4.0, 5.0),  # the clocks contradict each other
        (35992.0, STOP, {"stopped_s": (36000.0, 36000.01)}, 35993.0, 36000.0),  # 200 ppm slow
        (4.0, STOP, {"session_s": 4.5}, 4.0, 5.0),
        (4.0, STOP, {"session_s": 4.5, "seen_s": 4.6}, 4.38, 4.62),
        (4.0, STOP, {}, 4.0, 5.0),
        (599.0, STOP, {"session_s": 599.97}, 599.94, 600.0),  # no longer than the timer
        (4.625, STOP, {}, 4.625, 4.625),  # a program integrates
        (600.0, None, {"session_s": 600.0}, 600.0, 600.0),
    ],
)
def test_everything_that_is_known_narrows_a_duration(
    counted_s: float, state: IntegrationState | None, known: Any, low_s: float, high_s: float
) -> None:
    """TIME is whole seconds cut off; timer, STOP, wish and readings tell the rest."""
    lasted = duration_of(counted_s, state, timer_s=600, **known)
    assert lasted is not None
    assert (low_s, high_s) == pytest.approx((lasted.low_s, lasted.high_s))


def test_no_time_is_no_duration() -> None:
    """A meter that tells no TIME has none, and a run of less than a second no mean power."""
    assert duration_of(None, STOP, timer_s=600) is None
    assert duration_of(float("nan"), STOP, timer_s=600) is None
    assert (None, None) == mean_power(1.0, duration_of(0.0, STOP, timer_s=600))
    assert (None, None) == mean_power(None, Duration(5.0))


def test_a_figure_has_no_digit_that_its_duration_does_not_carry() -> None:
    """The last digit is that of the limit's first one."""
    assert 5.0 == carried(4.9876, 0.3)
    assert 4.99 == carried(4.9876, 0.012)
    assert 4.9876543210123 == carried(4.9876543210123, 0.0)
    assert 1230.0 == carried(1234.5, 12.0)
    assert 5.0 == carried(4.6, 20.0)  # the first digit stays
    assert (1, 12) == (decimals_carried(4.9876, 0.3), decimals_carried(4.9876, 0.0))
    assert ("5.0", "4.988", "1230", "600") == (
        written(4.9876, 0.3),
        written(4.98765, 0.0, 4),
        written(1234.5, 12.0),
        written(600.0, 0.0),
    )


@pytest.mark.parametrize("update_s", [0.25, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("seconds", [0.7, 4.53, 9.99, 12.02])
def test_a_run_that_was_stopped_has_its_mean_power(
    make_bench: Callable[..., Any], tmp_path: Path, update_s: float, seconds: float
) -> None:
    """A steady 5 W is 5 W, whenever somebody ends the run, and again from its facts."""
    bench = make_bench()
    begun: list[float] = []

    def should_stop() -> bool:
        return bool(begun) and bench.time.now >= begun[0] + seconds

    def sleep(asked_s: float) -> None:
        left_s = begun[0] + seconds - bench.time.now if begun else asked_s
        bench.time.sleep(min(asked_s, left_s) if 0 < left_s else asked_s)

    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=sleep)
    recording = recorder.record(
        MeterSettings(
            timer_s=60, update_interval_s=update_s, voltage_range_v=150.0, current_range_a=0.1
        ),
        tmp_path / "log.csv",
        should_stop=should_stop,
        on_start=lambda identity, settings, start: begun.append(start.sent_s),
    )
    result = recording.result
    assert STOP is result.end_state
    assert result.duration is not None
    assert result.mean_power_w is not None and result.mean_power_uncertainty_w is not None
    assert abs(result.mean_power_w - 5.0) <= result.mean_power_uncertainty_w + 3e-5 * 5.0
    assert result.duration.off_s < 0.11
    assert recording.stopped_s is not None


def test_facts_keep_when_our_stop_was(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """A judgement from the facts has the same duration; facts of 1.0 tell no such thing."""
    bench = make_bench()
    seen: list[float] = []
    recorder = Recorder(
        bench.meter,
        clock=bench.time.clock,
        sleep=bench.time.sleep,
        progress=lambda reading, elapsed_s: seen.append(elapsed_s),
    )
    settings = MeterSettings(timer_s=60, voltage_range_v=150.0, current_range_a=0.1)
    recording = recorder.record(settings, tmp_path / "log.csv", should_stop=lambda: len(seen) >= 4)
    from power.energy.judge import RunFacts

    facts = RunFacts(recording.identity, recording.settings, stopped_s=recording.stopped_s)
    facts = facts.ended(recording.result.session_s, recording.readings[-1])
    told = facts_to_json(facts)
    assert facts == facts_from_json(told)
    assert judge_run(recording.readings, facts).duration == recording.result.duration
    assert "stopped_s" not in facts_to_json(RunFacts(None, settings))
    with pytest.raises(ValueError, match="least and the most"):
        facts_from_json({**told, "stopped_s": [5.0, 4.0]})
