# SPDX-License-Identifier: Apache-2.0
"""A finding of a check before an event: what was found, and what to do if that is not good."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from power.meter import Identity


class Level(Enum):
    """How good a finding is. While a FAIL stands, no session can be armed.

    A WARN is something that somebody can put right, or knows and acknowledges. What nobody could
    check here is a note: an OK with a remedy.
    """

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class CheckResult:
    """What a check found about one item of a group.

    `remedy` says what to do; an OK has none, unless it is a note. `found` is the time of a slow
    check, and None for a check that is made anew at each look. `basis` is what a slow check's
    finding holds for. `lane` is the lane that it concerns, None for all: its fault keeps no other
    lane from arming. `meter` is the meter that has answered. `is_old` says that the check must be
    made again.
    """

    group: str
    item: str
    level: Level
    text: str
    remedy: str = ""
    found: datetime | None = None
    basis: str = ""
    lane: int | None = None
    meter: Identity | None = None
    is_old: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Return group and item, which name the finding in the list."""
        return self.group, self.item


def ok(group: str, item: str, text: str) -> CheckResult:
    """Return a finding that is good."""
    return CheckResult(group, item, Level.OK, text)


def note(group: str, item: str, text: str, remedy: str) -> CheckResult:
    """Return a note of what could not be checked here; `remedy` says what to see to instead."""
    return CheckResult(group, item, Level.OK, f"not checked here: {text}", remedy)


def warn(group: str, item: str, text: str, remedy: str) -> CheckResult:
    """Return a finding that somebody should look at."""
    return CheckResult(group, item, Level.WARN, text, remedy)


def fail(group: str, item: str, text: str, remedy: str) -> CheckResult:
    """Return a finding that forbids arming."""
    return CheckResult(group, item, Level.FAIL, text, remedy)


def fails(findings: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the findings that forbid arming unless somebody overrides them."""
    return [finding for finding in findings if finding.level is Level.FAIL]
