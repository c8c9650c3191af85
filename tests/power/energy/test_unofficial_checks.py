# SPDX-License-Identifier: Apache-2.0
"""The judge on meters that are not official, and their limits of error."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from power.commands.output import result_text
from power.energy.conditions import AmbientConditions
from power.energy.judge import EnergyResult, Verdict, judge_energy
from power.meter import Identity, IntegrationState, MeterFlag, MeterSettings, Reading, Sampling
from power.values import settings_from_json, settings_to_json

PLUG = Identity("Shelly", "SNPL", "1", "1")
SAMPLING = Sampling("shelly", 0.01, offset_w=0.1, interval_s=1.0, longest_gap_s=3.0)
SETTINGS = MeterSettings(timer_s=60, sampling=SAMPLING)
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def run(powers_w: list[float | None], volts: float | None = None) -> list[Reading]:
    """Return the readings of a run with these powers, one a second, and its confirmed end."""
    rows, energy_wh = [], 0.0
    for second, power_w in enumerate(powers_w, 1):
        energy_wh += (power_w or 5.0) / 3600
        rows.append(
            Reading(
                monotonic_s=float(second),
                utc=EPOCH + timedelta(seconds=second),
                voltage_v=volts,
                current_a=None,
                power_w=power_w,
                energy_wh=None if power_w is None else energy_wh,
                integration_s=None if power_w is None else float(second),
                state=IntegrationState.START,
                absent={} if power_w is not None else {"power_w": "no sample", "energy_wh": "none"},
            )
        )
    for second in (1, 2):
        last = len(powers_w) + second
        rows.append(
            replace(
                rows[-1],
                monotonic_s=float(last),
                utc=EPOCH + timedelta(seconds=last),
                energy_wh=energy_wh,
                integration_s=float(len(powers_w)),
                state=IntegrationState.TIMEUP,
            )
        )
    return rows


def judged(
    readings: list[Reading], settings: MeterSettings = SETTINGS, identity: Identity = PLUG
) -> EnergyResult:
    """Return the judgement of a run of 60 s."""
    return judge_energy(readings, session_s=60.0, settings=settings, identity=identity)


def codes(result: EnergyResult, severity: Verdict = Verdict.SUSPECT) -> set[str]:
    """Return the codes of this severity."""
    return {finding.code for finding in result.findings if finding.severity is severity}


def test_another_meter_is_suspect_for_that_alone() -> None:
    """A good run on another meter is SUSPECT, for the meter alone, and keeps its energy."""
    result = judged(run([5.0] * 60))
    assert (result.verdict, codes(result)) == (Verdict.SUSPECT, {"not_official"})
    assert result.energy_wh == pytest.approx(5 / 60)
    assert "Shelly SNPL" in result.findings[0].text


def test_a_meter_with_an_integrator_of_its_own_is_not_official_either() -> None:
    """Only a Yokogawa of the WT300 series is official, whoever integrates."""
    plain = MeterSettings(timer_s=60, voltage_range_v=300.0, current_range_a=1.0)
    readings = run([5.0] * 60)
    assert "not_official" in codes(judged(readings, plain, Identity("Acme", "W9", "", "")))
    assert "not_official" in codes(
        judged(readings, SETTINGS, Identity("YOKOGAWA", "WT310", "", ""))
    )
    for model in ("WT310", "WT310E", "WT333"):
        found = judged(readings, plain, Identity("YOKOGAWA", model, "", ""))
        assert "not_official" not in codes(found)


@pytest.mark.parametrize(
    ("flag", "code"),
    [
        (MeterFlag.SAMPLES_MISSED, "samples_missed"),
        (MeterFlag.SLOW_SAMPLES, "slow_samples"),
        (MeterFlag.COUNTER_DIFFERS, "counter_differs"),
        (MeterFlag.SAMPLING_CHANGED, "sampling_changed"),
        (MeterFlag.SAMPLES_LOST, "samples_lost"),
        (MeterFlag.IMPOSSIBLE_POWER, "impossible_power"),
        (MeterFlag.COUNTER_RESTARTED, "counter_restarted"),
        (MeterFlag.DEVICE_RESTARTED, "device_restarted"),
        (MeterFlag.VOLT_AMPERES_DIFFER, "volt_amperes_differ"),
        (MeterFlag.DEVICE_FAULT, "device_fault"),
        (MeterFlag.WITNESS_COARSE, "witness_coarse"),
        (MeterFlag.NO_WITNESS, "no_witness"),
    ],
)
def test_each_flag_of_the_integrator_is_a_reason(flag: MeterFlag, code: str) -> None:
    """What the integrator flags is a reason of its own."""
    readings = run([5.0] * 60)
    readings[-1] = replace(readings[-1], flags=frozenset({flag}))
    result = judged(readings)
    assert codes(result) == {"not_official", code}
    assert "good enough" not in result.findings[0].text


def test_a_witness_that_says_otherwise_leaves_no_limit() -> None:
    """Nobody knows how wrong an energy is that the device's own counter contradicts."""
    for flag in (MeterFlag.COUNTER_DIFFERS, MeterFlag.VOLT_AMPERES_DIFFER):
        readings = run([5.0] * 60)
        readings[-1] = replace(readings[-1], flags=frozenset({flag}))
        assert judged(readings).uncertainty_wh is None


def test_a_processor_of_several_is_told() -> None:
    """A machine of two sockets has an energy of one of them."""
    settings = replace(SETTINGS, sampling=replace(SAMPLING, machine_parts=2))
    result = judged(run([5.0] * 60), settings)
    (text,) = [finding.text for finding in result.findings if finding.code == "one_part"]
    assert "one of 2 processors" in text


def test_a_few_readings_without_samples_are_suspect_and_many_invalid() -> None:
    """Up to a tenth of the run may be unseen; beyond that there is no energy."""
    few: list[float | None] = [5.0] * 60
    few[30:35] = [None] * 5
    assert codes(judged(run(few))) == {"not_official", "no_data"}
    few[30:37] = [None] * 7
    many = judged(run(few))
    assert "samples_missing" in codes(many, Verdict.INVALID)
    assert many.energy_wh is None


def test_a_silent_device_is_no_paused_meter() -> None:
    """Readings that show an old update while the device is silent are no finding about a clock."""
    readings = run([5.0] * 60)
    for second in range(20, 25):
        readings[second] = replace(readings[second], integration_s=20.0, energy_wh=100 / 3600)
    assert codes(judged(readings)) == {"not_official"}


def test_the_first_updates_may_be_empty() -> None:
    """Readings before the first whole update count for nothing."""
    powers: list[float | None] = [None, None, *[5.0] * 58]
    assert codes(judged(run(powers))) == {"not_official"}


def test_the_limit_has_the_devices_terms() -> None:
    """Reading, offset, the steps between samples, gaps and the clock make up the limit."""
    powers: list[float | None] = [4.0, 6.0] * 30
    powers[20] = None
    result = judged(
        run(powers, volts=10.0), replace(SETTINGS, sampling=replace(SAMPLING, offset_a=0.02))
    )
    terms = {name: wh * 3600 for name, wh in result.budget_wh.items()}
    assert terms["reading"] == pytest.approx(0.01 * (300 - 4) / 59 * 60, rel=1e-3)
    assert terms["offset"] == pytest.approx((0.1 + 0.02 * 10.0) * 60, rel=1e-3)
    # 59 powers, 56 steps of 2 W and one of 0 W over the gap.
    assert terms["between samples"] == pytest.approx(57 * 2 / 2, rel=1e-3)
    assert terms["gaps"] == pytest.approx(2.0)
    assert terms["clock"] == pytest.approx(1e-4 * 301, rel=1e-2)
    assert result.uncertainty_wh == pytest.approx(sum(result.budget_wh.values()))


def test_asking_more_often_hides_no_step() -> None:
    """A device that shows a value for a second may be a second late, however often it is asked."""
    powers: list[float | None] = [4.0, 6.0] * 30
    limits = []
    for interval_s in (1.0, 0.1):
        sampling = replace(SAMPLING, interval_s=interval_s, renewal_s=1.0)
        result = judged(run(powers), replace(SETTINGS, sampling=sampling))
        limits.append(result.budget_wh["between samples"] * 3600)
    assert limits == pytest.approx([59 * 2 * 1.5, 59 * 2 * 1.05])


def test_a_run_whose_steps_changed_has_no_limit() -> None:
    """Nobody knows the ± of a run that was measured in two ways, so there is none."""
    readings = run([5.0] * 60)
    readings[-1] = replace(readings[-1], flags=frozenset({MeterFlag.SAMPLING_CHANGED}))
    result = judged(readings)
    assert (result.uncertainty_wh, dict(result.budget_wh)) == (None, {})


def test_the_owner_of_a_plug_reads_nothing_of_a_wt310() -> None:
    """Another meter is told of no panel, no ranges, no calibration, and no 18 to 28 °C."""
    sound, gap = run([5.0] * 60), run([5.0] * 60)
    reversed_w: list[float | None] = [-5.0] * 60
    over = [replace(row, flags=frozenset({MeterFlag.OVER_RANGE})) for row in sound]
    texts = "".join(
        result_text(judged(readings))
        for readings in (sound, over, run(reversed_w), sound[:-1], gap[:20] + gap[30:])
    )
    assert "not read twice" in texts and "Gaps" in texts and "other way round" in texts
    assert not re.search("panel|range|calibrat|°C|own integrator|swap", texts)


def test_an_answer_that_was_given_is_kept() -> None:
    """Nobody asks for the temperature at a plug, but who tells it finds it again."""
    warm = AmbientConditions(ambient_c=31.0)
    result = judge_energy(
        run([5.0] * 60), session_s=60.0, settings=SETTINGS, identity=PLUG, conditions=warm
    )
    assert result.conditions == {"ambient_c": 31.0}
    assert "ambient  31 °C\n" in result_text(result)
    assert judged(run([5.0] * 60)).conditions == {}


def test_an_unknown_accuracy_is_told() -> None:
    """Without a specified accuracy there is no limit, and a note says why."""
    unknown = replace(SETTINGS, sampling=replace(SAMPLING, of_reading=None))
    result = judged(run([5.0] * 60), unknown)
    assert result.uncertainty_wh is None
    assert [it.text for it in result.findings if it.code == "uncertain"] == [
        "The accuracy of this meter is not known, so the uncertainty is not known."
    ]


def test_how_a_meter_samples_goes_through_json() -> None:
    """Settings with a sampling come back from JSON; those of a WT310 have no such key."""
    assert settings_from_json(settings_to_json(SETTINGS)) == SETTINGS
    assert "sampling" not in settings_to_json(MeterSettings(timer_s=1))
    with pytest.raises(ValueError, match="no_such"):
        settings_from_json({**settings_to_json(SETTINGS), "sampling": {"no_such": 1}})
