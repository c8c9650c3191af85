# SPDX-License-Identifier: Apache-2.0
"""Findings about what a run cannot promise: clipping, changed settings, calibration, elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from power.energy.conditions import (
    NOT_RECORDED,
    AmbientConditions,
    conditions_from_json,
    conditions_to_json,
    parse_ambient,
    parse_calibrated,
)
from power.energy.judge import (
    EnergyResult,
    RunFacts,
    Verdict,
    facts_from_json,
    facts_to_json,
    judge_energy,
)
from power.energy.verdict import result_to_json
from power.meter import (
    SIGMA,
    ElementValues,
    Identity,
    IntegrationState,
    MeterFlag,
    MeterSettings,
    Reading,
)

Make = Callable[..., Reading]
SETTINGS = MeterSettings(timer_s=10, voltage_range_v=150.0, current_range_a=0.1)
WT310E = Identity("YOKOGAWA", "WT310E", "1", "F1.01")


@pytest.fixture
def run(make_reading: Make) -> Callable[..., list[Reading]]:
    """Return a function that makes a run of 10 s; changes apply to the given seconds."""

    def make(seconds: Sequence[int] = (), **changes: Any) -> list[Reading]:
        rows, energy_ws, power_w = [], 0.0, 6.0
        for second in range(1, 11):
            changed = changes if second in seconds else {}
            energy_ws += changed.get("power_w", power_w)
            rows.append(
                make_reading(
                    second + 0.2,
                    **{
                        "power_w": power_w,
                        "current_a": power_w / 120.0,
                        "frequency_hz": 60.0,
                        "voltage_peak_v": 169.7,
                        "current_peak_a": 0.0707,
                        "energy_wh": energy_ws / 3600,
                        **changed,
                    },
                )
            )
        end = replace(rows[-1], state=IntegrationState.TIMEUP, integration_s=10.0)
        return [*rows[:-1], replace(end, monotonic_s=10.2), replace(end, monotonic_s=11.3)]

    return make


def judge(readings: list[Reading], settings: MeterSettings = SETTINGS, **more: Any) -> EnergyResult:
    """Judge a session of 10 s on a WT310E."""
    return judge_energy(readings, session_s=10.0, settings=settings, **{"identity": WT310E, **more})


def codes(result: EnergyResult) -> dict[str, Verdict]:
    """Return the findings' codes with their severities."""
    return {finding.code: finding.severity for finding in result.findings}


def test_a_sound_run_has_no_finding(run: Any) -> None:
    """Power factor, frequency and peaks of a sound run raise no question."""
    assert {} == codes(judge(run()))


@pytest.mark.parametrize(
    ("changes", "factor", "expected"),
    [
        ({"current_peak_a": 0.3}, 3, Verdict.VALID),
        ({"current_peak_a": 0.31}, 3, Verdict.SUSPECT),
        ({"current_peak_a": 0.3333}, 3, Verdict.INVALID),
        ({"voltage_peak_v": 460.0}, 3, Verdict.SUSPECT),
        ({"voltage_peak_v": 500.0}, 3, Verdict.INVALID),
        ({"current_peak_a": 0.59}, 6, Verdict.VALID),
        ({"current_peak_a": 0.61}, 6, Verdict.SUSPECT),
        ({"current_peak_a": 0.6667}, 6, Verdict.INVALID),
    ],
)
def test_peaks_above_the_crest_factor_are_clipping(
    run: Any, changes: dict[str, float], factor: int, expected: Verdict
) -> None:
    """A peak above three times the range (six at crest factor 6) is SUSPECT, a cut one INVALID."""
    result = judge(run(range(4, 5), **changes), replace(SETTINGS, crest_factor=factor))
    clipped = {"clipping"} if expected is not Verdict.VALID else set()
    assert clipped == set(codes(result)) - {"readings_over_1_percent"}
    assert expected is result.verdict


def test_half_the_power_at_105_percent_of_the_range_has_no_energy(run: Any) -> None:
    """Crests cut at the limit show in the peaks, where current and flags look sound."""
    clipped = run(range(1, 11), power_w=3.0, current_a=0.105, current_peak_a=10 / 3 * 0.1)
    result = judge(clipped)
    assert (Verdict.INVALID, None, None) == (
        *(result.verdict, result.energy_wh),
        result.uncertainty_wh,
    )
    assert "cuts the rest" in " ".join(finding.text for finding in result.findings)


def test_what_a_gap_lacks_of_the_powers_seen_leaves_no_energy(run: Any) -> None:
    """Crests may have been cut while nobody read; more than the powers seen stays a question."""
    seen = [row for row in run(range(4, 9), power_w=3.0) if not 4 < row.monotonic_s < 9]
    lost = judge(seen)
    assert Verdict.INVALID is codes(lost)["cross_check"]
    assert None is lost.energy_wh
    assert any("Crests may have been cut off there" in found.text for found in lost.findings)
    more = [row for row in run(range(4, 9), power_w=9.0) if not 4 < row.monotonic_s < 9]
    assert Verdict.SUSPECT is codes(judge(more))["cross_check"]


@pytest.mark.parametrize(
    ("seconds", "changes", "text"),
    [
        (
            range(3, 9),
            {"power_w": 0.0, "current_a": 0.0},
            "For 67 % of the time the meter showed no power. Otherwise the power alone was certain "
            "to 0.23 %.",
        ),
        (
            range(1, 11),
            {"power_w": 0.0, "current_a": 0.0},
            "The meter showed no power at all, so no percentage is known of it.",
        ),
        (
            range(4, 7),
            {"power_w": 0.4, "current_a": 0.4 / 120},
            "The power alone was less certain than 1 % for 33 % of the time, up to 1.98 % of it.",
        ),
    ],
)
def test_a_time_without_power_has_no_percentage(
    run: Any, seconds: range, changes: dict[str, float], text: str
) -> None:
    """A share of the power above 1 % stands beside powers above zero alone."""
    result = judge(run(seconds, **changes))
    (found,) = [one.text for one in result.findings if one.code == "readings_over_1_percent"]
    assert text == found


def _on_auto_range(run: Any, blank: Sequence[int]) -> EnergyResult:
    missing = {"power_w": None, "voltage_v": None, "current_a": None}
    rows = [
        replace(row, **missing, absent=dict.fromkeys(missing, "no data"))
        if row.state is IntegrationState.START and int(row.monotonic_s) in blank
        else row
        for row in run(range(5, 11), power_w=2.0)
    ]
    return judge(rows, replace(SETTINGS, current_range_a=None))


def test_auto_range_that_settles_has_a_wider_limit(run: Any) -> None:
    """While a range switched any of the powers seen may have flowed, and the advice has peaks."""
    steady, once = _on_auto_range(run, []), _on_auto_range(run, [5])
    assert "range switching" not in steady.budget_wh
    assert pytest.approx(4.0 / 3600) == once.budget_wh["range switching"]
    assert Verdict.SUSPECT is once.verdict
    (advice,) = [one.text for one in once.findings if one.code == "auto_range"]
    assert "169.7 V and 0.0707 A: 3 times a range at most" in advice


def test_auto_range_that_never_settles_has_no_energy(run: Any) -> None:
    """Then the meter's energy is mostly an estimate: a real one was six times too low."""
    result = _on_auto_range(run, range(3, 9))
    assert (Verdict.INVALID, None) == (codes(result)["never_settled"], result.energy_wh)
    assert "()" not in " ".join(one.text for one in result.findings)


def test_a_quantity_that_never_had_a_value_is_told(run: Any) -> None:
    """So nobody finds an empty column later; the charges of one direction need DC mode."""
    chosen = {"S": 6.0, "AHP": None, "AHM": None, "UTHD": None}
    result = judge([replace(row, quantities=chosen) for row in run()])
    (found,) = [one.text for one in result.findings if one.code == "items_empty"]
    assert (
        "The meter never showed a value for AHP, AHM, UTHD. It counts AHP and AHM in DC mode alone."
        == found
    )
    assert "items_empty" not in codes(judge([replace(row, quantities={"S": 1.0}) for row in run()]))


def test_without_peaks_a_current_above_its_range_is_suspect(run: Any) -> None:
    """A log of an earlier version has no peaks, so 105 % of the range is SUSPECT."""
    changes = {"current_a": 0.105, "current_peak_a": None, "voltage_peak_v": None}
    assert "above_range" in codes(judge(run(range(1, 11), **changes)))


@pytest.mark.parametrize(
    ("flag", "code", "verdict"),
    [
        (MeterFlag.SCALING, "scaling", Verdict.INVALID),
        (MeterFlag.AVERAGING, "settings_changed", Verdict.SUSPECT),
        (MeterFlag.MAX_HOLD, "settings_changed", Verdict.SUSPECT),
        (MeterFlag.OTHER_LANGUAGE, "settings_changed", Verdict.SUSPECT),
        (MeterFlag.SETTINGS_CHANGED, "settings_changed", Verdict.SUSPECT),
        (MeterFlag.UNCHECKED, "unchecked", Verdict.SUSPECT),
    ],
)
def test_settings_that_changed_during_the_run(
    run: Any, flag: MeterFlag, code: str, verdict: Verdict
) -> None:
    """A setting that differs after the run is a finding, and no energy stays VALID."""
    readings = run()
    readings[-1] = replace(readings[-1], flags=frozenset({flag}))
    result = judge(readings)
    assert {code: verdict} == codes(result)
    assert verdict is result.verdict


def test_a_check_after_the_run_that_worked_later_is_no_finding(run: Any) -> None:
    """The check after the run may fail once; what counts is the last reading."""
    readings = run()
    readings[-2] = replace(readings[-2], flags=frozenset({MeterFlag.UNCHECKED}))
    assert {} == codes(judge(readings))


@pytest.mark.parametrize(("idle", "found"), [(range(1, 5), False), (range(1, 8), True)])
def test_a_device_that_drew_nothing_for_half_the_run(run: Any, idle: range, found: bool) -> None:
    """Nothing for 7 of 10 s is a finding, nothing for 4 s is none; so is a device at rest."""
    readings = run(idle, power_w=0.001, current_a=0.0)
    assert found == ("no_load_half" in codes(judge(readings)))
    assert "no_load_half" not in codes(judge(readings, active=False))


@pytest.mark.parametrize(
    ("state", "measured_s", "session_s", "found"),
    [
        (IntegrationState.STOP, 9.0, 10.0, True),
        (IntegrationState.STOP, 10.0, 10.0, False),
        (IntegrationState.STOP, 9.0, 9.6, False),
        (IntegrationState.TIMEUP, 10.0, 10.0, False),
    ],
)
def test_a_stop_in_the_last_second_is_found(
    run: Any, state: IntegrationState, measured_s: float, session_s: float, found: bool
) -> None:
    """A run of full length ends by its timer, so a STOP just before it was somebody's."""
    readings = [
        row if row.state is IntegrationState.START else replace(row, integration_s=measured_s)
        for row in run()
    ]
    readings[-2:] = [replace(row, state=state) for row in readings[-2:]]
    readings = [row for row in readings if (row.integration_s or 0.0) <= measured_s]
    result = judge_energy(readings, session_s=session_s, settings=SETTINGS, identity=WT310E)
    assert found == ("stopped_short" in codes(result))
    assert (Verdict.SUSPECT if found else Verdict.VALID) is result.verdict, result.findings


def test_the_bound_of_spec_is_found_by_its_name(run: Any) -> None:
    """On 12 times the range the energy is less certain than 1 %, and so is each reading."""
    settings = replace(SETTINGS, voltage_range_v=300.0, current_range_a=0.5)
    result = judge(run(range(1, 11), voltage_range_v=300.0, current_range_a=0.5), settings)
    assert {"spec_1_percent", "readings_over_1_percent"} == set(codes(result))
    assert Verdict.VALID is result.verdict
    assert 1.0 == result.over_one_percent


def test_bursts_say_how_long_they_were_uncertain(run: Any) -> None:
    """With 0.3 W for half of the time the energy is within 1 %, and half of the readings not."""
    result = judge(run(range(2, 11, 2), power_w=0.3, current_a=0.0025))
    assert {"readings_over_1_percent"} == set(codes(result))
    assert result.over_one_percent == pytest.approx(4 / 9)


@pytest.mark.parametrize(
    ("calibrated", "words"),
    [
        (date(2025, 1, 1), None),
        (date(2024, 12, 31), "12 months before the run"),
        (date(2023, 6, 30), "30 months before the run"),
        (date(2026, 1, 2), "later than the run"),
    ],
)
def test_the_table_holds_for_twelve_months(run: Any, calibrated: date, words: str | None) -> None:
    """A calibration up to its anniversary counts; an older one, or a later one, is SUSPECT."""
    result = judge(run(), conditions=AmbientConditions(23.0, calibrated))
    assert (words is not None) == (Verdict.SUSPECT is result.verdict)
    if words:
        assert words in result.findings[0].text


@pytest.mark.parametrize(
    ("changes", "settings", "conditions"),
    [
        ({}, SETTINGS, AmbientConditions(41.0)),
        ({"frequency_hz": 400.0}, replace(SETTINGS, line_filter=True), AmbientConditions()),
        ({"frequency_hz": 120_000.0}, SETTINGS, AmbientConditions()),
    ],
)
def test_where_the_manual_gives_no_accuracy(
    run: Any, changes: dict[str, float], settings: MeterSettings, conditions: AmbientConditions
) -> None:
    """A hot room, the line filter at 400 Hz and 120 kHz have no figure, so a person decides."""
    result = judge(run(range(1, 11), **changes), settings, conditions=conditions)
    assert Verdict.SUSPECT is codes(result)["unspecified"]


def test_nobody_answered(run: Any) -> None:
    """Without answers the result says that they are not recorded."""
    told = result_to_json(judge(run()))["conditions"]
    assert {"ambient_c": NOT_RECORDED, "calibrated": NOT_RECORDED} == told
    answered = judge(run(), conditions=AmbientConditions(24.5, date(2025, 6, 1)))
    assert {"ambient_c": 24.5, "calibrated": "2025-06-01"} == result_to_json(answered)["conditions"]


def test_the_terms_add_up_to_the_uncertainty(run: Any) -> None:
    """The result has every term by its name, and their sum is the uncertainty."""
    result = judge(run())
    assert {"reading", "range", "integration", "timer"} <= set(result.budget_wh)
    assert sum(result.budget_wh.values()) == pytest.approx(result.uncertainty_wh)


def test_an_element_is_named(run: Any) -> None:
    """A meter with several elements says which one was measured, and how it is wired."""
    settings = replace(SETTINGS, element="3", wiring="P3W4")
    result = judge(run(), settings)
    assert "Only element 3 was measured, wiring P3W4" in result.findings[0].text
    assert "3" == result.element


def test_a_sum_names_its_parts_and_must_be_their_sum(run: Any) -> None:
    """The sum of elements lists them; a wiring that leaves one out makes it SUSPECT."""
    settings = replace(SETTINGS, element=SIGMA, wiring="P3W4")
    total_wh = 60.0 / 3600
    good = (ElementValues(1, 4.0, 0.6 * total_wh), ElementValues(2, 2.0, 0.4 * total_wh))
    assert {"elements": Verdict.VALID} == _elements_of(
        judge(run(range(1, 11), elements=good), settings)
    )
    left_out = (*good, ElementValues(3, 1.0, 0.1 * total_wh))
    found = _elements_of(judge(run(range(1, 11), elements=left_out), settings))
    assert Verdict.SUSPECT is found["elements_differ"]


def _elements_of(result: EnergyResult) -> dict[str, Verdict]:
    return {code: verdict for code, verdict in codes(result).items() if "element" in code}


def test_conditions_survive_json() -> None:
    """Facts with conditions come back."""
    conditions = AmbientConditions(23.5, date(2026, 1, 31))
    facts = RunFacts(WT310E, SETTINGS, conditions=conditions)
    assert facts == facts_from_json(facts_to_json(facts))
    assert conditions == conditions_from_json(conditions_to_json(conditions))


@pytest.mark.parametrize("text", ["", "warm", "nan", "1000", "inf"])
def test_a_temperature_must_be_one(text: str) -> None:
    """Words and temperatures at which nobody measures are refused."""
    with pytest.raises(ValueError, match="not an ambient temperature"):
        parse_ambient(text)


@pytest.mark.parametrize("text", ["", "last year", "31.01.2026", "2026-02-30"])
def test_a_date_must_be_one(text: str) -> None:
    """Other forms than 2026-01-31, and days that do not exist, are refused."""
    with pytest.raises(ValueError, match="not a date of calibration"):
        parse_calibrated(text)
