# SPDX-License-Identifier: Apache-2.0
"""The energy of a command above idle: true within its ±, whatever the edges and the noise."""

from __future__ import annotations

import random
from collections.abc import Callable, Container
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from power.energy.above_idle import NetEnergy, Span, net_energy
from power.energy.uncertainty import Measuring
from power.meter import Identity, IntegrationState, MeterSettings, Reading, Sampling
from tests.power.conftest import EPOCH

SETTINGS = MeterSettings(
    timer_s=3600, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)
MEASURING = Measuring(Identity("YOKOGAWA", "WT310E", "1", "F1.01"), SETTINGS)


class Device:
    """A device whose power the meter integrates exactly, updated each half second.

    It takes `idle_w(t)`, and `step_w` more while the command runs. Readings come a fifth of an
    update after it, as the recorder's do, and some of them by `late_s(number)` later.
    """

    def __init__(
        self,
        idle_w: Callable[[int], float],
        span: Span,
        step_w: float,
        late_s: Callable[[int], float] = lambda number: 0.0,
    ) -> None:
        self.idle_w, self.span, self.step_w, self.late_s = idle_w, span, step_w, late_s

    def readings(self, updates: int) -> list[Reading]:
        """Return a reading for each update."""
        energy_wh, found = 0.0, []
        for number in range(1, updates + 1):
            begin_s, end_s = (number - 1) * 0.5, number * 0.5
            inside_s = min(end_s, self.span.ended_s) - max(begin_s, self.span.begun_s)
            power_w = self.idle_w(number) + self.step_w * max(0.0, inside_s) / 0.5
            energy_wh += power_w * 0.5 / 3600
            at_s = end_s + 0.1 + self.late_s(number)
            found.append(
                Reading(
                    *(at_s, EPOCH + timedelta(seconds=at_s), 120.0, power_w / 120, power_w),
                    *(float(f"{energy_wh:.5e}"), float(int(end_s)), IntegrationState.START),
                    frequency_hz=60.0,
                    power_factor=1.0,
                )
            )
        return found

    def net(self, updates: int = 100, measuring: Measuring = MEASURING) -> NetEnergy | None:
        """Return the net energy by the rule."""
        return net_energy(self.readings(updates), self.span, measuring)


def test_a_known_step_lies_within_its_limits() -> None:
    """In 100 runs at odd moments, with a noisy idle power, at least 95 nets are true within ±."""
    chance = random.Random(2015)
    true = 0
    for _ in range(100):
        begun_s = 10.0 + chance.random()
        span = Span(begun_s, begun_s + chance.uniform(3.0, 20.0))
        device = Device(lambda number: chance.gauss(4.0, 0.3), span, 3.0)
        found = device.net()
        assert found is not None
        assert found.net_uncertainty_wh is not None
        truth_wh = 3.0 * span.seconds / 3600
        true += abs(found.net_energy_wh - truth_wh) <= found.net_uncertainty_wh
        assert found.energy_wh == pytest.approx(
            found.net_energy_wh + found.idle_w * span.seconds / 3600
        )
    assert true >= 95


@pytest.mark.parametrize("late_s", [0.05, 0.15, 0.25, 0.35])
@pytest.mark.parametrize("late", [range(15, 22), range(26, 30), {20}, {21}, {28}, {29}], ids=str)
def test_a_late_reading_at_an_edge_costs_nothing(late: Container[int], late_s: float) -> None:
    """A reading that a busy computer takes late shows its own update, so the window is the same."""
    device = Device(
        lambda number: 4.0, Span(10.13, 13.47), 3.0, lambda number: late_s * (number in late)
    )
    found = device.net()
    assert found is not None
    assert found.net_energy_wh == pytest.approx(3.0 * 3.34 / 3600, abs=1e-5)


def test_a_reply_that_was_an_update_under_way_is_no_edge() -> None:
    """Its time tells nothing about its update, so the window ends at the next reading."""
    device = Device(
        lambda number: 4.0, Span(10.13, 13.47), 3.0, lambda number: 0.5 * (number == 28)
    )
    readings = device.readings(100)
    found = net_energy(readings[:28] + readings[29:], device.span, MEASURING)
    assert found is not None
    assert found.net_energy_wh == pytest.approx(3.0 * 3.34 / 3600, abs=1e-5)


def test_readings_that_come_anyhow_make_the_edges_unsure() -> None:
    """Where delays scatter over whole updates, the ± has the idle energy of one, or nearly."""
    chance = random.Random(4)
    late = [0.5 * chance.random() for _ in range(101)]
    found = Device(lambda number: 4.0, Span(10, 20), 3.0, lambda number: late[number]).net()
    assert found is not None
    assert 4.0 * 0.5 / 3600 == pytest.approx(found.terms_wh["edges"], rel=0.6)
    assert found.net_uncertainty_wh is not None
    assert abs(found.net_energy_wh - 30 / 3600) < found.net_uncertainty_wh


def test_the_edges_of_the_command_cost_nothing() -> None:
    """A short command between two updates has its energy to five digits, beside a steady idle."""
    device = Device(lambda number: 4.0, Span(10.13, 10.47), 3.0)
    found = device.net()
    assert found is not None
    assert found.net_energy_wh == pytest.approx(3.0 * 0.34 / 3600, abs=2e-6)
    assert (4.0, 4.0, 4.0) == pytest.approx((found.idle_w, found.idle_before_w, found.idle_after_w))
    assert found.seconds == pytest.approx(0.34)


def test_readings_that_are_missing_cost_nothing() -> None:
    """The integrator counted on while the link was lost, so the net energy is the same."""
    device = Device(lambda number: 4.0, Span(10.13, 30.47), 3.0)
    readings = device.readings(100)
    found = net_energy(readings[:25] + readings[55:], device.span, MEASURING)
    assert found is not None
    assert found.net_energy_wh == pytest.approx(3.0 * 20.34 / 3600, rel=1e-4)


def test_an_idle_power_that_moved_is_told_and_counted() -> None:
    """Half of the difference is in the ±, and a large one makes the energy SUSPECT."""
    device = Device(lambda number: 4.0 if number < 40 else 4.4, Span(10.0, 20.0), 1.0)
    found = device.net(80)
    assert found is not None
    assert found.net_uncertainty_wh is not None
    assert ["idle_moved"] == [finding.code for finding in found.findings]
    assert abs(found.net_energy_wh - 10 / 3600) < found.net_uncertainty_wh
    steady = Device(lambda number: 4.0, Span(10.0, 20.0), 1.0).net(80)
    assert steady is not None
    assert () == steady.findings


@pytest.mark.parametrize(("step_w", "code"), [(0.001, "net_below_error"), (-1.0, "net_negative")])
def test_what_is_no_more_than_idle_is_told(step_w: float, code: str) -> None:
    """A command whose device is not behind the meter takes nothing above idle."""
    found = Device(lambda number: 4.0, Span(10.0, 20.0), step_w).net(80)
    assert found is not None
    assert [code] == [finding.code for finding in found.findings]


def test_one_idle_time_is_enough_for_a_number() -> None:
    """Without the idle time after the command the one before stands in; it is SUSPECT."""
    device = Device(lambda number: 4.0, Span(10.0, 20.0), 3.0)
    found = device.net(43)
    assert found is not None
    assert None is found.idle_after_w
    assert ["idle_once"] == [finding.code for finding in found.findings]
    assert found.net_energy_wh == pytest.approx(30 / 3600, rel=1e-4)


@pytest.mark.parametrize("updates", [10, 40])
def test_a_command_that_the_readings_do_not_cover_has_no_energy(updates: int) -> None:
    """Nobody invents what the meter did not show."""
    assert None is Device(lambda number: 4.0, Span(10.0, 20.0), 3.0).net(updates)


def test_a_sampled_meter_without_an_accuracy_has_no_limit() -> None:
    """The net energy of a plug is known, and its ± is not."""
    sampling = Sampling("shelly", None, interval_s=0.5)
    plug = replace(MEASURING, settings=replace(SETTINGS, sampling=sampling))
    found = Device(lambda number: 4.0, Span(10.0, 20.0), 3.0).net(100, plug)
    assert found is not None
    assert None is found.net_uncertainty_wh
    assert found.net_energy_wh == pytest.approx(30 / 3600, rel=1e-4)


def test_a_budget_names_its_terms() -> None:
    """The ± is the sum of its terms: the meter's on both powers, and the idle power's own."""
    found: Any = Device(lambda number: 4.0 + 0.01 * (number % 3), Span(10.0, 20.0), 3.0).net()
    names = ["command", "idle", "idle drift", "idle scatter", "edges", "digits"]
    assert names == list(found.terms_wh)
    assert found.net_uncertainty_wh == pytest.approx(sum(found.terms_wh.values()))
    assert found.terms_wh["idle"] < found.terms_wh["command"]
