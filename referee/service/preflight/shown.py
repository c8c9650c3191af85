# SPDX-License-Identifier: Apache-2.0
"""The list of checks as the page, the command and its `--json` show it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from referee.errors import RefereeError
from referee.service.preflight.finding import Level


class ShownOverride(Struct, frozen=True, kw_only=True):
    """Who lets a FAIL pass, or acknowledged a WARN, and why."""

    number: int
    operator: str
    reason: str
    utc: str


class ShownFinding(Struct, frozen=True, kw_only=True):
    """A finding of the list.

    `lane` is None for one that concerns all lanes. `found_utc` and `age_s` are None for a check
    that was made just now.
    """

    group: str
    item: str
    lane: int | None | UnsetType = UNSET
    level: str
    text: str
    remedy: str
    found_utc: str | None = None
    age_s: float | None = None
    override: ShownOverride | None = None


class ShownList(Struct, frozen=True, kw_only=True):
    """The list of checks.

    `ready` is false while a FAIL stands that nobody has overridden, and once the results are
    `final`: then no session can be armed.
    """

    ready: bool
    final: bool
    findings: Sequence[ShownFinding]


class SlowProgress(Struct, frozen=True, kw_only=True):
    """How many slow checks are done, which one is on, and for how long they run."""

    done: int
    total: int
    item: str
    for_s: int


class LaneReadiness(Struct, frozen=True, kw_only=True):
    """A lane, and which session must be over before another one is armed in it, or ''."""

    number: int
    name: str
    waits: str


class ReadinessNow(ShownList, frozen=True, kw_only=True):
    """The list of a referee that runs; it is not `ready` while slow checks run."""

    running: bool
    progress: SlowProgress | None
    lanes: Sequence[LaneReadiness]


def no_list(item: str, error: RefereeError, remedy: str) -> ShownList:
    """Return a list that says why there is no other one."""
    row = ShownFinding(
        group="configuration", item=item, level=Level.FAIL.value, text=str(error), remedy=remedy
    )
    return ShownList(ready=False, final=False, findings=[row])
