# SPDX-License-Identifier: Apache-2.0
"""Queries for what operators write on a session: seen results, notes, rehearsals, extra time."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from referee.core.instant import Instant

AnnotationKind = Literal["seen", "note", "rehearsal", "counts"]


@dataclass(frozen=True)
class Annotation:
    """What an operator wrote on a session; of `rehearsal` and `counts` the newest decides."""

    kind: AnnotationKind
    text: str
    operator: str
    utc: str


def insert_annotation(
    connection: sqlite3.Connection,
    session_id: int,
    kind: AnnotationKind,
    at: Instant,
    *,
    operator: str,
    text: str = "",
) -> None:
    """Add an annotation; only `seen` needs no text."""
    connection.execute(
        "insert into session_marks (session_id, kind, text, operator, utc)"
        " values (:session, :kind, :text, :operator, :utc)",
        {
            "session": session_id,
            "kind": kind,
            "text": text,
            "operator": str(operator),
            "utc": at.utc.isoformat(),
        },
    )


def annotations_of(connection: sqlite3.Connection, session_id: int) -> list[Annotation]:
    """Return a session's annotations in order."""
    rows = connection.execute(
        "select kind, text, operator, utc from session_marks where session_id = :session"
        " order by mark_id",
        {"session": session_id},
    )
    return [Annotation(*row) for row in rows]


def rehearsals(connection: sqlite3.Connection) -> frozenset[int]:
    """Return the numbers of the sessions that are marked as rehearsals."""
    rows = connection.execute("""
        select session_id from session_marks as mark where kind = 'rehearsal' and not exists (
            select 1 from session_marks as later where later.session_id = mark.session_id
            and later.kind = 'counts' and later.mark_id > mark.mark_id
        )
        """)
    return frozenset(row[0] for row in rows)


def extra_seconds(connection: sqlite3.Connection, session_id: int) -> int:
    """Return the time that a session was given beyond its length, in seconds."""
    row = connection.execute(
        "select coalesce(sum(seconds), 0) from extra_times where session_id = :session",
        {"session": session_id},
    ).fetchone()
    return int(row[0])


def insert_extra_time(
    connection: sqlite3.Connection,
    session_id: int,
    seconds: int,
    at: Instant,
    *,
    operator: str,
    reason: str,
) -> None:
    """Lengthen a session that is not over."""
    connection.execute(
        "insert into extra_times (session_id, seconds, reason, operator, utc)"
        " values (:session, :seconds, :reason, :operator, :utc)",
        {
            "session": session_id,
            "seconds": seconds,
            "reason": reason,
            "operator": str(operator),
            "utc": at.utc.isoformat(),
        },
    )
