# SPDX-License-Identifier: Apache-2.0
"""The table of models against the manual's (IM WT310E-17EN, pages 6-12 and 6-13)."""

from __future__ import annotations

import pytest

from power.emulator.settings import MODELS as EMULATED
from power.wt310.models import MODELS

VOLTS = {3: "15 30 60 150 300 600", 6: "7.5 15 30 75 150 300"}
SMALL = {
    3: ".005 .01 .02 .05 .1 .2 .5 1 2 5 10 20",
    6: ".0025 .005 .01 .025 .05 .1 .25 .5 1 2.5 5 10",
}
LARGE = {3: "1 2 5 10 20 40", 6: ".5 1 2.5 5 10 20"}
THREE_PHASE = {3: ".5 1 2 5 10 20", 6: ".25 .5 1 2.5 5 10"}
AMPERES = {
    **dict.fromkeys(("WT310", "WT310E"), SMALL),
    **dict.fromkeys(("WT310HC", "WT310EH"), LARGE),
    **dict.fromkeys(("WT330", "WT332", "WT333", "WT330E", "WT332E", "WT333E"), THREE_PHASE),
}


def numbers(text: str) -> tuple[float, ...]:
    """Return the ranges in a line of the manual's table."""
    return tuple(map(float, text.split()))


def test_every_model_is_in_the_manual() -> None:
    """The manual's table has each model that the driver takes and that the emulator plays."""
    assert AMPERES.keys() == MODELS.keys() >= EMULATED.keys()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("crest_factor", [3, 6])
def test_the_ranges_are_those_of_the_manual(name: str, crest_factor: int) -> None:
    """Driver and emulator have the manual's ranges of each model, at both crest factors."""
    volts, amperes = numbers(VOLTS[crest_factor]), numbers(AMPERES[name][crest_factor])
    assert pytest.approx(volts) == MODELS[name].voltage_ranges(crest_factor)
    assert pytest.approx(amperes) == MODELS[name].current_ranges(crest_factor)
    if name in EMULATED:
        assert pytest.approx(volts) == EMULATED[name].ranges("VOLTage", str(crest_factor))
        assert pytest.approx(amperes) == EMULATED[name].ranges("CURRent", str(crest_factor))
