# SPDX-License-Identifier: Apache-2.0
"""The choice of fixed ranges."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from power.bench.ranging import Extremes, extremes_of, propose, smallest_range
from power.energy.uncertainty import Measuring
from power.meter import Identity, MeterSettings, Reading
from power.wt310.models import MODELS

Make = Callable[..., Reading]
VOLTS, AMPS = (MODELS["WT310E"].voltage_ranges(3), MODELS["WT310E"].current_ranges(3))
MEASURING = Measuring(
    Identity("YOKOGAWA", "WT310E", "1", "F1.01"), MeterSettings(timer_s=0, update_interval_s=0.5)
)


@pytest.fixture
def mains(make_reading: Make) -> Make:
    """Return a function that makes a reading at 120 V and 60 Hz with a given peak."""

    def make(power_w: float, peak_a: float) -> Reading:
        return make_reading(
            1.0,
            voltage_v=120.0,
            current_a=power_w / 120.0,
            power_w=power_w,
            power_factor=1.0,
            frequency_hz=60.0,
            voltage_peak_v=169.7,
            current_peak_a=peak_a,
            voltage_range_v=300.0,
            current_range_a=1.0,
        )

    return make


def direct(make_reading: Make, volts: float, amperes: float) -> Reading:
    """Return a reading of direct current in RMS mode."""
    return make_reading(
        1.0,
        voltage_v=volts,
        current_a=amperes,
        power_w=volts * amperes,
        voltage_peak_v=volts,
        current_peak_a=amperes,
        absent={"frequency_hz": "over range"},
    )


@pytest.mark.parametrize(
    ("rms", "peak", "size"),
    [
        (0.05, 0.07, 0.05),
        (0.0525, 0.07, 0.05),
        (0.053, 0.07, 0.1),
        (0.01, 0.136, 0.05),
        (0.01, 0.137, 0.1),
        (20.0, 54.5, 20.0),
        (20.0, 54.6, None),
        (21.1, 30.0, None),
    ],
)
def test_rms_and_peak_both_need_room(rms: float, peak: float, size: float | None) -> None:
    """An rms value may fill its range; a peak leaves a tenth below three times the range."""
    assert size == smallest_range(AMPS, rms, peak, 3)


def test_crest_factor_6_has_room_for_higher_peaks() -> None:
    """At crest factor 6 a peak may be six times the range."""
    assert 0.05 == smallest_range((0.05, 0.1), 0.04, 0.27, 6)
    assert 0.1 == smallest_range((0.05, 0.1), 0.04, 0.27, 3)


def test_five_volts_and_two_amperes_get_the_range_of_two_amperes(make_reading: Make) -> None:
    """A 5 V, 2 A load is told 15 V and 2 A at ± 0.70 %; 5 A would cost 1.60 %."""
    choices = propose([direct(make_reading, 5.0, 2.0)], VOLTS, AMPS, MEASURING)
    assert [(15.0, 2.0), (15.0, 5.0), (15.0, 10.0)] == [
        (choice.voltage_range_v, choice.current_range_a) for choice in choices
    ]
    shares = [round(100 * (choice.share or 0.0), 2) for choice in choices]
    assert [0.7, 1.6] == shares[:2]


def test_a_high_peak_needs_a_larger_range(mains: Make) -> None:
    """A rectifier with crest factor 4 gets the range that holds its peaks."""
    calm, steep = (propose([mains(6.0, peak)], VOLTS, AMPS, MEASURING) for peak in (0.07, 0.2))
    assert (0.05, 0.1) == (calm[0].current_range_a, steep[0].current_range_a)


def test_the_uncertainty_is_that_of_all_readings(mains: Make) -> None:
    """The share is the mean limit over the mean power of bursts and pauses."""
    readings = [mains(6.0, 0.07), mains(1.0, 0.02), mains(1.0, 0.02)]
    choice = propose(readings, VOLTS, AMPS, MEASURING)[0]
    mean_w = 8.0 / 3
    assert choice.uncertainty_w == pytest.approx(0.001 * mean_w + 0.0005 * 7.5, rel=0.02)
    assert choice.share == pytest.approx(choice.uncertainty_w / mean_w)


def test_a_device_without_power_has_no_share(mains: Make) -> None:
    """Zero power has a limit in watts, and no percent."""
    choice = propose([mains(0.0, 0.0)], VOLTS, AMPS, MEASURING)[0]
    assert choice.share is None
    assert choice.uncertainty_w > 0


def test_nothing_fits(mains: Make) -> None:
    """A device beyond the largest range gets no proposal."""
    assert [] == propose([mains(5.0, 80.0)], VOLTS, AMPS, MEASURING)


def test_the_mean_is_that_of_readings_that_miss_nothing(mains: Make) -> None:
    """While auto-range switches, the highest powers are missing: those readings choose no mean."""
    biased = [mains(1.0, 0.02)] * 8 + [mains(9.0, 0.1)]
    even = [mains(1.0, 0.02), mains(9.0, 0.1)]
    assert extremes_of(even) == extremes_of([*biased, *even], even)
    told = propose([*biased, *even], VOLTS, AMPS, MEASURING, even=even)
    assert propose(even, VOLTS, AMPS, MEASURING) == told
    assert extremes_of(biased) == extremes_of(biased, [])


def test_the_extremes_are_the_largest_of_all_readings(mains: Make) -> None:
    """Extremes come from different readings."""
    found = extremes_of([mains(6.0, 0.07), mains(1.0, 0.2)])
    assert Extremes(120.0, 0.05, 169.7, 0.2, 1.0, 3.5, 6.0) == found
