# SPDX-License-Identifier: Apache-2.0
"""Queries for the addresses from which a session was used."""

from __future__ import annotations

import sqlite3


def insert_session_address(
    connection: sqlite3.Connection, session_id: int, address: str, utc: str
) -> bool:
    """Add an address to a session; return False if the session has it already."""
    cursor = connection.execute(
        "insert into session_addresses (session_id, address, utc)"
        " select :session, :address, :utc where not exists (select 1 from session_addresses"
        " where session_id = :session and address = :address)",
        {"session": session_id, "address": address, "utc": utc},
    )
    return cursor.rowcount == 1


def addresses_of_session(connection: sqlite3.Connection, session_id: int) -> list[str]:
    """Return the addresses that used a session, the first one first."""
    rows = connection.execute(
        "select address from session_addresses where session_id = :session order by seen_id",
        {"session": session_id},
    )
    return [str(row[0]) for row in rows]
