# SPDX-License-Identifier: Apache-2.0
"""Power factor, frequency, peaks, elements, and settings after the run, on the emulated meter."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from power.emulator import commands_numeric
from power.emulator.instrument import Options
from power.emulator.profile import bursts, constant, energy_wh, parse_steps
from power.energy.judge import EnergyResult, Verdict, judge_energy
from power.errors import MeterRefused
from power.follow import read_final
from power.meter import SIGMA, IntegrationState, MeterFlag, MeterSettings, Reading

SETTINGS = MeterSettings(
    timer_s=10, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)
SUMS = replace(SETTINGS, current_range_a=0.5, element=SIGMA)

MakeBench = Callable[..., Any]


def measure(
    bench: Any, settings: MeterSettings = SETTINGS, middle: str = ""
) -> tuple[list[Reading], EnergyResult]:
    """Return the readings and the energy of a run; a fault may be switched on in the middle."""
    identity = bench.meter.identify()
    found = bench.meter.prepare(settings)
    bench.meter.start()
    readings = [bench.meter.read()]
    while readings[-1].state is IntegrationState.START:
        if middle and len(readings) == 10:
            bench.fault(middle)
        bench.time.sleep(settings.update_interval_s)
        readings.append(bench.meter.read())
    readings += read_final(bench.meter.read, settings.update_interval_s, bench.time.sleep)
    return readings, judge_energy(readings, session_s=10.0, settings=found, identity=identity)


def codes(result: EnergyResult) -> set[str]:
    """Return the codes of the findings."""
    return {finding.code for finding in result.findings}


def test_a_reading_has_power_factor_frequency_and_peaks(make_bench: MakeBench) -> None:
    """A load of 5 W at power factor 0.8 shows them in each reading after the first update."""
    bench = make_bench(constant(5.0), power_factor=0.8, frequency_hz=50.0, crest=2.5)
    readings, result = measure(bench)
    amperes = 5.0 / 120.0 / 0.8
    for reading in readings[2:]:
        assert (0.8, 50.0, 120 * math.sqrt(2), 2.5 * amperes) == pytest.approx(
            (
                reading.power_factor,
                reading.frequency_hz,
                reading.voltage_peak_v,
                reading.current_peak_a,
            ),
            rel=1e-4,
        )
        assert {} == reading.absent
    assert Verdict.VALID is result.verdict, result.findings


def test_bursts_within_an_update_have_their_own_rms_current_and_peak(make_bench: MakeBench) -> None:
    """Half a second with 2 and 10 W has the rms of the currents, the peak of the higher one."""
    bench = make_bench(bursts(2.0, 10.0, 0.1, 0.5))
    readings, result = measure(bench)
    reading = readings[5]
    assert (6.0, math.sqrt(52.0) / 120, 10.0 / 120 * math.sqrt(2)) == pytest.approx(
        (reading.power_w, reading.current_a, reading.current_peak_a), rel=1e-4
    )
    assert reading.power_factor == pytest.approx(6.0 / math.sqrt(52.0), rel=1e-4)
    assert Verdict.VALID is result.verdict, result.findings


def test_direct_current_has_no_frequency_and_peaks_of_one_sign(make_bench: MakeBench) -> None:
    """On direct current both peaks are the value itself; the frequency is absent with a reason."""
    bench = make_bench(constant(0.5), volts=5.0, frequency_hz=0.0)
    settings = replace(SETTINGS, voltage_range_v=15.0)
    readings, result = measure(bench, settings)
    reading = readings[5]
    assert {"frequency_hz"} == set(reading.absent)
    assert (5.0, 0.1) == (reading.voltage_peak_v, reading.current_peak_a)
    assert ["5.0000E+00", "5.0000E+00"] == [bench.ask(f":NUM:VAL? {item}") for item in (10, 11)]
    # The row of direct current: 0.2 % of 1.5 W, and 0.22 % of the reading.
    expected = (0.0022 * 0.5 + 0.002 * 1.5) / 360
    assert result.uncertainty_wh == pytest.approx(expected, rel=1e-3)
    assert Verdict.VALID is result.verdict, result.findings


def test_a_frequency_too_low_for_the_updates_is_absent(make_bench: MakeBench) -> None:
    """Updates of 0.1 s are too short for 16.7 Hz, so the wider row of the table counts."""
    bench = make_bench(constant(5.0), frequency_hz=16.7)
    readings, result = measure(bench, replace(SETTINGS, update_interval_s=0.1))
    assert "frequency_hz" in readings[5].absent
    assert result.budget_wh["range"] == pytest.approx(0.002 * 15.0 / 360)


def test_peaks_are_cut_at_the_limit_of_the_range(make_bench: MakeBench) -> None:
    """A crest factor of 5 is cut at 333 % of the range, and power is lost."""
    bench = make_bench(parse_steps("0:4,3:9.6"), crest=5.0)
    readings, result = measure(bench)
    assert readings[15].current_peak_a == pytest.approx(0.1 * 10 / 3, rel=1e-4)
    assert (readings[15].power_w or 0.0) < 9.0
    assert {"clipping", "peak_over"} <= codes(result)
    assert Verdict.INVALID is result.verdict


def test_clipping_without_any_flag_shows_in_the_peaks(make_bench: MakeBench) -> None:
    """Half the power at 105 % of the range and no flag: the peaks tell that there is no energy."""
    bench = make_bench(constant(8.0))
    _, result = measure(bench, middle="clip share=0.5 current=1.05")
    assert "clipping" in codes(result)
    assert (Verdict.INVALID, None) == (result.verdict, result.energy_wh)


@pytest.mark.parametrize(
    ("fault", "flag", "code"),
    [
        ("scaling factor=1.02", MeterFlag.SCALING, "scaling"),
        ("leftover name=averaging", MeterFlag.AVERAGING, "settings_changed"),
        ("leftover name=max_hold", MeterFlag.MAX_HOLD, "settings_changed"),
        ("mode200", MeterFlag.OTHER_LANGUAGE, "settings_changed"),
    ],
)
def test_what_somebody_switches_on_in_the_middle_is_found(
    make_bench: MakeBench, fault: str, flag: MeterFlag, code: str
) -> None:
    """Scaling, averaging, MAX hold and WT200 mode are read again after the run."""
    readings, result = measure(make_bench(), middle=fault)
    assert {flag} == readings[-1].flags
    assert code in codes(result)
    assert Verdict.VALID is not result.verdict


def test_another_driver_finds_changed_settings_too(make_bench: MakeBench) -> None:
    """A restarted program does not know the settings before, but scaling is wrong in any case."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    second = bench.driver()
    second.attach()
    bench.fault("scaling factor=2")
    bench.time.sleep(11.0)
    assert MeterFlag.SCALING in second.read().flags


def test_a_changed_wiring_is_found(make_bench: MakeBench) -> None:
    """Other settings are compared as a whole with those before the run."""
    bench = make_bench(options=Options(model="WT333E"))
    bench.meter.prepare(replace(SETTINGS, current_range_a=0.5))
    bench.meter.start()
    bench.instrument.settings.wiring = "V3A3"
    bench.time.sleep(11.0)
    assert {MeterFlag.SETTINGS_CHANGED} == bench.meter.read().flags


def test_a_check_after_the_run_that_fails_is_tried_again(make_bench: MakeBench) -> None:
    """While the questions after the run have no answer, the reading says so."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(11.0)
    answer = bench.instrument.communication
    answer.command = "WT9000"
    assert {MeterFlag.UNCHECKED} == bench.meter.read().flags
    answer.command = "WT300"
    assert frozenset() == bench.meter.read().flags


def test_the_sum_of_all_elements(make_bench: MakeBench) -> None:
    """The sum of a WT333E is the whole load, and its parts are in each reading."""
    profile = parse_steps("0:20,4:31")
    bench = make_bench(profile, Options(model="WT333E"), shares=(0.5, 0.3, 0.2))
    readings, result = measure(bench, SUMS)
    assert result.energy_wh == pytest.approx(energy_wh(profile, 0, 10), rel=1e-5)
    assert [(1, 10.0), (2, 6.0), (3, 4.0)] == [
        (part.element, part.power_w) for part in readings[5].elements
    ]
    assert sum(part.energy_wh or 0.0 for part in result.elements) == pytest.approx(result.energy_wh)
    assert "wiring P1W3" in " ".join(finding.text for finding in result.findings)
    assert Verdict.VALID is result.verdict, result.findings


@pytest.mark.parametrize(("element", "share"), [("1", 0.5), ("2", 0.3), ("3", 0.2)])
def test_one_element_of_three(make_bench: MakeBench, element: str, share: float) -> None:
    """Each element of a WT333E can be measured alone, and the verdict names it."""
    bench = make_bench(constant(30.0), Options(model="WT333E"), shares=(0.5, 0.3, 0.2))
    _, result = measure(bench, replace(SUMS, element=element))
    assert result.energy_wh == pytest.approx(share * 30.0 / 360, rel=1e-5)
    assert f"Only element {element} was measured" in result.findings[0].text


def test_a_restarted_program_takes_the_element_that_it_finds_or_expects(
    make_bench: MakeBench,
) -> None:
    """Items of another element than the expected one are refused, so no energy is mixed up."""
    bench = make_bench(constant(30.0), Options(model="WT333E"), shares=(0.5, 0.3, 0.2))
    bench.meter.prepare(replace(SUMS, element="2"))
    second = bench.driver()
    second.attach()
    assert ("2", 9.0) == (second.settings().element, second.read().power_w)
    second.measure_element("1")
    with pytest.raises(MeterRefused, match="not those of a reading"):
        second.attach()
    second.arrange()
    assert ("1", 15.0) == (second.settings().element, second.read().power_w)


@pytest.mark.parametrize(
    ("model", "element", "words"),
    [
        ("WT310E", "2", "has no element 2; choose 1"),
        ("WT310E", SIGMA, "has no element SIGMA; choose 1"),
        ("WT332E", "2", "choose 1, 3 or SIGMA, the sum of all"),
    ],
)
def test_an_element_that_is_not_there_is_refused(
    make_bench: MakeBench, model: str, element: str, words: str
) -> None:
    """The refusal names the elements of the model, and nothing is changed."""
    bench = make_bench(options=Options(model=model))
    with pytest.raises(MeterRefused, match=words):
        bench.meter.prepare(replace(SUMS, element=element))
    assert {} == bench.instrument.settings.items


def test_firmware_without_power_factor_and_peaks_is_driven_all_the_same(
    make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items that the firmware refuses are left out; the readings say that nobody was asked."""
    known = ("U", "I", "P", "WH", "TIME", "URANge", "IRANge")
    monkeypatch.setattr(commands_numeric, "FUNCTIONS", known)
    readings, result = measure(make_bench())
    assert (None, None, {}) == (
        readings[5].frequency_hz,
        readings[5].current_peak_a,
        readings[5].absent,
    )
    assert Verdict.VALID is result.verdict, result.findings
    assert result.budget_wh["range"] == pytest.approx(0.001 * 15.0 / 360)
