# SPDX-License-Identifier: Apache-2.0
"""The meter's errors: the fault, and apart from it any remedy that could destroy an energy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from power.errors import (
    PREPARE_AGAIN,
    SWITCH_OFF,
    MeterError,
    MeterRefused,
    MeterReplyError,
    MeterSilent,
)
from power.scpi import parse_fields, parse_floats

SOURCES = Path(__file__).parents[2] / "power"


@pytest.mark.parametrize("kind", [MeterError, MeterSilent, MeterReplyError])
def test_remedy_stands_apart_from_the_text(kind: type[MeterError]) -> None:
    """The text names the fault, and the remedy follows only on request."""
    error = kind("the meter is stuck").with_remedy(SWITCH_OFF)
    assert "the meter is stuck" == str(error)
    assert f"the meter is stuck; {SWITCH_OFF}" == error.whole_text()


def test_error_without_a_remedy() -> None:
    """An error without a remedy reads the same with and without one."""
    error = MeterRefused("the meter refused START", 813, "Cannot set")
    assert (813, "Cannot set", "") == (error.code, error.text, error.remedy)
    assert str(error) == error.whole_text() == "the meter refused START"


def test_no_text_advises_to_cut_the_power() -> None:
    """No text advises to cut the power, but the remedies and the step that is about it."""
    advice = re.compile(r"off and on|power.cycle the|unplug (it|the)", re.IGNORECASE)
    found = [
        path.relative_to(SOURCES).as_posix()
        for path in sorted(SOURCES.rglob("*.py"))
        if any(advice.search(line) for line in path.read_text().splitlines() if '"' in line)
    ]
    assert ["checklist/steps.py", "errors.py"] == found


@pytest.mark.parametrize(
    "spoil",
    [lambda: parse_fields("1,2", 3), lambda: parse_floats(b"1234", 2)],
    ids=["text", "block"],
)
def test_what_stops_readings_during_a_run_advises_nothing_that_ends_it(
    spoil: Callable[[], object],
) -> None:
    """During a run no text advises to prepare the meter; that advice is a remedy."""
    with pytest.raises(MeterReplyError, match="end that program$") as caught:
        spoil()
    assert PREPARE_AGAIN == caught.value.remedy
