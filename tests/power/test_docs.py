# SPDX-License-Identifier: Apache-2.0
"""docs/power.md agrees with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from power.cli import main
from power.emulator.faults import CATALOGUE
from power.energy import course_checks
from power.energy import judge as energy
from power.energy import value_checks
from power.energy.accuracy import accuracy_of, energy_uncertainty_wh
from power.meter import Identity, InputMode
from power.wt310.models import MODELS

ROOT = Path(__file__).parents[2]
TEXT = re.sub(r"\s+", " ", (ROOT / "docs" / "power.md").read_text())


def test_every_command_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of commands has every command."""
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^    (\w+) +\S", capsys.readouterr().out, re.MULTILINE)
    assert len(listed) >= 10
    assert [] == [name for name in listed if f"| `{name}" not in TEXT]


def test_every_model_is_there() -> None:
    """The list of supported models has every model."""
    assert [] == [name for name in MODELS if name not in TEXT]


def test_the_worked_example_is_what_the_code_says() -> None:
    """The worked example of 5 W for 600 s agrees with the code on 15 W and on 150 W of range."""
    accuracy = accuracy_of(Identity("YOKOGAWA", "WT310E", "", ""), InputMode.RMS)
    energy_wh = 5 * 600 / 3600
    small, large = (energy_uncertainty_wh(accuracy, energy_wh, w, 600) for w in (15, 150))
    assert f"= {small:.4f} Wh, that is {small / energy_wh:.2%}".replace("%", " %") in TEXT
    assert f"= {large:.4f} Wh, {large / energy_wh:.1%}".replace("%", " %") in TEXT


def test_every_finding_is_listed_where_energies_are_judged() -> None:
    """One docstring names every finding's code, because programs rely on the codes."""
    source = "".join(Path(part.__file__).read_text() for part in (course_checks, value_checks))
    found = set(re.findall(r'(?:invalid|suspect|note)\(\s*"(\w+)"', source))
    documented = set(re.findall(r"`(\w+)`", energy.__doc__ or ""))
    assert len(found) > 20
    assert [] == sorted(found - documented)


def test_help_lists_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """`emulate --help` explains every fault."""
    with pytest.raises(SystemExit):
        main(["emulate", "--help"])
    text = capsys.readouterr().out
    assert [] == [name for name in CATALOGUE if f"\n  {name} " not in text]
