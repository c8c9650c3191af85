# SPDX-License-Identifier: Apache-2.0
"""What a maintainer asks of a database: is it sound, how large is it, can this referee open it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.errors import InputError
from referee.store.chain import broken_links
from referee.store.database import Database, copy_database
from referee.store.readable import readable
from referee.store.schema import lacking, missing_from_schema

_FAULTS_MOST = 20
# Any program that writes holds the database for less than this.
_BUSY_S = 10.0


def database_facts(path: Path) -> dict[str, object]:
    """Return migrations, faults, and the number of rows of each table; read only.

    `faults` is what SQLite's quick check finds, or one sentence if it cannot even look.
    """
    facts: dict[str, object] = {"sqlite": sqlite3.sqlite_version, "size_bytes": path.stat().st_size}
    try:
        with _opened(path) as connection:
            facts["migrations"] = _migrations(connection)
            lines = connection.execute(f"pragma quick_check({_FAULTS_MOST})").fetchall()
            facts["faults"] = [text for (text,) in lines if text != "ok"]
            facts["lacking"] = _lacking(connection, path)
            facts["rows"] = {table: _count(connection, table) for table in _tables(connection)}
    except sqlite3.Error as error:
        facts["faults"] = [f"SQLite cannot read it: {error}."]
    return facts


def rehearse_upgrade(path: Path) -> list[str]:
    """Run what a database lacks on a private copy, and return the names of these scripts.

    The database itself stays as it is. Raises `InputError` where this referee cannot open it, and
    where the copy lacks a part of the schema or a stored fact is not as it was stored.
    """
    with TemporaryDirectory(prefix="referee-") as folder, readable(path) as file:
        copy = Path(folder) / path.name
        try:
            copy_database(file, copy)
        except sqlite3.Error as error:
            raise InputError(f"{path} cannot be opened as a database: {error}.") from error
        with closing(Database(path, copy=copy)) as database:
            names = lacking(database.connection, path)
            database.migrate()
            connection = database.connection
            faults = [f"the schema lacks {name}." for name in missing_from_schema(connection)]
            faults += islice(broken_links(connection), _FAULTS_MOST)
    if faults:
        raise InputError(f"{path} is not as it was stored: {' '.join(faults)}")
    return names


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


def _lacking(connection: sqlite3.Connection, path: Path) -> list[str] | str:
    """Return the scripts that an opening would run, or why this referee does not open it."""
    try:
        return lacking(connection, path)
    except InputError as error:
        return str(error)


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f'select count(*) from "{table}"').fetchone()
    return int(count)
