# SPDX-License-Identifier: Apache-2.0
"""The verdict: the reasons for VALID, SUSPECT and INVALID."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from power.energy.judge import EnergyResult, Verdict, judge_energy
from power.meter import Identity, InputMode, IntegrationState, MeterFlag, MeterSettings, Reading

START, STOP, TIMEUP = IntegrationState.START, IntegrationState.STOP, IntegrationState.TIMEUP
WT310E = Identity("YOKOGAWA", "WT310E", "1", "F1.01")

Make = Callable[..., Reading]


@pytest.fixture
def good_run(make_reading: Make) -> list[Reading]:
    """Return the readings of a faultless run of 10 s at 6 W, read once per update."""
    reset = make_reading(-1.0, energy_wh=0.0, integration_s=0.0, state=IntegrationState.RESET)
    running = [
        make_reading(k + 0.5, energy_wh=6.0 * k / 3600, integration_s=float(k)) for k in range(10)
    ]
    # The first update after START has no data.
    running[0] = replace(
        running[0],
        power_w=None,
        voltage_v=None,
        current_a=None,
        absent=dict.fromkeys(("power_w", "voltage_v", "current_a"), "no data"),
    )
    ended = [
        make_reading(t, energy_wh=60.0 / 3600, integration_s=10.0, state=TIMEUP)
        for t in (10.5, 11.6)
    ]
    return [reset, *running, *ended]


def judge(readings: Sequence[Reading], settings: MeterSettings, **more: object) -> EnergyResult:
    """Judge a session of 10 s."""
    options: dict[str, Any] = {"session_s": 10.0, "settings": settings, **more}
    return judge_energy(readings, **options)


def codes(result: EnergyResult) -> dict[str, Verdict]:
    """Return the findings' codes with their severities."""
    return {finding.code: finding.severity for finding in result.findings}


def test_a_faultless_run_is_valid(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """In a faultless run the last WH is the energy, without a finding."""
    result = judge(good_run, fixed_settings)
    assert {} == codes(result)
    assert Verdict.VALID is result.verdict
    assert 60.0 / 3600 == result.energy_wh == result.integrator_wh
    assert 10.0 == result.integration_s
    assert TIMEUP is result.end_state
    assert result.mean_power_w == pytest.approx(6.0)
    assert result.cross_check_wh == pytest.approx(60.0 / 3600)


def test_uncertainty_is_the_sum_of_the_tables_terms(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """The uncertainty adds 0.1 % of reading, 0.05 % of 15 W, self-heating, integrator and timer."""
    result = judge(good_run, fixed_settings, identity=WT310E)
    energy = 60.0 / 3600
    heating = 1e-9 * 120.0**2
    expected = energy * (0.001 + heating + 0.001 + 0.0002) + 0.0005 * 15.0 * 10 / 3600
    assert result.uncertainty_wh == pytest.approx(expected)


def test_the_older_series_is_less_certain(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Without an identity the older series' wider limits count."""
    newer = judge(good_run, fixed_settings, identity=WT310E).uncertainty_wh
    older = judge(good_run, fixed_settings).uncertainty_wh
    assert older is not None and newer is not None
    assert older > newer


def test_no_readings_is_invalid(fixed_settings: MeterSettings) -> None:
    """A session without readings is INVALID."""
    result = judge([], fixed_settings)
    assert {"no_readings": Verdict.INVALID} == codes(result)
    assert result.energy_wh is None


def test_never_started_is_invalid(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """Readings in state RESET are INVALID."""
    assert {"not_started": Verdict.INVALID} == codes(judge(good_run[:1], fixed_settings))


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (IntegrationState.START, "not_ended"),
        (IntegrationState.RESET, "meter_reset"),
        (IntegrationState.ERROR, "meter_error"),
    ],
)
def test_a_run_that_did_not_end_properly_is_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings, state: IntegrationState, code: str
) -> None:
    """A run that ends other than by STOP or TIMEUP is INVALID, with its figure kept for people."""
    readings = [*good_run[:-1], replace(good_run[-1], state=state)]
    result = judge(readings, fixed_settings)
    assert Verdict.INVALID is codes(result)[code]
    assert result.energy_wh is None
    assert result.uncertainty_wh is None
    assert (None, None) == (result.mean_power_w, result.mean_power_uncertainty_w)
    assert 60.0 / 3600 == result.integrator_wh


def test_an_early_logout_is_valid(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """STOP after 5 s of a session of 5 s is VALID."""
    ended = [
        replace(
            row,
            **{"energy_wh": 30.0 / 3600, "integration_s": 5.0, "state": STOP},
            **{"monotonic_s": row.monotonic_s - 4.9, "utc": row.utc - timedelta(seconds=4.9)},
        )
        for row in good_run[-2:]
    ]
    result = judge([*good_run[:6], *ended], fixed_settings, session_s=5.3)
    assert {} == codes(result)
    assert 30.0 / 3600 == result.energy_wh


def test_final_energy_read_once_is_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A single final reading is SUSPECT, because it may show the update before the end."""
    result = judge(good_run[:-1], fixed_settings)
    assert {"final_unconfirmed": Verdict.SUSPECT} == codes(result)
    assert 60.0 / 3600 == result.energy_wh


def test_final_energy_read_twice_at_once_is_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Two final readings within one update are SUSPECT like a single one."""
    close = replace(good_run[-1], monotonic_s=good_run[-2].monotonic_s + 0.1)
    assert "final_unconfirmed" in codes(judge([*good_run[:-1], close], fixed_settings))


def test_final_energy_that_changes_is_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """An energy that still grows after the end is INVALID."""
    changed = replace(good_run[-1], energy_wh=0.02)
    assert (
        Verdict.INVALID is codes(judge([*good_run[:-1], changed], fixed_settings))["final_differs"]
    )


@pytest.mark.parametrize(
    ("session_s", "valid"), [(8.0, True), (7.9, False), (12.0, True), (12.1, False)]
)
def test_window_agrees_within_an_update_and_a_second(
    good_run: list[Reading], fixed_settings: MeterSettings, session_s: float, valid: bool
) -> None:
    """At one update per second TIME 10 s fits a session of 8 to 12 s only."""
    result = judge(good_run, fixed_settings, session_s=session_s)
    assert valid is ("window" not in codes(result))


@pytest.mark.parametrize(
    ("session_s", "valid"), [(86_417.0, True), (86_383.0, True), (86_500.0, False)]
)
def test_the_clocks_of_a_long_run_drift_apart(
    make_reading: Make, fixed_settings: MeterSettings, session_s: float, valid: bool
) -> None:
    """The meter's timer is good to 0.02 %: 17 s in a day, after which somebody ended the run."""
    readings = [
        make_reading(
            float(at_s),
            integration_s=min(at_s, 86_400),
            energy_wh=min(at_s, 86_400) / 600,
            state=state,
        )
        for at_s, state in ((0, START), (43_200, START), (86_400, STOP), (86_401, STOP))
    ]
    result = judge(readings, replace(fixed_settings, timer_s=36_000_000), session_s=session_s)
    assert valid is ("window" not in codes(result))


def test_another_operators_timer_is_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A timer that ends at another time than it was set to is INVALID."""
    result = judge(good_run, replace(fixed_settings, timer_s=11))
    assert Verdict.INVALID is codes(result)["timer"]


def test_time_going_back_is_invalid(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """TIME that goes back is INVALID: somebody reset and started the meter."""
    good_run[5] = replace(good_run[5], integration_s=1.0)
    assert Verdict.INVALID is codes(judge(good_run, fixed_settings))["time_went_back"]


def test_energy_going_back_is_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Energy that drops beyond the meter's noise is INVALID."""
    good_run[6] = replace(good_run[6], energy_wh=0.0)
    assert Verdict.INVALID is codes(judge(good_run, fixed_settings))["energy_went_back"]


def test_a_restart_is_invalid(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """STOP and START at the panel are INVALID, since they leave a hole in the energy."""
    good_run[5] = replace(good_run[5], state=STOP)
    assert Verdict.INVALID is codes(judge(good_run, fixed_settings))["restarted"]


def test_a_second_end_is_a_restart_that_nobody_saw(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A run has one end: STOP, and then an end by the timer, means START between two readings."""
    good_run[10] = replace(good_run[10], state=STOP)
    assert {"restarted": Verdict.INVALID} == codes(judge(good_run, fixed_settings))


@pytest.mark.parametrize(
    ("flag", "code"),
    [
        (MeterFlag.OVER_RANGE, "over_range"),
        (MeterFlag.VOLTAGE_PEAK_OVER, "peak_over"),
        (MeterFlag.CURRENT_PEAK_OVER, "peak_over"),
        (MeterFlag.AUTO_RANGE, "range_changed"),
    ],
)
def test_flags_of_the_meter_are_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings, flag: MeterFlag, code: str
) -> None:
    """Clipping and forced auto-range are INVALID: their energy is plausible and wrong."""
    good_run[4] = replace(good_run[4], flags=frozenset({flag}))
    assert Verdict.INVALID is codes(judge(good_run, fixed_settings))[code]


def test_an_over_range_field_is_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """INF in a reading is INVALID."""
    good_run[4] = replace(good_run[4], power_w=None, absent={"power_w": "over range"})
    assert Verdict.INVALID is codes(judge(good_run, fixed_settings))["over_range"]


def test_a_fixed_range_that_changed_is_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A fixed range that changed by itself is INVALID."""
    good_run[-1] = replace(good_run[-1], current_range_a=1.0)
    result = judge(good_run, fixed_settings)
    assert Verdict.INVALID is codes(result)["range_changed"]
    assert "set to 0.1 A and changed to 1 A" in result.findings[0].text


def test_auto_range_is_suspect(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """An energy on auto-range is SUSPECT, and never VALID."""
    result = judge(good_run, replace(fixed_settings, current_range_a=None))
    assert {"auto_range": Verdict.SUSPECT} == codes(result)
    assert result.energy_wh is not None


def test_a_range_that_switched_on_auto_range_is_told(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """The finding on a range that switched lists the ranges."""
    good_run[4] = replace(good_run[4], current_range_a=0.2)
    result = judge(good_run, replace(fixed_settings, current_range_a=None))
    assert {"auto_range", "range_switched"} == set(codes(result))


def test_missing_numbers_are_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Missing numbers after the first updates are SUSPECT, and the finding names the fields."""
    good_run[7] = replace(good_run[7], power_w=None, absent={"power_w": "no data"})
    result = judge(good_run, fixed_settings)
    assert {"no_data": Verdict.SUSPECT} == codes(result)
    assert "power_w" in result.findings[0].text


def test_negative_power_is_suspect(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """Power below the meter's noise floor is SUSPECT and points at the wiring."""
    good_run[7] = replace(good_run[7], power_w=-1.0)
    assert Verdict.SUSPECT is codes(judge(good_run, fixed_settings))["negative_power"]


def test_tiny_negative_power_is_noise(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A power of -2.5e-08 W, as recorded without a load, is noise."""
    good_run[7] = replace(good_run[7], power_w=-2.5e-8)
    assert "negative_power" not in codes(judge(good_run, fixed_settings))


def test_no_load_is_invalid_unless_the_device_may_idle(
    make_reading: Make, fixed_settings: MeterSettings
) -> None:
    """About 0 W is INVALID, unless the device may idle."""
    readings = [
        make_reading(
            k + 0.5, power_w=1e-9, current_a=0.0, energy_wh=1e-12 * k, integration_s=float(k)
        )
        for k in range(10)
    ]
    readings += [
        make_reading(t, energy_wh=1e-11, integration_s=10.0, state=TIMEUP) for t in (10.5, 11.6)
    ]
    assert Verdict.INVALID is codes(judge(readings, fixed_settings))["no_load"]
    assert "no_load" not in codes(judge(readings, fixed_settings, active=False))


def test_reversed_wires_are_called_so(make_reading: Make, fixed_settings: MeterSettings) -> None:
    """A negative energy is INVALID and names the wires, not a device without power."""
    readings = [
        make_reading(k + 0.5, power_w=-6.0, energy_wh=-6.0 * k / 3600, integration_s=float(k))
        for k in range(10)
    ]
    readings += [
        make_reading(t, energy_wh=-60.0 / 3600, integration_s=10.0, state=TIMEUP)
        for t in (10.5, 11.6)
    ]
    result = judge(readings, fixed_settings)
    assert Verdict.INVALID is codes(result)["negative_energy"]
    assert "no_load" not in codes(result)
    (text,) = [finding.text for finding in result.findings if finding.code == "negative_energy"]
    assert "-6 W" in text and "reversed" in text


def test_samples_that_contradict_the_integrator_are_found(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Half the power in the samples contradicts the integrator, and is found."""
    readings = [replace(row, power_w=3.0) if row.power_w is not None else row for row in good_run]
    assert Verdict.INVALID is codes(judge(readings, fixed_settings))["cross_check"]


def test_a_small_contradiction_is_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Samples that differ by 20 % are SUSPECT and not INVALID."""
    readings = [replace(row, power_w=7.2) if row.power_w is not None else row for row in good_run]
    assert Verdict.SUSPECT is codes(judge(readings, fixed_settings))["cross_check"]


def test_a_gap_is_only_noted(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """A gap in the readings is only a note, since TIME proves that the integrator went on."""
    result = judge(good_run[:5] + good_run[9:], fixed_settings)
    assert {"gap": Verdict.VALID} == codes(result)
    assert Verdict.VALID is result.verdict


@pytest.mark.parametrize(
    ("last_s", "read_s", "gaps"),
    [
        (8.5, 40.0, {}),  # the integration ended at 10.5 s, and nothing was missed after that
        (6.5, 40.0, {"gap": "the longest 4.0 s"}),
        (6.5, 9.5, {"gap": "the longest 3.0 s"}),  # the reading after the gap came before that
    ],
)
def test_after_the_end_nothing_is_missed(
    good_run: list[Reading],
    fixed_settings: MeterSettings,
    last_s: float,
    read_s: float,
    gaps: dict[str, str],
) -> None:
    """The last gap ends with the integration, however late somebody read the result."""
    run = [row for row in good_run if row.monotonic_s <= last_s]
    run += [replace(row, monotonic_s=read_s + later) for row, later in zip(good_run[-2:], (0, 1.1))]
    found = {it.code: it.text for it in judge(run, fixed_settings).findings if it.code == "gap"}
    assert found.keys() == gaps.keys()
    assert all(words in found[code] for code, words in gaps.items())


def test_a_gap_of_more_than_half_is_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A gap of more than half of the run is SUSPECT: nobody knows the ranges meanwhile."""
    result = judge(good_run[:4] + good_run[10:], fixed_settings)
    assert {"gap": Verdict.VALID, "few_samples": Verdict.SUSPECT} == codes(result)


def test_readings_of_a_held_display_are_no_samples(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Readings of a held display are no samples, and the hold itself is a finding."""
    held = [
        replace(row, power_w=20.0, energy_wh=18.0 / 3600, integration_s=3.0) if 4 <= k <= 9 else row
        for k, row in enumerate(good_run)
    ]
    assert "cross_check" not in codes(judge(held, fixed_settings))


def test_a_held_display_is_suspect(good_run: list[Reading], fixed_settings: MeterSettings) -> None:
    """A TIME that stands still while our clock goes on is SUSPECT."""
    held = [
        replace(row, integration_s=3.0, energy_wh=18.0 / 3600) if 4 <= k <= 9 else row
        for k, row in enumerate(good_run)
    ]
    assert Verdict.SUSPECT is codes(judge(held, fixed_settings))["clock"]


@pytest.mark.parametrize("late", [1, 5, 9])
def test_a_late_reply_is_no_pause(
    good_run: list[Reading], fixed_settings: MeterSettings, late: int
) -> None:
    """A reply that took 4 s leaves a gap, and is not taken for a pause or a held display."""
    begun_s = good_run[0].monotonic_s
    rows = [good_run[0], replace(good_run[late], monotonic_s=good_run[late].monotonic_s + 4.0)]
    rows = good_run[:late] + rows[1:] + good_run[late + 4 :]
    rows = sorted(rows, key=lambda row: row.monotonic_s)
    assert rows[0].monotonic_s == begun_s
    assert "clock" not in codes(judge(rows, fixed_settings))


def test_a_pause_during_a_gap_is_found(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A meter that stood still for 4 s while nobody read it shows old times after the gap, too."""
    paused = [
        replace(row, monotonic_s=row.monotonic_s + 4.0) if k > 5 else row
        for k, row in enumerate(good_run)
    ]
    assert Verdict.SUSPECT is codes(judge(paused, fixed_settings))["clock"]


def test_no_more_is_missing_than_the_run_lasted(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Nothing is missed after the end of a run, however late its result is read."""
    late = [replace(row, monotonic_s=row.monotonic_s + 113.0) for row in good_run[-2:]]
    result = judge(good_run[:3] + late, fixed_settings)
    (text,) = [item.text for item in result.findings if "no readings for" in item.text]
    seconds, of = re.findall(r"[0-9.]+", text)[:2]
    assert float(seconds) <= float(of) == 10.0
    assert "few_samples" not in codes(judge(good_run[:-2] + late, fixed_settings))


def test_auto_range_after_a_fixed_run_has_both_causes(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """The sentence does not claim that the input was excessive: somebody may have pressed a key."""
    good_run[-1] = replace(good_run[-1], flags=frozenset({MeterFlag.AUTO_RANGE}))
    result = judge(good_run, fixed_settings)
    (text,) = [finding.text for finding in result.findings if finding.code == "range_changed"]
    assert "Somebody switched it on, or the meter protected itself" in text


def test_a_meter_that_still_integrates_has_no_length(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Before the end nobody knows how long the meter integrated, so no sentence says it."""
    result = judge(good_run[:4], fixed_settings)
    assert Verdict.INVALID is codes(result)["not_ended"]
    assert "window" not in codes(result)


def test_a_suspended_host_is_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A suspended host is SUSPECT, and the finding gives the seconds of sleep."""
    result = judge(good_run, fixed_settings, suspended_s=3.0)
    assert {"suspended": Verdict.SUSPECT} == codes(result)


def test_what_two_looks_at_a_clock_differ_by_is_no_sleep(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """On a computer that slept before the run, the clocks' last digits are no finding."""
    assert {} == codes(judge(good_run, fixed_settings, suspended_s=4e-7))


def test_a_clock_that_is_set_is_noted(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Each step of the wall clock is told, forward and back; the energy stays VALID."""
    hour, more = timedelta(hours=1), timedelta(hours=2)
    rows = [replace(row, utc=row.utc + hour) for row in good_run[4:]]
    rows[4:] = [replace(row, utc=row.utc - more) for row in rows[4:]]
    result = judge([*good_run[:4], *rows], fixed_settings)
    assert {"clock_set": Verdict.VALID} == codes(result)
    assert "+3600.0 s, -7200.0 s" in result.findings[0].text


def test_a_program_that_is_held_up_between_its_clocks_sees_no_set_clock(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """One reading with a late wall time is no step of the clock."""
    good_run[5] = replace(good_run[5], utc=good_run[5].utc + timedelta(seconds=3))
    assert {} == codes(judge(good_run, fixed_settings))


def test_current_above_its_range_is_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Current far above its range is SUSPECT: a real meter showed half the power without a flag."""
    rows = [replace(row, current_a=0.128, voltage_v=60.0) for row in good_run]
    assert Verdict.SUSPECT is codes(judge(rows, fixed_settings))["above_range"]


def test_more_power_than_volt_amperes_is_suspect(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Active power above apparent power is SUSPECT."""
    good_run[7] = replace(good_run[7], current_a=0.01)
    assert Verdict.SUSPECT is codes(judge(good_run, fixed_settings))["implausible"]


def test_dc_mode_on_alternating_current_is_noted(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """DC mode on alternating current is only noted: U and I are wrong, the energy is right."""
    rows = [replace(row, voltage_v=-0.009, current_a=-8e-5) for row in good_run]
    result = judge(rows, replace(fixed_settings, mode=InputMode.DC))
    assert {"mode": Verdict.VALID} == {
        code: severity for code, severity in codes(result).items() if code != "uncertain"
    }


def test_a_final_reading_without_energy_is_invalid(
    good_run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """A final reading with NaN or without an energy is INVALID."""
    for value in (None, float("nan")):
        readings = [*good_run[:-1], replace(good_run[-1], energy_wh=value)]
        result = judge(readings, fixed_settings)
        assert Verdict.INVALID is codes(result)["no_final_energy"]
        assert result.energy_wh is None
        assert result.integrator_wh is None
