# SPDX-License-Identifier: Apache-2.0
"""Samples against what a device can measure, and against voltage times current."""

from __future__ import annotations

from dataclasses import replace

import pytest

from power.meter import MeterFlag, MeterSettings, Sampling, VoltAmperes
from power.sampled.possible import impossible
from power.sampled.software_integrator import IntegratorState, SoftwareIntegrator
from power.sampled.source import Sample

MAINS = Sampling("plug", None, 0.1, interval_s=1.0, longest_gap_s=3.0, most_w=2500.0)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (Sample(1, 2400.0), ""),
        (Sample(1, 230_000.0), "230000 W are more than the 2500 W that it can measure"),
        (Sample(1, -2600.0), "more than the 2500 W"),
        # The current may be of the moment before the load was switched on.
        (Sample(1, 1500.0, 230.0, 0.05), ""),
    ],
)
def test_a_sample_that_cannot_be_is_told(sample: Sample, said: str) -> None:
    """The rating bounds each power, and nothing else bounds a single one."""
    why = impossible(sample, MAINS)
    assert said in why if said else not why


def test_an_older_driver_states_no_rating() -> None:
    """A driver that tells nothing is asked nothing."""
    assert impossible(Sample(1, 1e9), Sampling("old", None)) == ""


def run(samples: list[Sample], sampling: Sampling = MAINS) -> IntegratorState:
    """Return the end of a run of 20 s with these samples, one a second from second 0 on."""
    made = SoftwareIntegrator(sampling)
    made.prepare(MeterSettings(timer_s=20))
    made.take(samples[0])
    made.start(0.0)
    for sample in samples[1:]:
        made.take(sample)
    return made.values(30.0)


def seconds(power_w: float, *volts_amperes: float) -> list[Sample]:
    """Return samples of 0 to 21 s."""
    return [Sample(float(second), power_w, *volts_amperes) for second in range(22)]


def test_a_power_beyond_the_rating_is_a_gap() -> None:
    """The energy is that of the others, and two flags say what happened."""
    samples = seconds(5.0)
    samples[10] = replace(samples[10], power_w=230_000.0)
    shown = run(samples)
    assert shown.energy_wh == pytest.approx(100 / 3600)
    assert shown.flags == {MeterFlag.IMPOSSIBLE_POWER, MeterFlag.SAMPLES_MISSED}


def test_a_lost_sample_is_a_gap_however_short() -> None:
    """A mean that is missing by the device's own count leaves its time unseen."""
    means = [Sample(tenth / 10, 5.0, span_s=0.1) for tenth in range(1, 210)]
    means[100] = replace(means[101], lost=1)
    del means[101]
    shown = run(means)
    assert shown.energy_wh == pytest.approx(100 / 3600)
    assert shown.flags == {MeterFlag.SAMPLES_LOST, MeterFlag.SAMPLES_MISSED}


def test_a_fault_of_the_device_is_told() -> None:
    """What the device says is wrong with it becomes a flag of the run."""
    samples = seconds(5.0)
    samples[3] = replace(samples[3], fault="overtemp")
    assert run(samples).flags == {MeterFlag.DEVICE_FAULT}


@pytest.mark.parametrize(
    ("power_w", "volt_amperes", "differs"),
    [
        (50.0, "bound", False),
        (30.0, "bound", False),
        (75.0, "bound", True),
        (75.0, "equal", True),
        (30.0, "equal", True),
        (75.0, "same", False),
    ],
)
def test_voltage_times_current_bounds_the_power(
    power_w: float, volt_amperes: VoltAmperes, differs: bool
) -> None:
    """50 VA allow any smaller power of mains, and of a product of direct current no other one."""
    sampling = replace(MAINS, volt_amperes=volt_amperes)
    shown = run(seconds(power_w, 100.0, 0.5), sampling)
    assert (MeterFlag.VOLT_AMPERES_DIFFER in shown.flags) is differs


@pytest.mark.parametrize(
    ("samples", "volt_amperes", "unconfirmed"),
    [
        (seconds(50.0, 100.0, 0.5), "bound", None),
        (seconds(50.0, 100.0, 0.5), "same", MeterFlag.NO_WITNESS),
        (seconds(50.0), "bound", MeterFlag.NO_WITNESS),
        (seconds(1.0, 100.0, 0.01), "bound", MeterFlag.WITNESS_COARSE),
    ],
)
def test_an_energy_without_a_second_witness_is_unconfirmed(
    samples: list[Sample], volt_amperes: VoltAmperes, unconfirmed: MeterFlag | None
) -> None:
    """Without voltage and current, with those of which it was made, and with too coarse ones."""
    assert run(samples, replace(MAINS, volt_amperes=volt_amperes)).unconfirmed is unconfirmed
