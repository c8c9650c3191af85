# SPDX-License-Identifier: Apache-2.0
"""An energy with its verdict, and the findings behind the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import msgspec

from power.energy.duration import Duration
from power.meter import ElementValues, IntegrationState
from power.values import elements_to_json


class Verdict(Enum):
    """The trust in an energy.

    VALID: use it. SUSPECT: a person must read the findings and decide. INVALID: this session has no
    energy; offer a new run.
    """

    VALID = "VALID"
    SUSPECT = "SUSPECT"
    INVALID = "INVALID"


@dataclass(frozen=True)
class Finding:
    """A finding about an energy: a stable code, its severity, and a text for people.

    The severity is the best verdict that the finding allows. VALID marks a note, which changes
    nothing.
    """

    code: str
    severity: Verdict
    text: str


@dataclass(frozen=True)
class EnergyResult:
    """The energy of one session, and everything that is known about its quality.

    `energy_wh` is None if the verdict is INVALID. `integrator_wh` is the last value that the meter
    showed, also if it cannot be used. `integration_s` is the meter's TIME, whole seconds cut off;
    `duration_s` is how long it integrated, as exactly as is known (see `power.energy.duration`),
    and `mean_power_w` has the digits that this leaves, None without an energy. `cross_check_wh` is
    the energy by the sampled powers instead of the integrator. `uncertainty_wh` is the limit of
    error from the meter's accuracy table, None if a range is not known. `budget_wh` has its terms
    by name.
    `over_one_percent` is the share of the time in which the power alone was less certain than 1 %.
    `conditions` has the answers to the questions for ambient temperature and calibration, where
    they were asked. `element` says what was measured; `elements` has the single elements of a sum.
    `both_ways` has the energies of both directions as `both_ways_to_json` writes them, where a load
    may give power back.
    """

    verdict: Verdict
    energy_wh: float | None
    uncertainty_wh: float | None
    findings: tuple[Finding, ...]
    integrator_wh: float | None = None
    cross_check_wh: float | None = None
    integration_s: float | None = None
    session_s: float | None = None
    end_state: IntegrationState | None = None
    samples: int = 0
    mean_power_w: float | None = None
    duration_s: float | None = None
    duration_uncertainty_s: float | None = None
    mean_power_uncertainty_w: float | None = None
    budget_wh: Mapping[str, float] = field(default_factory=dict)
    over_one_percent: float | None = None
    conditions: Mapping[str, object] = field(default_factory=dict)
    element: str = "1"
    elements: tuple[ElementValues, ...] = ()
    both_ways: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def duration(self) -> Duration | None:
        """Return how long the meter integrated, None if that is not known."""
        if self.duration_s is None:
            return None
        return Duration(self.duration_s, self.duration_uncertainty_s or 0.0)


def note(code: str, text: str) -> Finding:
    """Return a finding that leaves the verdict as it is."""
    return Finding(code, Verdict.VALID, text)


def suspect(code: str, text: str) -> Finding:
    """Return a finding that makes the energy SUSPECT."""
    return Finding(code, Verdict.SUSPECT, text)


def invalid(code: str, text: str) -> Finding:
    """Return a finding that makes the energy INVALID."""
    return Finding(code, Verdict.INVALID, text)


def worst(findings: Iterable[Finding]) -> Verdict:
    """Return the worst severity among the findings, or VALID if there are none."""
    order = (Verdict.VALID, Verdict.SUSPECT, Verdict.INVALID)
    return max((finding.severity for finding in findings), key=order.index, default=Verdict.VALID)


def with_findings(result: EnergyResult, added: Iterable[Finding]) -> EnergyResult:
    """Return the result with more findings, appended to those of the judge.

    Only this function adds findings to a judged energy. The verdict then follows from all findings
    together. An energy that becomes INVALID is withdrawn. An empty `added` changes nothing.
    """
    findings = (*result.findings, *added)
    verdict = worst(findings)
    usable = verdict is not Verdict.INVALID
    return replace(
        result,
        verdict=verdict,
        findings=findings,
        energy_wh=result.integrator_wh if usable else None,
        uncertainty_wh=result.uncertainty_wh if usable else None,
        mean_power_w=result.mean_power_w if usable else None,
        mean_power_uncertainty_w=result.mean_power_uncertainty_w if usable else None,
        both_ways=result.both_ways if usable else dict.fromkeys(result.both_ways),
    )


def finding_to_json(finding: Finding) -> dict[str, str]:
    """Return a finding as JSON values."""
    return {"code": finding.code, "severity": finding.severity.value, "text": finding.text}


def finding_from_json(value: object) -> Finding:
    """Return the finding that `finding_to_json` wrote; another value is a ValueError."""
    try:
        return msgspec.convert(value, Finding)
    except msgspec.ValidationError as error:
        raise ValueError(f"{value!r} is not a finding: {error}") from None


def result_to_json(result: EnergyResult) -> dict[str, object]:
    """Return an energy with its verdict as JSON values."""
    fields = {name: value for name, value in vars(result).items() if name != "both_ways"}
    return {
        **fields,
        **result.both_ways,
        "verdict": result.verdict.value,
        "end_state": None if result.end_state is None else result.end_state.value,
        "findings": [finding_to_json(finding) for finding in result.findings],
        "budget_wh": dict(result.budget_wh),
        "conditions": dict(result.conditions),
        "elements": elements_to_json(result.elements),
    }
