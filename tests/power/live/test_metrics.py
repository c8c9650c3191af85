# SPDX-License-Identifier: Apache-2.0
"""The metrics of a recording, read back by Prometheus' own parser."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client.parser import text_string_to_metric_families

from power.live.metrics import metrics_text
from power.live.run_view import RunView
from power.meter import Reading


def samples(view: RunView, now_s: float) -> dict[str, float]:
    """Return the samples by name and labels."""
    families = text_string_to_metric_families(metrics_text(view, now_s).decode())
    return {
        sample.name + "".join(sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_before_the_first_reading_nothing_is_claimed() -> None:
    """No value has a sample before it is known; the counts are 0."""
    found = samples(RunView(), 5.0)
    assert {0.0} == set(found.values())
    assert "power_meter_power_watts" not in found


def test_a_reading_has_its_figures(make_reading: Callable[..., Reading]) -> None:
    """Values, ranges, age and state are those of the newest reading."""
    view = RunView()
    view.begin({"timer_s": 60, "update_interval_s": 1.0})
    view.add(make_reading(100.0, current_a=None, energy_wh=0.25), 1.0)
    view.add(make_reading(104.0, current_a=None, energy_wh=0.5, power_w=6.5), 5.0)
    found = samples(view, 104.5)
    assert {
        "power_meter_power_watts": 6.5,
        "power_meter_energy_watt_hours": 0.5,
        "power_meter_timer_seconds": 60.0,
        "power_meter_voltage_range_volts": 150.0,
        "power_meter_reading_age_seconds": 0.5,
        "power_meter_readings_total": 2.0,
        "power_meter_gaps_total": 1.0,
        "power_meter_gap_seconds_total": 4.0,
        "power_meter_integration_stateSTART": 1.0,
        "power_meter_integration_stateTIMEUP": 0.0,
    }.items() <= found.items()
    assert "power_meter_current_amperes" not in found
