# SPDX-License-Identifier: Apache-2.0
"""Overrides: an operator lets a FAIL pass, or acknowledges a WARN, with a reason on record.

Either holds for the finding as it is found. It lapses when the finding's level or text changes, and
at the next midnight of the laptop's own time zone. Whoever overrides a finding today has not looked
at tomorrow's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from referee.core.instant import Instant
from referee.errors import Refusal
from referee.service.preflight.finding import CheckResult, Level
from referee.service.setup.clock import Clock
from referee.store.database import Database
from referee.store.notices import insert_audit
from referee.store.preflight import (
    StoredOverride,
    insert_override,
    insert_override_end,
    standing_overrides,
)


def holds(override: StoredOverride, finding: CheckResult, day: str) -> bool:
    """Tell whether an override lets a finding pass on a day (an ISO date)."""
    same = (override.group, override.item, override.text) == (*finding.key, _subject(finding))
    return same and override.day == day and finding.level is not Level.OK


def override_of(
    finding: CheckResult, overrides: Sequence[StoredOverride], day: str
) -> StoredOverride | None:
    """Return the override that lets a finding pass on a day, or None."""
    return next((one for one in overrides if holds(one, finding, day)), None)


def day_of(utc: datetime) -> str:
    """Return the day of a moment in the laptop's own time zone, as an ISO date."""
    return utc.astimezone().date().isoformat()


def overrides_of_today(database: Database, clock: Clock) -> list[StoredOverride]:
    """Return today's overrides that nobody has taken back."""
    return standing_overrides(database.connection, day_of(clock.now().utc))


def make_override(
    database: Database,
    now: Instant,
    finding: CheckResult | None,
    seen: tuple[Level, str],
    reason: str,
    operator: str,
) -> None:
    """Let sessions be armed despite a FAIL, or acknowledge a WARN; a repeat changes nothing.

    `seen` is the level and the text that the operator saw. Raises `Refusal` without a reason, and
    if the finding is in order or another one by now.
    """
    _require_reason(reason)
    if finding is None or finding.level is Level.OK:
        raise Refusal("nothing_to_override", "This check is in order now. Look again.")
    if (finding.level, finding.text) != seen:
        raise Refusal(
            "finding_moved",
            f"The check finds something else now: {finding.level.value}: {finding.text} Look "
            "again.",
        )
    day = day_of(now.utc)
    with database.write() as connection:
        if override_of(finding, standing_overrides(connection, day), day) is not None:
            return
        utc = now.utc.isoformat()
        made = StoredOverride(0, *finding.key, _subject(finding), day, reason, operator, utc)
        number = insert_override(connection, made)
        detail = f"{number}: {finding.group}, {finding.item}: {finding.text} Reason: {reason}"
        action = "override check" if finding.level is Level.FAIL else "acknowledge check"
        insert_audit(connection, now, operator, action, None, detail)


def take_back(
    database: Database, now: Instant, override_id: int, reason: str, operator: str
) -> None:
    """End an override; a FAIL forbids arming again. A repeat changes nothing."""
    _require_reason(reason)
    with database.write() as connection:
        day = day_of(now.utc)
        if override_id not in {
            override.override_id for override in standing_overrides(connection, day)
        }:
            return
        insert_override_end(connection, override_id, reason, operator, now.utc.isoformat())
        detail = f"{override_id}: {reason}"
        insert_audit(connection, now, operator, "take back override", None, detail)


def _subject(finding: CheckResult) -> str:
    """Return what is stored of a finding: whoever acknowledged a WARN let no FAIL pass."""
    return finding.text if finding.level is Level.FAIL else f"{finding.level.value}: {finding.text}"


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise Refusal("reason_missing", "This needs a reason, which stays on record. Give one.")
