# SPDX-License-Identifier: Apache-2.0
"""Rows for people who watch a session: its newest readings, and its flagged answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class PowerSample:
    """The power of one reading; None where the meter had no number."""

    reading_id: int
    elapsed_s: float
    power_w: float | None


def recent_power(
    connection: sqlite3.Connection, session_id: int, after: int, limit: int
) -> list[PowerSample]:
    """Return the session's newest readings above the number `after`, in order."""
    rows = connection.execute(
        "select reading_id, elapsed_s, power_w from readings where session_id = :session"
        " and reading_id > :after order by reading_id desc limit :limit",
        {"session": session_id, "after": after, "limit": limit},
    ).fetchall()
    return [PowerSample(*row) for row in reversed(rows)]


def flagged_answers(
    connection: sqlite3.Connection, session_id: int, after: int, limit: int
) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each answer in time with flagged rows, above `after`."""
    rows = connection.execute(
        "select answer_id, content from answers where session_id = :session"
        " and answer_id > :after and late = 0 and flagged_count > 0"
        " order by answer_id limit :limit",
        {"session": session_id, "after": after, "limit": limit},
    )
    for row in rows:
        yield row["answer_id"], row["content"]
