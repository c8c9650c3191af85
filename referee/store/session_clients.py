# SPDX-License-Identifier: Apache-2.0
"""Queries for what the programs that logged in to a session call themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

_MOST = 5
"""The most names of a session that are kept; a program that changes its name fills no disk."""


def insert_session_clients(
    connection: sqlite3.Connection, logins: Sequence[tuple[int, str, str]]
) -> None:
    """Add the names of some logins: the session, the name and the moment of each.

    A name that the session has already is left out, and so is one beyond the first five.
    """
    connection.executemany(
        "insert into session_clients (session_id, name, utc) select :session, :name, :utc"
        " where not exists (select 1 from session_clients"
        " where session_id = :session and name = :name)"
        " and (select count(*) from session_clients where session_id = :session) < :most",
        [
            {"session": session_id, "name": name, "utc": utc, "most": _MOST}
            for session_id, name, utc in logins
        ],
    )


def clients_of_session(connection: sqlite3.Connection, session_id: int) -> list[str]:
    """Return the names of the programs that logged in to a session, the first one first."""
    rows = connection.execute(
        "select name from session_clients where session_id = :session order by client_id",
        {"session": session_id},
    )
    return [str(row[0]) for row in rows]
