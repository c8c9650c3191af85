# SPDX-License-Identifier: Apache-2.0
"""Queries for notices, which the console shows, and for the audit of operators' actions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from referee.core.actors import role_of
from referee.core.instant import Instant

Level = Literal["info", "warning", "alarm"]

_COLUMNS = "notice_id, notices.session_id, utc, level, text, subject.notice_id, image_id, lane"
_INSERT_AUDIT = (
    "insert into audit (utc, operator, role, action, session_id, team_id, detail, reason, refusal)"
    " values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_WITH_SUBJECTS = (
    f"select {_COLUMNS} from notices left join notice_subjects as subject using (notice_id)"
)


@dataclass(frozen=True)
class Subject:
    """What a notice is about: an image that a team could not get, a lane's name, or neither."""

    image_id: int | None = None
    lane: str | None = None


@dataclass(frozen=True)
class Notice:
    """One message to people: an `alarm` needs action now, a `warning` needs a look.

    The text of a notice about a lane does not name the lane. `subject` is None in a notice of 1.0,
    which stored the text alone.
    """

    notice_id: int
    session_id: int | None
    utc: str
    level: Level
    text: str
    subject: Subject | None = None


def insert_notice(
    connection: sqlite3.Connection,
    session_id: int | None,
    utc: str,
    level: Level,
    text: str,
    subject: Subject = Subject(),  # noqa: B008 - a frozen value
) -> None:
    """Add a notice and its subject; without `session_id` it concerns no session."""
    row = connection.execute(
        "insert into notices (session_id, utc, level, text) values (:session, :utc, :level, :text)"
        " returning notice_id",
        {"session": session_id, "utc": utc, "level": level, "text": text},
    ).fetchone()
    connection.execute(
        "insert into notice_subjects values (:notice, :session, :image, :lane)",
        {
            "notice": row[0],
            "session": session_id,
            "image": subject.image_id,
            "lane": subject.lane or None,
        },
    )


def recent_notices(connection: sqlite3.Connection, count: int = 20) -> list[Notice]:
    """Return the newest notices, the newest first."""
    rows = connection.execute(
        f"{_WITH_SUBJECTS} order by notice_id desc limit :count", {"count": count}
    )
    return [_notice(row) for row in rows]


def alarm_notices(connection: sqlite3.Connection) -> list[Notice]:
    """Return all alarms, in order."""
    rows = connection.execute(f"{_WITH_SUBJECTS} where level = 'alarm' order by notice_id")
    return [_notice(row) for row in rows]


def notices_of(connection: sqlite3.Connection, session_id: int) -> list[Notice]:
    """Return a session's notices in order."""
    rows = connection.execute(
        f"{_WITH_SUBJECTS} where notices.session_id = :session order by notice_id",
        {"session": session_id},
    )
    return [_notice(row) for row in rows]


def _notice(row: Sequence[Any]) -> Notice:
    *fields, number, image_id, lane = row
    return replace(Notice(*fields), subject=None if number is None else Subject(image_id, lane))


def fact_times(connection: sqlite3.Connection) -> list[str]:
    """Return the time of an act in the audit or an event of a session, one for each day of UTC."""
    rows = connection.execute(
        "select max(utc) from (select utc from audit union all select utc from session_events)"
        " group by substr(utc, 1, 10) order by 1"
    )
    return [row[0] for row in rows]


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
    who = (at.utc.isoformat(), str(operator), role_of(operator), action)
    connection.execute(_INSERT_AUDIT, (*who, session_id, team_id, detail, reason, refusal))


def insert_audit_of_teams(
    connection: sqlite3.Connection,
    at: Instant,
    operator: str,
    action: str,
    teams: Mapping[int, str],
) -> None:
    """Record an action that is done for each of these teams, with their ids and present names."""
    who = (at.utc.isoformat(), str(operator), role_of(operator), action)
    connection.executemany(
        _INSERT_AUDIT, [(*who, None, team_id, name, "", None) for team_id, name in teams.items()]
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
