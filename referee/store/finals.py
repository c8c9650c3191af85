# SPDX-License-Identifier: Apache-2.0
"""Queries for reviews of SUSPECT energies, and for the approval of final results."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.core.instant import Instant


@dataclass(frozen=True)
class Review:
    """Who lets a SUSPECT energy count, and why."""

    reason: str
    operator: str
    utc: str


@dataclass(frozen=True)
class FinalResults:
    """Approved results: who approved them, when, and the results themselves, ready for JSON."""

    approved_by: tuple[str, ...]
    utc: str
    results: Mapping[str, object]


def insert_review(
    connection: sqlite3.Connection, energy_id: int, at: Instant, operator: str, reason: str
) -> None:
    """Add the review of an energy."""
    connection.execute(
        "insert into reviews (energy_id, reason, operator, utc)"
        " values (:energy, :reason, :operator, :utc)",
        {
            "energy": energy_id,
            "reason": reason,
            "operator": operator,
            "utc": at.utc.isoformat(),
        },
    )


def review_of(connection: sqlite3.Connection, energy_id: int) -> Review | None:
    """Return the review of an energy, or None."""
    row = connection.execute(
        "select reason, operator, utc from reviews where energy_id = :energy",
        {"energy": energy_id},
    ).fetchone()
    return None if row is None else Review(*row)


def insert_finalization(
    connection: sqlite3.Connection,
    at: Instant,
    approved_by: Sequence[str],
    results: Mapping[str, object],
) -> None:
    """Record final results; they stand until `insert_reopening`."""
    _insert(connection, at, "final", approved_by, "", results)


def insert_reopening(
    connection: sqlite3.Connection, at: Instant, operator: str, reason: str
) -> None:
    """Record that the results are provisional again."""
    _insert(connection, at, "reopened", [operator], reason, {})


def final_results(connection: sqlite3.Connection) -> FinalResults | None:
    """Return the final results, or None while the results are provisional."""
    row = connection.execute(
        "select kind, approved_by, utc, results from finalizations"
        " order by finalization_id desc limit 1"
    ).fetchone()
    if row is None or row["kind"] != "final":
        return None
    return FinalResults(tuple(json.loads(row["approved_by"])), row["utc"], json.loads(row[3]))


def is_final(connection: sqlite3.Connection) -> bool:
    """Tell whether the results are final; cheaper than `final_results`."""
    row = connection.execute(
        "select kind from finalizations order by finalization_id desc limit 1"
    ).fetchone()
    return row is not None and row[0] == "final"


def _insert(
    connection: sqlite3.Connection,
    at: Instant,
    kind: str,
    approved_by: Sequence[str],
    reason: str,
    results: Mapping[str, object],
) -> None:
    connection.execute(
        "insert into finalizations (kind, approved_by, reason, results, utc)"
        " values (:kind, :approved_by, :reason, :results, :utc)",
        {
            "kind": kind,
            "approved_by": json.dumps(list(approved_by)),
            "reason": reason,
            "results": json.dumps(results, allow_nan=False),
            "utc": at.utc.isoformat(),
        },
    )
