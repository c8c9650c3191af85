# SPDX-License-Identifier: Apache-2.0
"""Rows for people: notices that the console shows, and the record of operators' actions."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

Level = Literal["info", "warning", "alarm"]


@dataclass(frozen=True)
class Notice:
    """One thing for people to know: `alarm` asks for action now, `warning` for a look."""

    notice_id: int
    session_id: int | None
    utc: str
    level: Level
    text: str


def insert_notice(
    connection: sqlite3.Connection, session_id: int | None, utc: str, level: Level, text: str
) -> None:
    """Add a notice, of a session or of the referee as a whole."""
    connection.execute(
        "insert into notices (session_id, utc, level, text) values (:session, :utc, :level, :text)",
        {"session": session_id, "utc": utc, "level": level, "text": text},
    )


def recent_notices(connection: sqlite3.Connection, count: int = 20) -> list[Notice]:
    """Return the newest notices, the newest first."""
    rows = connection.execute(
        "select notice_id, session_id, utc, level, text from notices"
        " order by notice_id desc limit :count",
        {"count": count},
    )
    return [Notice(*row) for row in rows]


def notices_of(connection: sqlite3.Connection, session_id: int) -> list[Notice]:
    """Return a session's notices in order."""
    rows = connection.execute(
        "select notice_id, session_id, utc, level, text from notices"
        " where session_id = :session order by notice_id",
        {"session": session_id},
    )
    return [Notice(*row) for row in rows]


def insert_audit(
    connection: sqlite3.Connection,
    *,
    utc: str,
    operator: str,
    action: str,
    session_id: int | None,
    detail: str,
) -> None:
    """Record who did what, in the transaction that also records the deed."""
    connection.execute(
        "insert into audit (utc, operator, action, session_id, detail)"
        " values (:utc, :operator, :action, :session, :detail)",
        {
            "utc": utc,
            "operator": operator,
            "action": action,
            "session": session_id,
            "detail": detail,
        },
    )


def audit_of(connection: sqlite3.Connection, session_id: int) -> list[dict[str, str]]:
    """Return what operators did with a session, in order."""
    rows = connection.execute(
        "select utc, operator, action, detail from audit where session_id = :session"
        " order by audit_id",
        {"session": session_id},
    )
    return [dict(row) for row in rows]
