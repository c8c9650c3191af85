# SPDX-License-Identifier: Apache-2.0
"""Queries for the view of a running session: its newest readings and its flagged answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class PowerSample:
    """The power of one reading; `power_w` is None if the meter gave no number."""

    reading_id: int
    elapsed_s: float
    power_w: float | None


def recent_power(
    connection: sqlite3.Connection, session_id: int, after: int, limit: int
) -> list[PowerSample]:
    """Return the session's newest readings with a number above `after`, in order."""
    rows = connection.execute(
        "select reading_id, elapsed_s, power_w from readings where session_id = :session"
        " and reading_id > :after order by reading_id desc limit :limit",
        {"session": session_id, "after": after, "limit": limit},
    ).fetchall()
    return [PowerSample(*row) for row in reversed(rows)]


def flagged_answers(
    connection: sqlite3.Connection, session_id: int, after: int, limit: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each answer in time that has flagged rows.

    Only answers with a number above `after` are returned, at most `limit`.
    """
    rows = connection.execute(
        "select answer_id, content from answers where session_id = :session"
        " and answer_id > :after and late = 0 and flagged_count > 0"
        " order by answer_id limit :limit",
        {"session": session_id, "after": after, "limit": limit},
    )
    for row in rows:
        yield row["answer_id"], row["content"]
