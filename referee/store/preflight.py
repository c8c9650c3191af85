# SPDX-License-Identifier: Apache-2.0
"""Queries for the findings of the slow checks before an event, and for overrides of findings."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from power.meter import Identity


@dataclass(frozen=True)
class StoredFinding:
    """What a slow check found at `utc`, and for which `basis`; `meter` is the one that answered."""

    group: str
    item: str
    level: str
    text: str
    remedy: str
    basis: str
    utc: str
    meter: Identity | None = None


@dataclass(frozen=True)
class StoredOverride:
    """An override of a finding with exactly this text on one day (an ISO date), not taken back."""

    override_id: int
    group: str
    item: str
    text: str
    day: str
    reason: str
    operator: str
    utc: str


def insert_finding(connection: sqlite3.Connection, finding: StoredFinding) -> None:
    """Add what a check found."""
    number = connection.execute(
        "insert into check_findings (category, item, level, text, remedy, basis, utc)"
        " values (:category, :item, :level, :text, :remedy, :basis, :utc)",
        {
            "category": finding.group,
            "item": finding.item,
            "level": finding.level,
            "text": finding.text,
            "remedy": finding.remedy,
            "basis": finding.basis,
            "utc": finding.utc,
        },
    ).lastrowid
    if finding.meter is not None:
        connection.execute(
            "insert into found_meters values (:finding, :maker, :model, :serial, :firmware)",
            {"finding": number, **vars(finding.meter)},
        )


def newest_findings(connection: sqlite3.Connection) -> list[StoredFinding]:
    """Return the newest finding of each item."""
    rows = connection.execute(
        "select category, item, level, text, remedy, basis, utc, maker, model, serial, firmware"
        " from check_findings left join found_meters using (finding_id)"
        " where finding_id in (select max(finding_id) from check_findings group by category, item)"
        " order by finding_id"
    )
    return [_finding(row) for row in rows]


def _finding(row: Sequence[Any]) -> StoredFinding:
    *fields, maker, model, serial, firmware = row
    meter = None if maker is None else Identity(maker, model, serial, firmware)
    return replace(StoredFinding(*fields), meter=meter)


def insert_override(connection: sqlite3.Connection, override: StoredOverride) -> int:
    """Add an override, whose own number does not matter; return its number."""
    cursor = connection.execute(
        "insert into check_overrides (category, item, text, day, reason, operator, utc)"
        " values (:category, :item, :text, :day, :reason, :operator, :utc)",
        {
            "category": override.group,
            "item": override.item,
            "text": override.text,
            "day": override.day,
            "reason": override.reason,
            "operator": override.operator,
            "utc": override.utc,
        },
    )
    return int(cursor.lastrowid or 0)


def insert_override_end(
    connection: sqlite3.Connection, override_id: int, reason: str, operator: str, utc: str
) -> None:
    """Record that an override was taken back."""
    connection.execute(
        "insert into check_override_ends (override_id, reason, operator, utc)"
        " values (:override, :reason, :operator, :utc)",
        {"override": override_id, "reason": reason, "operator": operator, "utc": utc},
    )


def standing_overrides(connection: sqlite3.Connection, day: str) -> list[StoredOverride]:
    """Return the overrides of a day that nobody has taken back, the oldest first."""
    rows = connection.execute(
        "select override_id, category, item, text, day, reason, operator, utc"
        " from check_overrides where day = :day"
        " and override_id not in (select override_id from check_override_ends)"
        " order by override_id",
        {"day": day},
    )
    return [StoredOverride(*row) for row in rows]
