# SPDX-License-Identifier: Apache-2.0
"""Queries for notices, which the console shows, and for the audit of operators' actions."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from referee.core.actors import role_of
from referee.core.instant import Instant

Level = Literal["info", "warning", "alarm"]


@dataclass(frozen=True)
class Notice:
    """One message to people: an `alarm` needs action now, a `warning` needs a look."""

    notice_id: int
    session_id: int | None
    utc: str
    level: Level
    text: str


def insert_notice(
    connection: sqlite3.Connection, session_id: int | None, utc: str, level: Level, text: str
) -> None:
    """Add a notice; without `session_id` it concerns the referee as a whole."""
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


def alarm_notices(connection: sqlite3.Connection) -> list[Notice]:
    """Return all alarms, in order."""
    rows = connection.execute(
        "select notice_id, session_id, utc, level, text from notices"
        " where level = 'alarm' order by notice_id"
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
    at: Instant,
    operator: str,
    action: str,
    session_id: int | None,
    detail: str = "",
    *,
    reason: str = "",
    team_id: int | None = None,
    refusal: str | None = None,
) -> None:
    """Record an operator's action; call it in the transaction that carries out the action.

    `operator` is an `Actor`, or a plain text if the referee itself acts. `team_id` is for an action
    without a session. `refusal` says why nothing was done; None means that the action is done.
    """
    connection.execute(
        "insert into audit"
        " (utc, operator, role, action, session_id, team_id, detail, reason, refusal) values"
        " (:utc, :operator, :role, :action, :session, :team, :detail, :reason, :refusal)",
        {
            "utc": at.utc.isoformat(),
            "operator": str(operator),
            "role": role_of(operator),
            "action": action,
            "session": session_id,
            "team": team_id,
            "detail": detail,
            "reason": reason,
            "refusal": refusal,
        },
    )


def audit_of(connection: sqlite3.Connection, session_id: int) -> list[dict[str, str]]:
    """Return the operators' actions on a session that are done, in order.

    `detail` is the reason of an action that has one.
    """
    rows = connection.execute(
        """
        select utc, operator, role, action,
            case reason when '' then detail else reason end as detail
        from audit where session_id = :session and refusal is null order by audit_id
        """,
        {"session": session_id},
    )
    return [dict(row) for row in rows]
