# SPDX-License-Identifier: Apache-2.0
"""The rows that the chain's links stand for, read along each table in the order of the links."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

Row = tuple[Any, ...]
"""The columns of a row in order; a blob stands as its SHA-256, so bytes are always a digest."""


def key_of(connection: sqlite3.Connection, table: str, row: str = "") -> str:
    """Return the expression that is a row's key in the chain; a slash joins several columns.

    `row` stands before each column, for example `new.` in a trigger.
    """
    return " || '/' || ".join(f"{row}{column}" for column in key_columns(connection, table))


def key_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table's primary key in their order."""
    columns = connection.execute(
        "select name from pragma_table_info(:table) where pk > 0 order by pk", {"table": table}
    )
    return [column[0] for column in columns]


def columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return all columns of a table in their order; none if there is no such table."""
    columns = connection.execute(
        "select name from pragma_table_info(:table) order by cid", {"table": table}
    )
    return [column[0] for column in columns]


class LinkedRows:
    """The rows of a session, or of all sessions, each asked for by its table and key.

    Keys of a table that come in ascending order cost one step of a cursor each. Any other key costs
    a statement of its own.
    """

    def __init__(self, connection: sqlite3.Connection, session_id: int | None) -> None:
        self._connection = connection
        self._session_id = session_id
        self._known: dict[str, _Table | None] = {}

    def names(self, table: str) -> Sequence[str]:
        """Return the names of a table's columns in order."""
        known = self._table(table)
        return () if known is None else known.names

    def of(self, table: str, key: int | str) -> Row | None:
        """Return a row, or None if it is gone."""
        known = self._table(table)
        row = None if known is None else known.row(key)
        if row is None:
            return None
        return tuple([sha256(value).digest() if type(value) is bytes else value for value in row])

    def _table(self, table: str) -> _Table | None:
        if table not in self._known:
            names = columns_of(self._connection, table)
            self._known[table] = (
                _Table(self._connection, table, names, self._session_id) if names else None
            )
        return self._known[table]


class _Table:
    """One table, with a cursor that goes forward only."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        table: str,
        names: Sequence[str],
        session_id: int | None,
    ) -> None:
        self.names = names
        key = key_of(connection, table)
        self._one = connection.cursor()
        self._one.row_factory = None
        self._statement = f"select * from {table} where {key} = ?"
        self._rows = connection.cursor()
        self._rows.row_factory = None
        self._next: Row | None = None
        where, values = "", {}
        if session_id is not None:
            # A row without a session is one of few: its own statement finds it.
            where = "where session_id = :session" if "session_id" in names else "where false"
            values = {"session": session_id} if "session_id" in names else {}
        if key in names:
            self._place = names.index(key)
            self._rows.execute(f"select * from {table} {where} order by {key}", values)
            self._next = self._rows.fetchone()

    def row(self, key: int | str) -> Row | None:
        """Return the row with this key, or None."""
        if type(key) is int:
            while self._next is not None and self._next[self._place] < key:
                self._next = self._rows.fetchone()
            if self._next is not None and self._next[self._place] == key:
                return self._next
        row: Row | None = self._one.execute(self._statement, (key,)).fetchone()
        return row
