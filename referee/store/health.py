# SPDX-License-Identifier: Apache-2.0
"""What a maintainer asks of a database: is it sound, how large is it, which migrations made it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from referee.store.readable import readable

_FAULTS_MOST = 20
# Any program that writes holds the database for less than this.
_BUSY_S = 10.0


def database_facts(path: Path) -> dict[str, Any]:
    """Return migrations, faults, and the number of rows of each table; read only.

    `faults` is what SQLite's quick check finds, or one sentence if it cannot even look.
    """
    facts: dict[str, Any] = {"sqlite": sqlite3.sqlite_version, "size_bytes": path.stat().st_size}
    try:
        with _opened(path) as connection:
            facts["migrations"] = _migrations(connection)
            lines = connection.execute(f"pragma quick_check({_FAULTS_MOST})").fetchall()
            facts["faults"] = [text for (text,) in lines if text != "ok"]
            facts["rows"] = {table: _count(connection, table) for table in _tables(connection)}
    except sqlite3.Error as error:
        facts["faults"] = [f"SQLite cannot read it: {error}."]
    return facts


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with (
        readable(path) as file,
        closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_S)
        ) as connection,
    ):
        yield connection


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("select name from sqlite_schema where type = 'table' order by name")
    return [name for (name,) in rows if not name.startswith("sqlite_")]


def _migrations(connection: sqlite3.Connection) -> list[str]:
    """Return the scripts that made this schema; none for a database of another program."""
    if "migrations" not in _tables(connection):
        return []
    return [name for (name,) in connection.execute("select name from migrations order by rowid")]


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f'select count(*) from "{table}"').fetchone()
    return int(count)
