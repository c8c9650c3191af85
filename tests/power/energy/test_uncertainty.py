# SPDX-License-Identifier: Apache-2.0
"""The limits of error: the tables of pages 7-7 and 7-8, and the terms that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from power.energy.accuracy import Series, base_accuracy, power_factor_influence
from power.energy.conditions import AmbientConditions
from power.energy.uncertainty import (
    EnergyLimit,
    Measuring,
    all_frequencies,
    energy_limit,
    power_limit_w,
    power_terms,
    zero_limit_w,
)
from power.meter import SIGMA, ElementValues, Identity, InputMode, MeterSettings, Reading
from power.readings import Readings

MakeReading = Callable[..., Reading]
FIXED = MeterSettings(timer_s=600, voltage_range_v=150.0, current_range_a=0.1)
E_SERIES = Series.of("WT310E")


def meter(model: str) -> Identity:
    """Return a model's identity."""
    return Identity("YOKOGAWA", model, "EMU000000", "F1.03")


@pytest.fixture
def sine(make_reading: MakeReading) -> Callable[..., Reading]:
    """Return a function that makes a reading of a load with a power factor and a frequency."""

    def make(
        power_w: float, volts: float, *, factor: float = 1.0, hertz: float = 60.0, at_s: float = 1.0
    ) -> Reading:
        return make_reading(
            at_s,
            voltage_v=volts,
            current_a=power_w / volts / factor,
            power_w=power_w,
            power_factor=factor,
            frequency_hz=hertz,
            voltage_peak_v=volts * 2**0.5,
            current_peak_a=power_w / volts / factor * 2**0.5,
        )

    return make


def direct(make_reading: MakeReading, power_w: float, volts: float, **ranges: float) -> Reading:
    """Return a reading of direct current, which has no frequency."""
    return make_reading(
        1.0,
        voltage_v=volts,
        current_a=power_w / volts,
        power_w=power_w,
        power_factor=1.0,
        voltage_peak_v=volts,
        current_peak_a=power_w / volts,
        absent={"frequency_hz": "over range"},
        **ranges,
    )


def percent(limit: EnergyLimit | None, energy_wh: float) -> float:
    """Return a limit in percent of the energy, rounded as people write it."""
    assert limit is not None
    return round(100 * limit.total_wh / energy_wh, 2)


def run_percent(reading: Reading, measuring: Measuring) -> float:
    """Return the percent of ten minutes with always the same reading."""
    assert reading.power_w is not None
    readings = [replace(reading, monotonic_s=float(second)) for second in range(1, 601)]
    energy_wh = reading.power_w * 600 / 3600
    return percent(energy_limit(readings, energy_wh, 600.0, measuring), energy_wh)


@pytest.mark.parametrize(
    ("hertz", "e_series", "older", "e_high", "old_high"),
    [
        (0.0, (0.1, 0.2), (0.1, 0.2), (0.3, 0.2), (0.3, 0.2)),
        (10.0, (0.3, 0.2), (0.3, 0.2), (0.3, 0.2), (0.3, 0.2)),
        (45.0, (0.1, 0.05), (0.1, 0.1), (0.1, 0.05), (0.1, 0.1)),
        (66.0, (0.1, 0.05), (0.1, 0.1), (0.1, 0.05), (0.1, 0.1)),
        (400.0, (0.2, 0.2), (0.2, 0.2), (0.2, 0.2), (0.2, 0.2)),
        (4000.0, (0.301, 0.3), (0.301, 0.3), (0.52, 0.3), (0.52, 0.3)),
        (20_000.0, (1.4, 0.5), (1.4, 0.5), (2.6, 0.5), (2.6, 0.5)),
    ],
)
def test_the_table_of_page_7_7(
    hertz: float,
    e_series: tuple[float, float],
    older: tuple[float, float],
    e_high: tuple[float, float],
    old_high: tuple[float, float],
) -> None:
    """Each row and column of the table gives its percent of reading and of range."""
    for model, expected in (
        ("WT310E", e_series),
        ("WT310", older),
        ("WT333E", e_series),
        ("WT310EH", e_high),
        ("WT310HC", old_high),
    ):
        found = base_accuracy(Series.of(model), hertz)
        assert expected == pytest.approx((100 * found.of_reading, 100 * found.of_range)), model


def test_an_unknown_meter_counts_as_the_older_series() -> None:
    """The older series has the wider limits, so an unknown model gets them."""
    assert Series.of("WT310") == Series.of("") == Series.of("WT999")


def test_the_influence_of_power_factor_grows_with_frequency() -> None:
    """At power factor 0 it is 0.1 % of S on the E series and 0.2 % before (page 7-8)."""
    assert [0.001, 0.0025] == [power_factor_influence(E_SERIES, hertz) for hertz in (50, 1000)]
    older = Series.of("WT310")
    assert [0.002, 0.004] == [power_factor_influence(older, hertz) for hertz in (50, 1000)]


def test_the_plain_case(sine: Callable[..., Reading]) -> None:
    """5 W at 120 V and 60 Hz on 150 V and 0.1 A of an E meter: ± 0.37 %."""
    assert 0.37 == run_percent(sine(5.0, 120.0), Measuring(meter("WT310E"), FIXED))


def test_direct_current_in_rms_mode_has_the_row_of_direct_current(
    make_reading: MakeReading,
) -> None:
    """10 W from 12 V measured in RMS mode on 60 W of range: ± 1.42 %, not 0.52 %."""
    settings = replace(FIXED, voltage_range_v=60.0, current_range_a=1.0)
    reading = direct(make_reading, 10.0, 12.0, voltage_range_v=60.0, current_range_a=1.0)
    assert 1.42 == run_percent(reading, Measuring(meter("WT310E"), settings))
    assert {0.0} == all_frequencies(Readings([reading]).columns(), InputMode.RMS)


def test_a_low_power_factor_counts(sine: Callable[..., Reading]) -> None:
    """Power factor 0.5 at 230 V on an older WT310, range six times the power: ± 1.17 %."""
    reading = replace(sine(25.0, 230.0, factor=0.5, hertz=50.0), voltage_range_v=300.0)
    reading = replace(reading, current_range_a=0.5)
    settings = replace(FIXED, voltage_range_v=300.0, current_range_a=0.5)
    assert 1.17 == run_percent(reading, Measuring(meter("WT310"), settings))


def test_without_a_power_factor_voltage_and_current_tell_it(sine: Callable[..., Reading]) -> None:
    """A log of an earlier version has no power factor, but voltage times current tells it."""
    reading = sine(25.0, 230.0, factor=0.5, hertz=50.0)
    old = replace(reading, power_factor=None)
    measuring = Measuring(meter("WT310"), FIXED)
    assert power_limit_w(reading, measuring) == pytest.approx(power_limit_w(old, measuring))


@pytest.mark.parametrize(
    ("change", "hertz", "model", "expected"),
    [
        ({"crest_factor": 6}, 60.0, "WT310E", 0.52),
        ({"line_filter": True}, 60.0, "WT310E", 0.67),
        ({"line_filter": True}, 10.0, "WT310E", 2.02),
        ({}, 400.0, "WT310E", 0.92),
        ({"update_interval_s": 0.1}, 60.0, "WT310E", 0.42),
        ({}, 60.0, "WT310", 0.52),
    ],
)
def test_settings_that_add_to_the_limit(
    sine: Callable[..., Reading],
    change: dict[str, object],
    hertz: float,
    model: str,
    expected: float,
) -> None:
    """Crest factor 6, line filter, frequency and fast updates add what page 7-8 says."""
    settings = replace(FIXED, **change)  # type: ignore[arg-type]
    assert expected == run_percent(sine(5.0, 120.0, hertz=hertz), Measuring(meter(model), settings))


def test_direct_current_through_the_high_current_input(make_reading: MakeReading) -> None:
    """10 W on 25 W of range: ± 0.92 % on WT310EH and WT310HC, 0.72 % on the others."""
    settings = replace(FIXED, mode=InputMode.DC, voltage_range_v=25.0, current_range_a=1.0)
    reading = direct(make_reading, 10.0, 12.0, voltage_range_v=25.0, current_range_a=1.0)
    for model, expected in (("WT310EH", 0.92), ("WT310HC", 0.92), ("WT310E", 0.72)):
        assert expected == run_percent(reading, Measuring(meter(model), settings))


def test_a_warm_room_counts(sine: Callable[..., Reading]) -> None:
    """Each degree outside 18 to 28 °C adds 0.03 % of the reading."""
    reading = sine(5.0, 120.0)
    limits = [
        run_percent(reading, Measuring(meter("WT310E"), FIXED, AmbientConditions(ambient_c)))
        for ambient_c in (23.0, 28.0, 33.0, 8.0)
    ]
    assert [0.37, 0.37, 0.52, 0.67] == limits


@pytest.mark.parametrize(
    ("changes", "mode", "expected"),
    [
        ({"frequency_hz": 60.0}, InputMode.RMS, (60.0,)),
        ({"frequency_hz": 60.0}, InputMode.DC, (0.0, 60.0)),
        ({}, InputMode.RMS, (50.0,)),
        ({}, InputMode.DC, (0.0,)),
        ({"absent": {"frequency_hz": "no data"}}, InputMode.RMS, (0.0, 10.0)),
        (
            {"absent": {"frequency_hz": "no data"}, "voltage_peak_v": 169.0},
            InputMode.RMS,
            (0.0, 10.0),
        ),
        ({"absent": {"frequency_hz": "no data"}, "voltage_peak_v": 121.0}, InputMode.RMS, (0.0,)),
        ({"frequency_hz": 120.0, "voltage_peak_v": 121.0}, InputMode.RMS, (0.0, 120.0)),
    ],
)
def test_the_frequencies_that_a_reading_may_have(
    make_reading: MakeReading,
    changes: dict[str, object],
    mode: InputMode,
    expected: tuple[float, ...],
) -> None:
    """Without a frequency a flat voltage is direct; else direct or slow, whichever is worse."""
    reading = make_reading(1.0, **changes)
    assert {*expected} == all_frequencies(Readings([reading]).columns(), mode)


def test_each_reading_has_its_own_limit(sine: Callable[..., Reading]) -> None:
    """A burst of 12 W is certain to 0.16 %, the pause of 0.3 W after it only to 2.6 %."""
    measuring = Measuring(meter("WT310E"), FIXED)
    for power_w, expected in ((12.0, 0.16), (0.3, 2.6)):
        limit_w = power_limit_w(sine(power_w, 120.0), measuring)
        assert limit_w is not None
        assert expected == pytest.approx(100 * limit_w / power_w, abs=0.01)


def test_limits_are_integrated_over_the_time_of_each_reading(sine: Callable[..., Reading]) -> None:
    """Bursts of low power factor count as long as they last, and a gap counts as its reading."""
    high = sine(10.0, 120.0, factor=0.25)
    low = sine(0.5, 120.0)
    measuring = Measuring(meter("WT310E"), FIXED)
    readings = [replace(high, monotonic_s=1.0)]
    readings += [replace(low, monotonic_s=float(second)) for second in (2, 3, 4)]
    readings += [replace(low, monotonic_s=10.0)]
    found = energy_limit(readings, 14.5 / 3600, 10.0, measuring)
    high_w, low_w = (power_limit_w(row, measuring) for row in (high, low))
    assert found is not None and high_w is not None and low_w is not None
    integrated = (high_w * 1 + low_w * 9) / 3600 + 0.0012 * 14.5 / 3600
    assert integrated == pytest.approx(found.total_wh)
    assert (0.9, low_w / 0.5) == pytest.approx((found.over_one_percent, found.worst))


def test_the_sum_of_elements_adds_their_errors_of_range(sine: Callable[..., Reading]) -> None:
    """The sum of three elements has three errors of range, and power given back counts too."""
    reading = sine(5.0, 120.0)
    one = power_terms(reading, Measuring(meter("WT333E"), FIXED))
    sums = Measuring(meter("WT333E"), replace(FIXED, element=SIGMA))
    parts = (ElementValues(1, 10.0, 1.0), ElementValues(2, -5.0, -0.5), ElementValues(3, 0.0, 0.0))
    three = power_terms(replace(reading, elements=parts), sums)
    assert one is not None and three is not None
    assert 3 * one["range"] == pytest.approx(three["range"])
    assert 3 * one["reading"] == pytest.approx(three["reading"])


def test_without_a_load_the_error_of_the_range_is_left(sine: Callable[..., Reading]) -> None:
    """The power that may show without a load is 0.05 % of 15 W."""
    assert 0.0075 == zero_limit_w(sine(5.0, 120.0), Measuring(meter("WT310E"), FIXED))


def test_without_ranges_there_is_no_limit(make_reading: MakeReading) -> None:
    """A limit without the ranges would be a guess."""
    reading = make_reading(1.0, voltage_range_v=None, current_range_a=None)
    measuring = Measuring(meter("WT310E"), MeterSettings(timer_s=10))
    assert power_limit_w(reading, measuring) is None
    assert energy_limit([reading], 1.0, 10.0, measuring) is None
