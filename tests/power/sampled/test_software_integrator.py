# SPDX-License-Identifier: Apache-2.0
"""The states, the timer and the flags of the software integrator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from power.errors import MeterBusy, MeterRefused
from power.meter import IntegrationState, MeterFlag, MeterSettings, Sampling
from power.sampled.software_integrator import EnergyCounter, SoftwareIntegrator
from power.sampled.source import Sample

EXACT = EnergyCounter()
SAMPLING = Sampling("test", 0.01, interval_s=1.0, longest_gap_s=2.5)


def integrator(timer_s: int = 10, counter: EnergyCounter = EXACT) -> SoftwareIntegrator:
    """Return an integrator that is ready to start, with a sample at second 0."""
    made = SoftwareIntegrator(SAMPLING, counter)
    made.prepare(MeterSettings(timer_s=timer_s))
    made.take(Sample(0.0, 5.0, counter_wh=7.0))
    return made


def feed(made: SoftwareIntegrator, seconds: list[float], power_w: float = 5.0) -> None:
    """Give samples of a constant power at these seconds."""
    for at_s in seconds:
        made.take(Sample(at_s, power_w))


def test_the_timer_cuts_the_run_to_its_length() -> None:
    """The timer ends the run at its second, wherever the samples lie, and reports its length."""
    made = integrator()
    made.start(0.4)
    feed(made, [*range(1, 11)])
    assert made.state is IntegrationState.START
    feed(made, [11, 12, 13])
    shown = made.values(13.0)
    assert (shown.state, shown.integration_s) == (IntegrationState.TIMEUP, 10.0)
    assert shown.energy_wh == pytest.approx(50 / 3600)
    assert shown.flags == frozenset()


def test_a_stop_ends_the_run_at_its_moment() -> None:
    """A stop counts up to its moment, and the next sample settles it."""
    made = integrator()
    made.start(0.0)
    feed(made, [1, 2, 3])
    made.stop(3.5)
    assert made.state is IntegrationState.START
    feed(made, [4], power_w=7.0)
    shown = made.values(4.0)
    assert (shown.state, shown.integration_s) == (IntegrationState.STOP, 3.5)
    assert shown.energy_wh == pytest.approx((15 + (5 + 6) / 2 * 0.5) / 3600)


def test_a_stop_after_the_timer_is_the_timers() -> None:
    """A stop that comes after the timer's end changes nothing."""
    made = integrator(timer_s=2)
    made.start(0.0)
    feed(made, [1])
    made.stop(2.3)
    feed(made, [3])
    assert made.values(3.0).state is IntegrationState.TIMEUP
    assert made.values(3.0).integration_s == 2.0


def test_while_it_runs_it_shows_the_last_whole_update() -> None:
    """Power, energy and time of a reading are those of the same update."""
    made = integrator()
    made.start(0.5)
    assert "complete" in made.values(0.7).absent["power_w"]
    feed(made, [1, 2, 2.4, 3], power_w=8.0)
    shown = made.values(3.1)
    assert (shown.power_w, shown.integration_s) == (pytest.approx(8), 2.0)
    assert shown.energy_wh is not None
    assert shown.energy_wh * 3600 == pytest.approx(16 - 0.375)


def test_a_silent_device_leaves_readings_without_values() -> None:
    """Without samples for longer than gap and update, a reading has no value, and says why."""
    made = integrator()
    made.start(0.0)
    feed(made, [1, 2])
    assert made.values(5.0).power_w == 5.0
    silent = made.values(6.0)
    assert silent.power_w is None and silent.energy_wh is None
    assert silent.absent["energy_wh"] == "no sample for 4.0 s"


def test_a_gap_is_flagged_at_the_end() -> None:
    """Samples further apart than the longest gap set a flag; closer ones do not."""
    for times, flagged in (([1, 3, 5, 7, 9, 10], False), ([1, 2, 5, 6, 7, 8, 9, 10], True)):
        made = integrator()
        made.start(0.0)
        feed(made, times)
        assert (MeterFlag.SAMPLES_MISSED in made.values(10.0).flags) is flagged


def test_too_few_samples_are_flagged() -> None:
    """Fewer than half of the samples that the device promises set a flag."""
    for step_s, flagged in ((1.8, False), (2.4, True)):
        made = integrator(timer_s=100)
        made.start(0.0)
        feed(made, [step_s * index for index in range(1, 60)])
        assert (MeterFlag.SLOW_SAMPLES in made.values(144.0).flags) is flagged


@pytest.mark.parametrize(
    ("rate", "lag_s", "flagged"),
    [(1.0, 0.0, False), (1.019, 0.0, False), (1.03, 0.0, True), (1.3, 20.0, False), (0.0, 0, True)],
)
def test_the_devices_own_counter_is_compared(rate: float, lag_s: float, flagged: bool) -> None:
    """A counter that differs by more than 2 % and its lag sets a flag."""
    made = integrator(timer_s=100, counter=EnergyCounter(lag_s))
    made.start(0.0)
    for second in range(1, 102):
        made.take(Sample(second, 5.0, counter_wh=7.0 + rate * second * 5 / 3600))
    assert (MeterFlag.COUNTER_DIFFERS in made.values(101.0).flags) is flagged


@pytest.mark.parametrize(
    ("step_wh", "watts", "counted", "flagged"),
    [
        (1.0, 5.0, 1.0, False),
        (0.0, 5.0, 1.0, True),
        (1.0, 50.0, 1.0, False),
        (1.0, 50.0, 1.2, True),
    ],
)
@pytest.mark.parametrize("begun_wh", [7.0, 7.1, 7.4, 7.9])
def test_the_steps_of_a_coarse_counter_are_no_difference(
    step_wh: float, watts: float, counted: float, flagged: bool, begun_wh: float
) -> None:
    """A counter of whole Wh agrees with ten minutes at any power, and a wrong one still differs."""
    made = integrator(timer_s=600, counter=EnergyCounter(0.0, step_wh))
    made.start(0.0)
    for second in range(1, 602):
        counter_wh = int(begun_wh + counted * second * watts / 3600)
        made.take(Sample(second, watts, counter_wh=counter_wh))
    assert (MeterFlag.COUNTER_DIFFERS in made.values(601.0).flags) is flagged


def test_a_device_that_measures_otherwise_is_flagged() -> None:
    """Other steps than those of the settings set a flag; the same, and those of a new run, none."""
    coarse = replace(SAMPLING, offset_w=1.0)
    made = integrator(timer_s=2)
    for sampling, flagged in ((SAMPLING, False), (coarse, True), (coarse, False)):
        made.prepare(MeterSettings(timer_s=2))
        if not flagged:
            assert made.promise() == sampling
        newest = made.newest
        assert newest is not None
        made.start(newest.at_s)
        made.measure(sampling, EnergyCounter())
        feed(made, [newest.at_s + second for second in (1, 2, 3)])
        flags = made.values(newest.at_s + 3).flags
        assert (MeterFlag.SAMPLING_CHANGED in flags) is flagged


def test_a_value_over_its_range_is_flagged_only_within_the_run() -> None:
    """A sample over range before the start does not count."""
    made = integrator()
    made.take(Sample(0.5, 5.0, over_range=True))
    made.start(1.0)
    feed(made, [2])
    assert made.values(2.0).flags == frozenset()
    made.take(Sample(3, 5.0, over_range=True))
    assert MeterFlag.OVER_RANGE in made.values(3.0).flags


def test_an_end_without_samples_is_given_up_after_a_while() -> None:
    """After its patience a run ends with its last power held, and a flag says so."""
    made = integrator(timer_s=4)
    made.start(0.0)
    feed(made, [1, 2])
    made.give_up(6.9, 3.0)
    assert made.state is IntegrationState.START
    made.give_up(7.1, 3.0)
    shown = made.values(7.1)
    assert (shown.state, shown.energy_wh) == (IntegrationState.TIMEUP, pytest.approx(20 / 3600))
    assert MeterFlag.SAMPLES_MISSED in shown.flags


def test_it_starts_only_from_reset() -> None:
    """A second start is busy while it runs and refused afterwards; prepare begins anew."""
    made = integrator(timer_s=1)
    made.start(0.0)
    with pytest.raises(MeterBusy):
        made.start(0.5)
    with pytest.raises(MeterBusy):
        made.prepare(MeterSettings(timer_s=1))
    feed(made, [2])
    with pytest.raises(MeterRefused, match="TIMEUP"):
        made.start(2.0)
    made.prepare(MeterSettings(timer_s=1))
    shown = made.values(2.0)
    assert (shown.state, shown.energy_wh) == (IntegrationState.RESET, 0.0)
    made.start(2.0)
    assert made.state is IntegrationState.START
