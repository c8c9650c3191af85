# SPDX-License-Identifier: Apache-2.0
"""docs/power.md agrees with the code."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from power.cli import main
from power.emulator.faults import CATALOGUE
from power.energy import certainty_checks, course_checks, unofficial_checks, value_checks
from power.energy import judge as energy
from power.energy.conditions import AmbientConditions
from power.energy.uncertainty import Measuring, energy_limit
from power.meter import Identity, IntegrationState, MeterSettings, Reading
from power.wt310.models import MODELS

ROOT = Path(__file__).parents[2]
TEXT = re.sub(r"\s+", " ", (ROOT / "docs" / "power.md").read_text())


def test_every_command_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """The page names every command."""
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^    (\w+) +\S", capsys.readouterr().out, re.MULTILINE)
    assert len(listed) >= 10
    assert [] == [name for name in listed if f"`{name}`" not in TEXT]


def test_every_model_is_there() -> None:
    """The list of supported models has every model."""
    assert [] == [name for name in MODELS if name not in TEXT]


def test_the_worked_example_is_what_the_code_says() -> None:
    """Each term of the worked budget, and its sum, agrees with the code."""
    measuring = Measuring(
        Identity("YOKOGAWA", "WT310E", "", ""),
        MeterSettings(timer_s=600, voltage_range_v=300.0, current_range_a=0.1),
        AmbientConditions(31.0, date(2026, 1, 31)),
    )
    reading = Reading(
        monotonic_s=1.0,
        utc=datetime(2026, 6, 1, tzinfo=UTC),
        voltage_v=230.0,
        current_a=8.0 / 230.0 / 0.6,
        power_w=8.0,
        energy_wh=None,
        integration_s=None,
        state=IntegrationState.START,
        power_factor=0.6,
        frequency_hz=50.0,
        voltage_peak_v=325.0,
        current_peak_a=0.2,
    )
    energy_wh = 8.0 * 600 / 3600
    limit = energy_limit([reading], energy_wh, 600.0, measuring)
    assert limit is not None
    rows = {name: wh for name, wh in limit.terms_wh.items() if wh > 0}
    assert [] == [name for name, wh in rows.items() if f" {name} {wh:.6f}," not in TEXT]
    total_wh = limit.total_wh
    assert f" sum {total_wh:.6f}." in TEXT
    assert f"{energy_wh:.4f} Wh ± {total_wh:.4f} Wh ({100 * total_wh / energy_wh:.2f} %)" in TEXT


def test_every_finding_is_listed_where_energies_are_judged() -> None:
    """One docstring names every finding's code, because programs rely on the codes."""
    source = "".join(
        Path(part.__file__).read_text()
        for part in (certainty_checks, course_checks, unofficial_checks, value_checks)
    )
    found = set(re.findall(r'(?:invalid|suspect|note)\(\s*"(\w+)"', source))
    found |= {code for _, _, code, _ in value_checks.AFTER}
    documented = set(re.findall(r"`(\w+)`", energy.__doc__ or ""))
    assert len(found) > 20
    assert [] == sorted(found - documented)


def test_help_lists_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """`emulate --help` explains every fault."""
    with pytest.raises(SystemExit):
        main(["emulate", "--help"])
    text = capsys.readouterr().out
    assert [] == [name for name in CATALOGUE if f"\n  {name} " not in text]
