# SPDX-License-Identifier: Apache-2.0
"""Findings that are added to a judged energy."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from power.energy.verdict import (
    EnergyResult,
    Verdict,
    finding_from_json,
    finding_to_json,
    invalid,
    note,
    result_to_json,
    suspect,
    with_findings,
)
from power.meter import IntegrationState

GOOD = EnergyResult(
    verdict=Verdict.VALID,
    energy_wh=0.5,
    uncertainty_wh=0.001,
    findings=(note("gap", "A gap."),),
    integrator_wh=0.5,
    end_state=IntegrationState.TIMEUP,
)


def test_an_added_finding_decides_with_the_others() -> None:
    """The gravest of all findings decides, and the judge's own findings come first."""
    result = with_findings(GOOD, [suspect("restarted_host", "The computer restarted.")])
    assert Verdict.SUSPECT is result.verdict
    assert 0.5 == result.energy_wh
    assert ["gap", "restarted_host"] == [finding.code for finding in result.findings]


def test_an_energy_that_becomes_invalid_is_withdrawn() -> None:
    """An energy that becomes INVALID is withdrawn for good, and the figure stays beside it."""
    good = replace(GOOD, mean_power_w=6.0, mean_power_uncertainty_w=0.1)
    result = with_findings(good, [invalid("overridden", "Another device was measured.")])
    assert (None, None) == (result.mean_power_w, result.mean_power_uncertainty_w)
    assert (Verdict.INVALID, None, None) == (
        result.verdict,
        result.energy_wh,
        result.uncertainty_wh,
    )
    assert 0.5 == result.integrator_wh
    assert with_findings(result, [note("said", "Nothing.")]).energy_wh is None


def test_nothing_added_changes_nothing() -> None:
    """An empty list gives the same result."""
    assert GOOD == with_findings(GOOD, [])


def test_findings_and_results_are_plain_json() -> None:
    """A finding comes back; a result is text with the words of the contract."""
    finding = suspect("clock", "Moved apart.")
    assert finding == finding_from_json(json.loads(json.dumps(finding_to_json(finding))))
    value = json.loads(json.dumps(result_to_json(GOOD), allow_nan=False))
    assert ("VALID", "TIMEUP") == (value["verdict"], value["end_state"])
    assert [{"code": "gap", "severity": "VALID", "text": "A gap."}] == value["findings"]


@pytest.mark.parametrize("value", [{}, {"code": "a", "severity": "BAD", "text": ""}, 5])
def test_other_values_are_no_findings(value: object) -> None:
    """A finding without a code or with an unknown severity is refused."""
    with pytest.raises(ValueError, match="BAD|not a finding"):
        finding_from_json(value)  # type: ignore[arg-type]
