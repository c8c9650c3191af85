# SPDX-License-Identifier: Apache-2.0
"""A load that gives power back: both directions, in fake time on the emulated meter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder, Recording
from power.emulator.profile import LoadProfile
from power.energy.judge import (
    RunFacts,
    Verdict,
    facts_from_json,
    facts_to_json,
    judge_energy,
    judge_run,
)
from power.energy.verdict import invalid, result_to_json, with_findings
from power.logs.power_log import read_power_log
from power.meter import MeterSettings
from power.quantities import BOTH_WAYS

SETTINGS = MeterSettings(
    timer_s=12,
    update_interval_s=0.25,
    voltage_range_v=150.0,
    current_range_a=0.1,
    quantities=BOTH_WAYS,
    both_ways=True,
)
# It takes and gives within updates, too: 0.13 s and 0.07 s fall between two of them.
WATTS = (8.0, -6.0, 3.0, -7.5, 0.4, -2.0)
PROFILE = LoadProfile((0.0, 2.13, 5.2, 7.07, 9.01, 11.3), WATTS)


def true_wh(sign: int) -> float:
    """Return what the load really took (1) or gave (-1) in 12 s."""
    parts = PROFILE.segments(0.0, 12.0)
    return sum(seconds * watts for seconds, watts in parts if sign * watts > 0) / 3600


def record(bench: Any, path: Path, settings: MeterSettings = SETTINGS) -> Recording:
    """Record a run in the bench's time."""
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    return recorder.record(settings, path)


def test_both_directions_are_those_of_the_load(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """WH+ and WH− are the profile's integrals within 10 ppm, and VALID with a ± each."""
    path = tmp_path / "log.csv"
    recording = record(make_bench(PROFILE), path)
    result = recording.result
    assert (Verdict.VALID, ()) == (
        result.verdict,
        tuple(one for one in result.findings if one.severity is not Verdict.VALID),
    )
    found = result_to_json(result)
    assert found["energy_positive_wh"] == pytest.approx(true_wh(1), rel=1e-5)
    assert found["energy_negative_wh"] == pytest.approx(true_wh(-1), rel=1e-5)
    assert result.energy_wh == pytest.approx(true_wh(1) + true_wh(-1), rel=1e-4)
    limits_wh = [found[f"uncertainty_{name}_wh"] for name in ("positive", "negative")]
    assert all(0.001 * true_wh(1) < limit_wh < 0.02 * true_wh(1) for limit_wh in limits_wh)
    assert sum(limits_wh) >= (result.uncertainty_wh or 0.0)
    assert found["charge_ah"] is not None
    facts = RunFacts(recording.identity, recording.settings)
    facts = facts_from_json(facts_to_json(facts.ended(12.0, recording.readings[-1])))
    assert found == result_to_json(judge_run(read_power_log(path), facts)), "a log tells the same"


def test_a_contest_still_finds_negative_power(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """Whoever does not expect it learns of each negative power."""
    plain = replace(SETTINGS, quantities=(), both_ways=False)
    result = record(make_bench(PROFILE), tmp_path / "log.csv", plain).result
    assert {"negative_power", "energy_went_back"} <= {one.code for one in result.findings}
    assert "energy_positive_wh" not in result_to_json(result)


def test_a_load_that_only_gives_is_valid(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """A generator has no positive energy, and its ± is nearly nothing."""
    result = record(make_bench(LoadProfile((0.0,), (-5.0,))), tmp_path / "log.csv").result
    assert Verdict.VALID is result.verdict, result.findings
    assert result.energy_wh == pytest.approx(-5.0 * 12 / 3600, rel=1e-5)
    assert (0.0, 0.0) == tuple(
        result.both_ways[name] for name in ("energy_positive_wh", "uncertainty_positive_wh")
    )


def test_nothing_that_flows_is_no_load(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """A load that is not there is found here, too."""
    result = record(make_bench(LoadProfile((0.0,), (0.0,))), tmp_path / "log.csv").result
    assert "no_load" in {one.code for one in result.findings}
    assert None is result.both_ways["energy_positive_wh"]


def test_directions_that_are_wrong_are_told(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """Directions that are missing, or do not add up, make the energy SUSPECT."""
    record(make_bench(PROFILE), tmp_path / "log.csv")
    rows = read_power_log(tmp_path / "log.csv")
    for quantities, code in (
        ({}, "parts_missing"),
        ({**rows[-1].quantities, "WHP": 0.1}, "parts_differ"),
    ):
        readings = [*rows[:-1], replace(rows[-1], quantities=quantities)]
        result = judge_energy(readings, session_s=12.0, settings=SETTINGS)
        assert code in {one.code for one in result.findings}


def test_an_energy_that_is_withdrawn_takes_its_parts_along(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """An INVALID run has neither direction."""
    result = record(make_bench(PROFILE), tmp_path / "log.csv").result
    withdrawn = with_findings(result, [invalid("test", "No.")])
    assert {None} == set(withdrawn.both_ways.values())
