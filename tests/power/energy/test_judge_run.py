# SPDX-License-Identifier: Apache-2.0
"""Stored facts are enough to judge an energy again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from power.energy.judge import RunFacts, facts_from_json, facts_to_json, judge_run
from power.energy.verdict import Verdict, suspect
from power.meter import Identity, IntegrationState, MeterFlag, MeterSettings, Reading
from power.values import reading_from_json, reading_to_json

Make = Callable[..., Reading]
TIMEUP = IntegrationState.TIMEUP
IDENTITY = Identity("YOKOGAWA", "WT310E", "1", "F1.01")


@pytest.fixture
def run(make_reading: Make) -> list[Reading]:
    """Return the readings of a faultless run of 10 s at 6 W."""
    running = [
        make_reading(k + 0.5, energy_wh=6.0 * k / 3600, integration_s=float(k)) for k in range(10)
    ]
    ended = [
        make_reading(at_s, energy_wh=60.0 / 3600, integration_s=10.0, state=TIMEUP)
        for at_s in (10.5, 11.6)
    ]
    return [*running, *ended]


def test_a_run_is_judged_again_from_text_alone(
    run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Facts and readings from JSON give the same energy, findings and verdict."""
    facts = RunFacts(
        IDENTITY, fixed_settings, suspended_s=2.5, added=(suspect("restarted_host", "Restart."),)
    ).ended(10.0, run[-1])
    stored = json.dumps([facts_to_json(facts), [reading_to_json(row) for row in run]])
    read_facts, read_rows = json.loads(stored)
    again = judge_run([reading_from_json(row) for row in read_rows], facts_from_json(read_facts))
    assert facts == facts_from_json(read_facts)
    assert again == judge_run(run, facts)
    assert {"suspended", "restarted_host"} == {finding.code for finding in again.findings}
    assert 60.0 / 3600 == again.energy_wh


def test_facts_add_flags_and_ranges_that_the_rows_lack(
    run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """The meter's last report judges a log that has no columns for flags and ranges."""
    facts = RunFacts(IDENTITY, fixed_settings, session_s=10.0, current_range_a=0.2)
    bare = [replace(row, voltage_range_v=None, current_range_a=None) for row in run]
    assert "range_changed" in {finding.code for finding in judge_run(bare, facts).findings}
    cut = replace(facts, current_range_a=None, flags=frozenset({MeterFlag.CURRENT_PEAK_OVER}))
    assert ["peak_over"] == [finding.code for finding in judge_run(bare, cut).findings]


def test_a_device_without_reason_to_draw_power(
    make_reading: Make, fixed_settings: MeterSettings
) -> None:
    """The facts tell the judge whether the device had a reason to draw power."""
    idle = [
        make_reading(0.5, power_w=0.0, current_a=0.0, energy_wh=0.0, integration_s=0.0),
        *(
            make_reading(
                at_s, power_w=0.0, current_a=0.0, energy_wh=0.0, integration_s=10.0, state=TIMEUP
            )
            for at_s in (10.5, 11.6)
        ),
    ]
    facts = RunFacts(IDENTITY, fixed_settings, session_s=10.0)
    assert Verdict.INVALID is judge_run(idle, facts).verdict
    assert Verdict.INVALID is not judge_run(idle, replace(facts, active=False)).verdict


def test_facts_of_a_run_that_goes_on_cannot_be_judged(
    run: list[Reading], fixed_settings: MeterSettings
) -> None:
    """Facts without the session's length cannot be judged."""
    with pytest.raises(ValueError, match="session_s"):
        judge_run(run, RunFacts(IDENTITY, fixed_settings))


WHOLE = facts_to_json(RunFacts(None, MeterSettings(5), session_s=5.0))


@pytest.mark.parametrize(
    "value",
    [
        *({}, [], {"identity": None}, {"identity": 5, "settings": {}}),
        *({name: WHOLE[name] for name in WHOLE if name != gone} for gone in sorted(WHOLE)),
    ],
)
def test_other_values_are_no_facts(value: object) -> None:
    """Any other value is refused with the expected form."""
    with pytest.raises(ValueError, match="not the facts of a run"):
        facts_from_json(value)  # type: ignore[arg-type]
