# SPDX-License-Identifier: Apache-2.0
"""To which moment an energy belongs."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from power.energy.measured_run import Run
from power.energy.moments import (
    energy_course,
    likely_moment_s,
    moments_of,
    update_numbers,
)
from power.meter import IntegrationState, MeterSettings, Reading
from tests.support.phase_trials import UPDATES_S, present_rule, trial

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)
NONE_S = np.zeros(1)


def reading(update: int, update_s: float, late_s: float, watts: float = 5.0) -> Reading:
    """Return the reading of an update of a steady direct current, and when it came."""
    at_s = update * update_s
    return Reading(
        at_s + late_s,
        NOON + timedelta(seconds=at_s + late_s),
        5.0,
        watts / 5,
        watts,
        watts * at_s / 3600,
        float(int(at_s + 1e-6)),
        IntegrationState.START,
        voltage_peak_v=5.0,
        current_peak_a=watts / 5,
    )


def ended(readings: list[Reading], length_s: float, watts: float = 5.0) -> list[Reading]:
    """Return the readings of a run with those of its end."""
    last = replace(
        readings[-1],
        monotonic_s=length_s + 0.1,
        energy_wh=watts * length_s / 3600,
        integration_s=float(int(length_s)),
        state=IntegrationState.TIMEUP,
    )
    return [*readings, last, replace(last, monotonic_s=length_s + 2.0)]


def run_of(readings: list[Reading], update_s: float) -> Run:
    """Return the run of some readings."""
    run = Run.of(readings, MeterSettings(timer_s=60, update_interval_s=update_s))
    assert run is not None
    return run


@pytest.mark.parametrize("update_s", UPDATES_S)
@pytest.mark.parametrize("share", [0.05, 0.2, 0.7, 0.95])
def test_a_reading_shows_the_update_before_it(update_s: float, share: float) -> None:
    """However late all readings are, each energy belongs to the end of its own update."""
    readings = [reading(number, update_s, share * update_s) for number in range(1, 40)]
    rows, at_s, off_s = moments_of(run_of(ended(readings, 40 * update_s), update_s), (0.0, 0.0))
    expected = rows.numbers("energy_wh") * 3600 / 5.0
    assert at_s == pytest.approx(expected, abs=2e-3 + 2e-4 * 40 * update_s)
    assert (np.abs(at_s - expected) <= off_s + 1e-6).all()


@pytest.mark.parametrize("update_s", [0.1, 0.25, 1.0, 5.0])
def test_a_late_reply_is_known_by_the_meters_own_time(update_s: float) -> None:
    """A reply that was three updates under way counts with its own update, or with none."""
    readings = [reading(number, update_s, 0.2 * update_s) for number in range(1, 60)]
    late = replace(readings[29], monotonic_s=readings[29].monotonic_s + 3 * update_s)
    kept = [*readings[:29], late, *readings[33:]]
    run = run_of(ended(kept, 60 * update_s), update_s)
    course = energy_course(run, (0.0, 0.0), (60 * update_s, 60 * update_s))
    assert course is not None
    assert course.energy_wh * 3600 / 5.0 == pytest.approx(course.at_s, abs=1e-9)


def test_the_number_of_an_update_has_four_bounds() -> None:
    """TIME, our clock, the question before, and an energy that grew, bound it from both sides."""
    passed_s = np.array([0.12, 0.25, 0.55, 1.05])
    counted_s = np.array([0.0, 0.0, 0.0, 1.0])
    energy_wh = np.array([1.0, 2.0, 3.0, 9.0])
    least, most = update_numbers(passed_s, counted_s, energy_wh, 0.1, np.full(4, 1e-3))
    assert [1, 2, 3, 10] == least.tolist()
    assert [1, 2, 5, 10] == most.tolist()


def test_a_row_that_did_not_begin_with_the_start_is_told() -> None:
    """Where readings show what was still to come, an energy is up to an update old, and says so."""
    readings = [
        replace(reading(number, 1.0, 0.0), monotonic_s=number - 0.4) for number in range(1, 30)
    ]
    _, at_s, off_s = moments_of(run_of(ended(readings, 30.0), 1.0), (0.0, 0.0))
    assert off_s == pytest.approx(0.5)
    assert at_s == pytest.approx([number - 0.9 for number in range(1, 30)])


@pytest.mark.parametrize("ppm", [0, 50, -50, 200, -280])
def test_clocks_that_drift_apart_are_followed(ppm: int) -> None:
    """Over an hour a meter 50 ppm slow has its energies 180 ms later, and the error is told.

    The timer of the meter is good to 200 ppm, and a computer's clock to 100.
    """
    drift = 1 + ppm * 1e-6
    readings = [
        replace(reading(number, 1.0, 0.0), monotonic_s=number * drift + 0.2)
        for number in range(1, 3600)
    ]
    _, at_s, off_s = moments_of(run_of(ended(readings, 3600.0), 1.0), (0.0, 0.0))
    true_s = np.arange(1, 3600) * drift
    assert (np.abs(at_s - true_s) <= off_s + 1e-6).all()
    assert off_s.max() < 0.06
    assert at_s[-1] - 3599 == pytest.approx(3599 * (drift - 1), abs=0.02)


def test_a_steady_update_is_even_and_a_mixed_one_is_not() -> None:
    """The crest factor tells them apart: only the second has a ± from within the update."""
    readings = [reading(number, 1.0, 0.2) for number in range(1, 30)]
    readings[14] = replace(readings[14], current_a=1.2, current_peak_a=2.0)
    course = energy_course(run_of(ended(readings, 30.0), 1.0), (0.0, 0.0), (30.0, 30.0))
    assert course is not None
    assert course.until(10.5).within_wh < 0.01 * 5.0 * 0.5 / 3600
    assert course.until(14.5).within_wh > 0.2 * 5.0 * 0.5 / 3600
    assert course.until(20.5).energy_wh == pytest.approx(5.0 * 20.5 / 3600)


@pytest.mark.parametrize(
    ("passed_s", "counted_s", "update_s", "moment_s"),
    [
        (7.9, 5.0, 5.0, 5.0),
        (10.01, 5.0, 5.0, 5.0),  # it was under way when the next update came
        (1.52, 1.0, 0.25, 1.5),
        (3.7, None, 1.0, 3.0),
        (0.3, 0.0, 1.0, 0.0),
    ],
)
def test_one_reading_tells_its_likely_moment(
    passed_s: float, counted_s: float | None, update_s: float, moment_s: float
) -> None:
    """It is the newest update, unless TIME tells another one."""
    assert moment_s == pytest.approx(likely_moment_s(passed_s, counted_s, update_s))


@pytest.mark.slow
@pytest.mark.parametrize("update_s", UPDATES_S)
def test_random_loads_and_marks_are_within_their_limits(update_s: float) -> None:
    """At each update interval 95 % of all phases are, and none is beyond twice its ±."""
    rng = random.Random(f"test {update_s}")
    found = [one for _ in range(5) for one in trial(rng, update_s, present_rule)]
    within = sum(one.error <= 1 for one in found)
    assert within >= 0.95 * len(found)
    assert max(one.error for one in found) <= 2
