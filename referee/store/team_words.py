# SPDX-License-Identifier: Apache-2.0
"""Queries for the words by which teams are meant: names of today and before, and logins."""

from __future__ import annotations

import sqlite3

from referee.core.logins import FreeLogins
from referee.core.names import comparable

SEVERAL = 0
"""Stands for the owner of a word that several teams share, which no team has as its id."""


def team_logins(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the login of each team, by the team's id."""
    rows = connection.execute("select team_id, login from team_logins order by team_login_id")
    return {row[0]: row[1] for row in rows}


def newest_login(connection: sqlite3.Connection, team_id: int) -> str | None:
    """Return the login of one team, or None if it has none yet."""
    row = connection.execute(
        "select login from team_logins where team_id = :team order by team_login_id desc limit 1",
        {"team": team_id},
    ).fetchone()
    return None if row is None else str(row[0])


def other_words(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return each login and each earlier name, with the present name of its team."""
    # A rehearsal may ask an event's database that no command of this version has opened yet.
    logins = "select team_id, login as word from team_logins union all"
    if not has_logins(connection):
        logins = ""
    rows = connection.execute(
        f"select word, named_teams.name from ({logins} select team_id, name as word from teams"
        " union all select team_id, name as word from team_renames) join named_teams using"
        " (team_id) where word != named_teams.name"
    )
    return [(row[0], row[1]) for row in rows]


def word_owners(connection: sqlite3.Connection) -> dict[str, int]:
    """Return which team each word means, as `comparable` makes it one; `SEVERAL` if none alone."""
    owners: dict[str, int] = {}
    for word, team_id in connection.execute(
        "select name, team_id from teams union all select name, team_id from team_renames"
        " union all select login, team_id from team_logins"
    ):
        key = comparable(word)
        owners[key] = team_id if owners.get(key, team_id) == team_id else SEVERAL
    return owners


def insert_login(connection: sqlite3.Connection, team_id: int, login: str) -> None:
    """Give a team a login that no other team has."""
    connection.execute(
        "insert into team_logins (team_id, login) values (:team, :login)",
        {"team": team_id, "login": login},
    )


def give_logins(connection: sqlite3.Connection) -> None:
    """Give each team a login that has none, made from the name that it has at present."""
    teams = connection.execute(
        "select team_id, name from named_teams"
        " where team_id not in (select team_id from team_logins) order by team_id"
    ).fetchall()
    free = FreeLogins(word_owners(connection) if teams else {})
    for team_id, name in teams:
        insert_login(connection, team_id, free.made(name, team_id))


def has_logins(connection: sqlite3.Connection) -> bool:
    """Tell whether a database knows logins; one of an earlier version does not."""
    query = "select exists (select 1 from sqlite_master where name = 'team_logins')"
    return bool(connection.execute(query).fetchone()[0])
