# SPDX-License-Identifier: Apache-2.0
"""Queries that read the audit: who did what, and what was refused to whom."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from referee.core.names import comparable


class AuditRow(Struct, frozen=True):
    """One action; `refusal` says why it was not done, and is None for one that is done.

    `team` is the present name of the team that the action or its session is about, or ''. What
    the referee itself does has no role.
    """

    audit_id: int
    utc: str
    who: str
    role: str
    action: str
    session_id: int | None
    team: str
    detail: str
    reason: str
    refusal: str | None


def audit_rows(
    connection: sqlite3.Connection,
    *,
    person: str = "",
    action: str = "",
    team: str = "",
    count: int | None = None,
) -> list[AuditRow]:
    """Return the newest actions that fit, the newest first.

    A filter fits where its text occurs, however the names are written (see `comparable`); an empty
    one fits everything.
    """
    connection.create_function("comparable", 1, comparable, deterministic=True)
    rows = connection.execute(
        """
        select audit_id, a.utc, operator, role, action, a.session_id, coalesce(t.name, '') as team,
            detail, reason, refusal
        from audit as a left join sessions as s using (session_id)
        left join named_teams as t on t.team_id = coalesce(a.team_id, s.team_id)
        where instr(comparable(operator), comparable(:person)) > 0
            and instr(lower(action), lower(:action)) > 0
            and (instr(comparable(coalesce(t.name, '')), comparable(:team)) > 0
                or (:team != '' and instr(comparable(detail), comparable(:team)) > 0))
        order by audit_id desc limit :count
        """,
        {"person": person, "action": action, "team": team, "count": -1 if count is None else count},
    )
    return [AuditRow(*row) for row in rows]


def refused_audit_of(connection: sqlite3.Connection, session_id: int) -> list[dict[str, str]]:
    """Return the actions on a session that were refused, in order, each with its refusal."""
    rows = connection.execute(
        "select utc, operator, role, action, reason, refusal from audit"
        " where session_id = :session and refusal is not null order by audit_id",
        {"session": session_id},
    )
    return [dict(row) for row in rows]
