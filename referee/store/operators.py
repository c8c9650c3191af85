# SPDX-License-Identifier: Apache-2.0
"""Queries for the operators of the console and for their logins."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal["added", "password", "removed"]


@dataclass(frozen=True)
class OperatorRecord:
    """An operator as the newest row says; another `change_id` means another password or role."""

    change_id: int
    name: str
    role: str
    password_hash: str
    utc: str


@dataclass(frozen=True)
class LoginRecord:
    """A login that has not been ended; `change_id` tells which password it used."""

    login_id: int
    change_id: int
    operator: OperatorRecord


_PRESENT = """
    select change_id, name, role, password_hash, utc from operator_changes as present
    where kind != 'removed' and change_id = (
        select max(newest.change_id) from operator_changes as newest
        where newest.name = present.name
    )
"""


def present_operators(connection: sqlite3.Connection) -> list[OperatorRecord]:
    """Return all operators who are not removed, in the order of their names."""
    rows = connection.execute(f"{_PRESENT} order by name")
    return [OperatorRecord(*row) for row in rows]


def has_operators(connection: sqlite3.Connection) -> bool:
    """Tell whether anybody is registered."""
    return connection.execute(f"{_PRESENT} limit 1").fetchone() is not None


def insert_operator_change(
    connection: sqlite3.Connection,
    kind: ChangeKind,
    name: str,
    role: str,
    password_hash: str,
    *,
    actor: str,
    utc: str,
) -> None:
    """Add, change or remove an operator; `name` is as stored."""
    connection.execute(
        "insert into operator_changes (name, kind, role, password_hash, actor, utc)"
        " values (:name, :kind, :role, :hash, :actor, :utc)",
        {
            "name": name,
            "kind": kind,
            "role": role,
            "hash": password_hash,
            "actor": actor,
            "utc": utc,
        },
    )


def insert_login(connection: sqlite3.Connection, change_id: int, address: str, utc: str) -> int:
    """Record a login with the password of this change, and return its number."""
    done = connection.execute(
        "insert into operator_logins (change_id, address, utc) values (:change, :address, :utc)",
        {"change": change_id, "address": address, "utc": utc},
    )
    return int(done.lastrowid or 0)


def insert_logout(connection: sqlite3.Connection, login_id: int, utc: str) -> bool:
    """End a login and tell whether it stood until now; a repeat changes nothing."""
    done = connection.execute(
        "insert into operator_logouts (login_id, utc) select :login, :utc"
        " where not exists (select 1 from operator_logouts where login_id = :login)",
        {"login": login_id, "utc": utc},
    )
    return done.rowcount == 1


def standing_login(connection: sqlite3.Connection, login_id: int) -> LoginRecord | None:
    """Return a login, or None if it was ended, or if its operator's password or role changed."""
    row = connection.execute(
        f"""
        select login_id, l.change_id, o.* from operator_logins as l
        join ({_PRESENT}) as o on o.change_id = l.change_id
        where login_id = :login
            and not exists (select 1 from operator_logouts as e where e.login_id = l.login_id)
        """,
        {"login": login_id},
    ).fetchone()
    return None if row is None else LoginRecord(row[0], row[1], OperatorRecord(*row[2:]))
