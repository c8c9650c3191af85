# SPDX-License-Identifier: Apache-2.0
"""Queries for the teams of an event: registrations, names and the running order."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.core.instant import Instant
from referee.errors import Refusal
from referee.store.team_words import give_logins, insert_login, newest_login

RegistrationKind = Literal["registered", "withdrawn", "returned", "removed"]


@dataclass(frozen=True)
class Registration:
    """What a registration says.

    `prizes` is false for a team that declines prizes, `sessions` for one that hands in models only.
    `lane` is the name of the only lane where its sessions run, '' for any.
    """

    organisation: str = ""
    prizes: bool = True
    sessions: bool = True
    lane: str = ""


@dataclass(frozen=True)
class TeamRecord:
    """A team under its present name; `kind` is None for one that has only sessions.

    `first_name` is the name in the evidence of its first sessions. `reason` belongs to `kind`.
    """

    team_id: int
    name: str
    first_name: str
    kind: RegistrationKind | None
    registration: Registration
    reason: str


@dataclass(frozen=True)
class OrderRecord:
    """A running order: team ids, the first team first; `seed` is None for one by hand."""

    order_id: int
    method: str
    seed: str | None
    team_ids: tuple[int, ...]
    reason: str
    operator: str
    utc: str


def stored_teams(connection: sqlite3.Connection) -> list[TeamRecord]:
    """Return all teams in the order of their first registration or session."""
    rows = connection.execute("""
        select t.team_id, t.name, t.first_name, r.kind, coalesce(r.organisation, ''),
            coalesce(r.prizes, 1), coalesce(r.sessions, 1), coalesce(r.reason, ''),
            coalesce((select lane from team_lanes where team_id = t.team_id
                order by team_lane_id desc limit 1), '')
        from named_teams as t left join registrations as r on r.registration_id = (
            select max(newest.registration_id) from registrations as newest
            where newest.team_id = t.team_id
        ) order by t.team_id
        """)
    return [
        TeamRecord(
            row[0],
            row[1],
            row[2],
            row[3],
            Registration(row[4], bool(row[5]), bool(row[6]), row[8]),
            row[7],
        )
        for row in rows
    ]


def withdrawn_teams(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the teams that have withdrawn and not returned."""
    return {team.name for team in stored_teams(connection) if team.kind == "withdrawn"}


def ensure_team(connection: sqlite3.Connection, name: str, utc: str, login: str = "") -> int:
    """Return the id of the team that has this name at present; add the team if it is new.

    A new team gets this login, or one that is made from its name. Raises `Refusal` (code
    `name_taken`) if the name was another team's before a renaming.
    """
    # The view alone would be read whole, once for each team of a table.
    query = """
        select team_id from named_teams where name = :name and team_id in (
            select team_id from teams where name = :name
            union select team_id from team_renames where name = :name)
        """
    row = connection.execute(query, {"name": name}).fetchone()
    if row is not None:
        return int(row[0])
    try:
        cursor = connection.execute(
            "insert into teams (name, created_utc) values (:name, :utc)", {"name": name, "utc": utc}
        )
    except sqlite3.IntegrityError as error:
        if name not in used_names(connection):
            raise  # The name itself breaks the schema's rule.
        raise _name_taken(name) from error
    team_id = int(cursor.lastrowid or 0)
    if login:
        insert_login(connection, team_id, login)
    else:
        give_logins(connection)
    return team_id


def ensure_teams(
    connection: sqlite3.Connection, logins: Mapping[str, str], utc: str
) -> dict[str, int]:
    """Return the ids of the teams with these present names, each with its login.

    It does what `ensure_team` does, for many teams at once.
    """
    used = used_names(connection)
    new = [name for name in logins if name not in used]
    connection.executemany(
        "insert into teams (name, created_utc) values (?, ?)", [(name, utc) for name in new]
    )
    ids = {name: ensure_team(connection, name, utc) for name in logins if name in used}
    if new:
        rows = connection.execute(
            "select name, team_id from teams order by team_id desc limit :new", {"new": len(new)}
        )
        ids |= {row[0]: row[1] for row in rows}
    connection.executemany(
        "insert into team_logins (team_id, login) values (?, ?)",
        [(ids[name], logins[name]) for name in new],
    )
    for name in logins.keys() & used.keys():
        if logins[name] not in ("", newest_login(connection, ids[name])):
            insert_login(connection, ids[name], logins[name])
    return ids


def insert_registration(
    connection: sqlite3.Connection,
    team_id: int,
    kind: RegistrationKind,
    registration: Registration,
    *,
    operator: str,
    utc: str,
    reason: str = "",
) -> None:
    """Add a row about a team's registration; the newest row counts."""
    one = {team_id: registration}
    insert_registrations(connection, kind, one, operator=operator, utc=utc, reason=reason)


def insert_registrations(
    connection: sqlite3.Connection,
    kind: RegistrationKind,
    registrations: Mapping[int, Registration],
    *,
    operator: str,
    utc: str,
    reason: str = "",
) -> None:
    """Add a row about the registration of each team, by the team's id."""
    connection.executemany(
        "insert into registrations (team_id, kind, organisation, prizes, sessions, reason,"
        " operator, utc) values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (team, kind, it.organisation, int(it.prizes), int(it.sessions), reason, operator, utc)
            for team, it in registrations.items()
        ],
    )
    connection.executemany(
        "insert into team_lanes (team_id, lane, operator, utc)"
        " select :team, :lane, :operator, :utc where :lane != coalesce("
        " (select lane from team_lanes where team_id = :team order by team_lane_id desc limit 1),"
        " '')",
        [
            {"team": team, "lane": it.lane, "operator": operator, "utc": utc}
            for team, it in registrations.items()
        ],
    )


def insert_rename(
    connection: sqlite3.Connection, team_id: int, name: str, *, operator: str, utc: str
) -> None:
    """Give a team another name; raise `Refusal` (code `name_taken`) if another team had it."""
    try:
        connection.execute(
            "insert into team_renames (team_id, name, operator, utc)"
            " values (:team, :name, :operator, :utc)",
            {"team": team_id, "name": name, "operator": operator, "utc": utc},
        )
    except sqlite3.IntegrityError as error:
        raise _name_taken(name) from error


def used_names(connection: sqlite3.Connection) -> dict[str, int]:
    """Return every name that a team has or had, with the team's id."""
    rows = connection.execute(
        "select name, team_id from teams union select name, team_id from team_renames"
    )
    return {row[0]: row[1] for row in rows}


def present_names(connection: sqlite3.Connection) -> list[str]:
    """Return the present names of all teams."""
    return [row[0] for row in connection.execute("select name from named_teams")]


def names_of_team(connection: sqlite3.Connection, name: str) -> list[str]:
    """Return every name of the team that has this name at present, the first one first."""
    rows = connection.execute(
        "select first_name from named_teams where name = :name union all select * from ("
        " select renamed.name from team_renames as renamed join named_teams as t using (team_id)"
        " where t.name = :name order by rename_id)",
        {"name": name},
    )
    return [row[0] for row in rows]


def insert_order(
    connection: sqlite3.Connection,
    team_ids: Sequence[int],
    *,
    seed: str | None,
    reason: str,
    operator: str,
    at: Instant,
) -> None:
    """Add a running order; with a seed it is a lottery's. The newest order counts."""
    connection.execute(
        "insert into running_orders (method, seed, teams, reason, operator, utc)"
        " values (:method, :seed, :teams, :reason, :operator, :utc)",
        {
            "method": "hand" if seed is None else "lottery",
            "seed": seed,
            "teams": json.dumps(list(team_ids)),
            "reason": reason,
            "operator": operator,
            "utc": at.utc.isoformat(),
        },
    )


def stored_orders(connection: sqlite3.Connection) -> list[OrderRecord]:
    """Return all running orders, the oldest first; the last one counts."""
    rows = connection.execute(
        "select order_id, method, seed, teams, reason, operator, utc from running_orders"
        " order by order_id"
    )
    return [
        OrderRecord(row[0], row[1], row[2], tuple(json.loads(row[3])), *tuple(row[4:]))
        for row in rows
    ]


def _name_taken(name: str) -> Refusal:
    return Refusal(
        "name_taken",
        f"Another team has or had the name '{name}', and its evidence contains it. Choose another.",
    )
