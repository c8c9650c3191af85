# SPDX-License-Identifier: Apache-2.0
"""The audit log: what was done by whom, what was refused and why; refusals are written here."""

from __future__ import annotations

import logging
from datetime import datetime

from msgspec.structs import asdict

from referee.core.logins import TeamWords
from referee.core.written_text import storable
from referee.errors import RefereeError
from referee.service.setup.contest import Contest
from referee.store.audit import AuditRow, audit_rows
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import load_session
from referee.store.team_words import other_words
from referee.store.teams import stored_teams

_log = logging.getLogger(__name__)

_REFUSAL_MOST = 500


def record_refusal(
    contest: Contest,
    actor: str,
    action: str,
    refusal: str,
    *,
    session_id: int | None = None,
    team: str = "",
    detail: str = "",
    reason: str = "",
) -> None:
    """Record that an action was refused; a database that cannot be written loses the row only.

    A session or team that does not exist is told in the row's detail. What somebody typed may be no
    text, and then it was refused for that: the row has an escape in its place.
    """
    if contest.database.read_only:
        return
    team, detail, reason, refusal = map(storable, (team, detail, reason, refusal))
    actor = actor if storable(actor) == actor else storable(actor)
    try:
        with contest.database.write() as connection:
            if session_id is not None and not _exists(connection, session_id):
                detail, session_id = f"session {session_id} {detail}".strip(), None
            team_id = _team_id(connection, team)
            if team and team_id is None:
                detail = f"team {team} {detail}".strip()
            insert_audit(
                connection,
                contest.clock.now(),
                actor,
                action,
                session_id,
                detail,
                reason=reason,
                team_id=team_id,
                refusal=refusal[:_REFUSAL_MOST],
            )
    except RefereeError:
        _log.exception("the refusal of '%s' to %s is not in the audit: %s", action, actor, refusal)


def read_audit(
    contest: Contest,
    *,
    person: str = "",
    action: str = "",
    team: str = "",
    count: int | None = None,
) -> list[AuditRow]:
    """Return the newest actions that fit the filters, the newest first."""
    return audit_rows(
        contest.database.connection, person=person, action=action, team=team, count=count
    )


class ShownAction(AuditRow, frozen=True, kw_only=True):
    """An action as stored, with the time of this laptop's zone, and in words."""

    time: str
    about: str
    result: str


def shown_action(row: AuditRow) -> ShownAction:
    """Return an action as people and programs get it."""
    return ShownAction(
        **asdict(row), time=local_time(row.utc), about=about(row), result=result(row)
    )


def about(row: AuditRow) -> str:
    """Say what an action is about: its session, its team, or what else the row tells."""
    parts = [] if row.session_id is None else [f"session {row.session_id}"]
    parts += [row.team] if row.team else []
    # Some details begin with the team, because old rows have it nowhere else.
    rest = row.detail.removeprefix("team ").removeprefix(row.team).strip(", ")
    return ", ".join([*parts, rest] if rest else parts)


def result(row: AuditRow) -> str:
    """Say what became of an action."""
    return "done" if row.refusal is None else f"refused: {row.refusal}"


def local_time(utc: str) -> str:
    """Return a stored time in the zone of this laptop, with the zone's offset at that time."""
    try:
        at = datetime.fromisoformat(utc)
    except ValueError:
        return utc
    if at.tzinfo is None:  # No time of the referee is without a zone.
        return utc
    text = at.astimezone().isoformat(" ", "seconds")
    return f"{text[:19]} {text[19:]}"


def _exists(connection: Connection, session_id: int) -> bool:
    try:
        load_session(connection, session_id)
    except RefereeError:
        return False
    return True


def _team_id(connection: Connection, name: str) -> int | None:
    ids = {team.name: team.team_id for team in stored_teams(connection)} if name else {}
    found = TeamWords(ids, other_words(connection)).find(name)
    return None if found is None else ids[found]
