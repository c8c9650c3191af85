# SPDX-License-Identifier: Apache-2.0
"""What a session has become on the disk, read past all of the referee's processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from referee.core.detections import unpack

Rows = list[tuple[float, ...]]


@dataclass(frozen=True)
class StoredAnswer:
    """An answer with its number, its moment in the session, and its boxes."""

    number: int
    elapsed_s: float
    late: bool
    rows: Rows


def query(database: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Return what a query finds, nothing where the disk or the database is away.

    The connection may not write. So it does no clean-up that a power cut would have prevented.
    """
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as link:
            return link.execute(sql, values).fetchall()
    except sqlite3.Error:
        return []


def event_s(database: Path, session: int, kind: str) -> float | None:
    """Return the moment of a session's event in seconds of the boot, None before it is stored."""
    sql = "select monotonic_s from session_events where session_id = ? and kind = ?"
    rows = query(database, sql, session, kind)
    return float(str(rows[0][0])) if rows else None


def answers_of(database: Path, session: int) -> list[StoredAnswer]:
    """Return a session's answers in the order of storing."""
    sql = "select answer_id, elapsed_s, late, content from answers where session_id = ?"
    return [
        StoredAnswer(int(str(number)), float(str(elapsed)), bool(late), _rows(content))
        for number, elapsed, late, content in query(database, f"{sql} order by 1", session)
    ]


def recoveries(database: Path, session: int) -> Sequence[float]:
    """Return when a new desk took the session over, in seconds of Unix time."""
    sql = "select utc from audit where session_id = ? and action = 'recover'"
    return [
        datetime.fromisoformat(str(utc)).timestamp() for (utc,) in query(database, sql, session)
    ]


def _rows(content: object) -> Rows:
    assert isinstance(content, bytes)
    found = unpack(content)
    table = np.column_stack((found.image_id, found.class_id, found.confidence, found.box))
    return [tuple(row) for row in table.tolist()]
