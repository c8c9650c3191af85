# SPDX-License-Identifier: Apache-2.0
"""How far an energy can be trusted: a verdict, and the findings that it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """Say how far an energy can be trusted.

    VALID: use it. SUSPECT: a person must look at the findings and decide. INVALID: there is no
    energy for this session; offer a new run.
    """

    VALID = "VALID"
    SUSPECT = "SUSPECT"
    INVALID = "INVALID"


@dataclass(frozen=True)
class Finding:
    """Hold one thing that was noticed: a stable code, what it does to the verdict, and words.

    Severity VALID is a note that changes nothing.
    """

    code: str
    severity: Verdict
    text: str


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
    """Return the gravest severity among the findings, VALID if there are none."""
    order = (Verdict.VALID, Verdict.SUSPECT, Verdict.INVALID)
    return max((finding.severity for finding in findings), key=order.index, default=Verdict.VALID)
