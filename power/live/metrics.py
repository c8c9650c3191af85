# SPDX-License-Identifier: Apache-2.0
"""The metrics of a recording for Prometheus, as a pure function of its view.

Names and units follow Prometheus' conventions (https://prometheus.io/docs/practices/naming/): base
units in the name, `_total` for counts that only grow. A value that is not known has no sample: a 0
would be a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from power.live.run_view import RunView
from power.meter import IntegrationState

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""


class _Once(Collector):
    """A collector of metrics that are made already."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def metrics_text(view: RunView, now_s: float) -> bytes:
    """Return the metrics at a time of the monotonic clock, in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(_metrics(view, now_s)))
    return generate_latest(registry)


def _metrics(view: RunView, now_s: float) -> Iterator[Metric]:
    newest, (volts, amperes) = view.newest, view.ranges()
    for name, text, value in (
        ("power_watts", "Power of the newest reading.", newest.power_w if newest else None),
        ("voltage_volts", "Voltage of the newest reading.", newest.voltage_v if newest else None),
        ("current_amperes", "Current of the newest reading.", newest.current_a if newest else None),
        ("energy_watt_hours", "Energy of this integration.", newest.energy_wh if newest else None),
        ("integration_seconds", "The integrator's time.", newest.integration_s if newest else None),
        ("timer_seconds", "Length of the integration.", view.about.get("timer_s")),
        ("voltage_range_volts", "Range of the voltage.", volts),
        ("current_range_amperes", "Range of the current.", amperes),
        ("reading_age_seconds", "Age of the newest reading.", view.age_s(now_s)),
    ):
        gauge = GaugeMetricFamily(f"power_meter_{name}", text)
        if value is not None:
            gauge.add_metric((), float(value))
        yield gauge
    states = GaugeMetricFamily(
        "power_meter_integration_state", "1 for the integrator's state.", labels=("state",)
    )
    for state in IntegrationState:
        if newest is not None:
            states.add_metric((state.value,), float(newest.state is state))
    yield states
    for name, text, count in (
        ("readings", "Readings so far.", view.readings),
        ("readings_without_power", "Readings in which the meter had no power.", view.without_power),
        ("gaps", "Times without readings while the integration ran.", view.gaps),
        ("gap_seconds", "Their length.", view.gaps_s),
    ):
        yield CounterMetricFamily(f"power_meter_{name}", text, value=float(count))
