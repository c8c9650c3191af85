# SPDX-License-Identifier: Apache-2.0
"""Queries for reviews of sessions that were not run as the others were."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from referee.core.conditions import Difference
from referee.core.instant import Instant


def insert_condition_review(
    connection: sqlite3.Connection,
    session_id: int,
    reviewed: Sequence[Difference],
    at: Instant,
    operator: str,
    reason: str,
) -> None:
    """Record that a session counts in spite of these differences."""
    connection.execute(
        "insert into condition_reviews (session_id, differences, reason, operator, utc)"
        " values (:session, :differences, :reason, :operator, :utc)",
        {
            "session": session_id,
            "differences": json.dumps([[one.condition, one.found, one.usual] for one in reviewed]),
            "reason": reason,
            "operator": str(operator),
            "utc": at.utc.isoformat(),
        },
    )


def reviewed_differences(connection: sqlite3.Connection, session_id: int) -> frozenset[Difference]:
    """Return the differences of a session that somebody lets stand.

    Each is known by what was usual then, too: against other sessions it needs another review.
    """
    rows = connection.execute(
        "select differences from condition_reviews where session_id = :session",
        {"session": session_id},
    )
    return frozenset(Difference(*one) for row in rows for one in json.loads(row[0]))
