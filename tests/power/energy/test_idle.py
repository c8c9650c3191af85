# SPDX-License-Identifier: Apache-2.0
"""A device that works while the meter sees nothing of it is found, and an idle device is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from power.energy.idle import IDLE_LEAST_S, Idle, idle_times, is_at_work
from power.energy.verdict import Verdict
from power.meter import IntegrationState, MeterSettings, Reading

UPDATE_S = 0.5


@pytest.fixture
def settings(fixed_settings: MeterSettings) -> MeterSettings:
    """Return the settings of runs that are read every half second."""
    return replace(fixed_settings, update_interval_s=UPDATE_S)


@pytest.fixture
def make_run(make_reading: Callable[..., Reading]) -> Callable[..., list[Reading]]:
    """Return a maker of 20 s of readings: the device draws nothing in a part of them."""

    def make(idle_from: float, idle_to: float, idle_w: float = 0.0) -> list[Reading]:
        times = [UPDATE_S * (k + 1) for k in range(40)]
        return [
            make_reading(at_s, power_w=idle_w if idle_from <= at_s <= idle_to else 6.0)
            for at_s in times
        ]

    return make


def every(step_s: float, to_s: float = 20.0) -> list[float]:
    """Return the times of work that arrives steadily."""
    return [step_s * k for k in range(int(to_s / step_s))]


def found(
    readings: Sequence[Reading], settings: MeterSettings, work_s: Sequence[float]
) -> list[tuple[float, float]]:
    """Return when the rule finds idle times."""
    return [(it.from_s, it.to_s) for it in at_work(readings, settings, work_s)]


def at_work(
    readings: Sequence[Reading], settings: MeterSettings, work_s: Sequence[float]
) -> list[Idle]:
    """Return the idle times in which work arrived."""
    times = idle_times(readings, settings, None)
    return [it for it in times if is_at_work(it, work_s, settings.update_interval_s)]


def test_work_without_power_is_found(make_run, settings):
    """Power at the meter's error for five seconds with requests makes the energy INVALID."""
    times = at_work(make_run(5, 5 + IDLE_LEAST_S), settings, every(0.3))
    assert [(5.0, 5 + IDLE_LEAST_S)] == [(it.from_s, it.to_s) for it in times]
    finding = times[0].finding()
    assert ("no_load_at_work", Verdict.INVALID) == (finding.code, finding.severity)
    assert "5.0 s, from second 5.0 on" in finding.text


def test_a_shorter_time_is_none(make_run, settings):
    """One update less than five seconds is no finding."""
    assert [] == found(make_run(5, 5 + IDLE_LEAST_S - UPDATE_S), settings, every(0.3))


def test_a_device_that_is_switched_off_after_its_work_is_none(make_run, settings):
    """Without requests, 0 W says that the device is off: that is allowed."""
    assert [] == found(make_run(5, 20), settings, every(0.3, to_s=5.0))


@pytest.mark.parametrize("work_s", [[5.2, 5.4], [9.2, 9.9], [7.0], []])
def test_work_at_the_edges_or_a_single_piece_is_none(make_run, settings, work_s):
    """A reading is old, and one piece of work may have been on its way: neither proves anything."""
    assert [] == found(make_run(5, 10), settings, work_s)


def test_power_above_the_meters_error_is_none(make_run, settings):
    """A device that draws little is measured: 0.1 W is above the error of a range of 15 W."""
    assert [] == found(make_run(5, 15, idle_w=0.1), settings, every(0.3))
    assert [] != found(make_run(5, 15, idle_w=0.001), settings, every(0.3))


def test_what_nobody_read_is_none(make_run, settings):
    """A gap in the readings, or readings without a number, may hide any power."""
    rows = make_run(5, 12)
    assert [] == found([row for row in rows if not 7 < row.monotonic_s < 10], settings, every(0.3))
    rows = [replace(row, power_w=None) if 8 < row.monotonic_s < 9 else row for row in rows]
    assert [] == found(rows, settings, every(0.3))


def test_only_the_run_counts(make_run, settings):
    """Before the start and after the end of the integration nobody needs power."""
    over = [replace(row, state=IntegrationState.STOP) for row in make_run(5, 15)]
    assert [] == found(over, settings, every(0.3))
    assert [] == found([], settings, every(0.3))


def test_slow_updates_need_as_many_readings(make_reading, fixed_settings):
    """With an update of 5 s, five updates must show no load."""
    slow = replace(fixed_settings, update_interval_s=5.0)
    rows = [make_reading(5.0 * k, power_w=0.0) for k in range(1, 7)]
    assert [(5.0, 30.0)] == found(rows, slow, every(1.0, to_s=40.0))
    assert [] == found(rows[:-1], slow, every(1.0, to_s=40.0))
