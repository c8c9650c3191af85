# SPDX-License-Identifier: Apache-2.0
"""Stored facts put into an empty database again, under the same rules and the same numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from referee.errors import InputError
from referee.store.chain import linked_tables
from referee.store.linked_rows import columns_of


@dataclass(frozen=True)
class Fact:
    """A row of a table; `place` is what a person looks for, for example `line 7`."""

    place: str
    table: str
    row: Mapping[str, object]


def replay(connection: sqlite3.Connection, facts: Iterable[Fact]) -> None:
    """Insert the rows of one session in their order; call it in a transaction.

    Raises `InputError`, which names the place, for a row that the schema refuses.
    """
    columns = {table: set(columns_of(connection, table)) for table in linked_tables(connection)}
    for fact in facts:
        if fact.table not in columns:
            raise InputError(f"{fact.place}: there is no table of facts '{fact.table}'.")
        if fact.row.keys() != columns[fact.table]:
            raise InputError(f"{fact.place}: these are not the columns of {fact.table}.")
        _insert(connection, fact)


def strands_of(connection: sqlite3.Connection, session_id: int) -> list[str]:
    """Return the links of a session in order, in hex."""
    rows = connection.execute(
        "select strand from chain where session_id = :session order by link_id",
        {"session": session_id},
    )
    return [row[0].hex() for row in rows]


def rename_team(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Give the only team these names, one after the other."""
    for name in names:
        connection.execute(
            "insert into team_renames (team_id, name, operator, utc)"
            " select team_id, :name, '', '' from teams",
            {"name": name},
        )


def mark_fetched(connection: sqlite3.Connection) -> None:
    """Mark the images of all requests as fetched, as their insertion does.

    Raises `InputError` for a request that got other images than those of the contest.
    """
    strange = connection.execute(
        "select request_id from requests where first_image < 1 or image_count < 0"
        " or first_image + image_count - 1 > (select count(*) from images) limit 1"
    ).fetchone()
    if strange is not None:
        raise InputError(f"requests {strange[0]}: the contest has no such images.")
    rows = connection.execute(
        "select session_id, first_image, image_count from requests where first_image is not null"
    ).fetchall()
    connection.executemany(
        "insert into fetched_images (session_id, number) values (?, ?) on conflict do nothing",
        ((s, number) for s, first, count in rows for number in range(first, first + count)),
    )


def _insert(connection: sqlite3.Connection, fact: Fact) -> None:
    names = ", ".join(fact.row)
    places = ", ".join(f":{name}" for name in fact.row)
    try:
        connection.execute(f"insert into {fact.table} ({names}) values ({places})", fact.row)
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError, OverflowError) as error:
        raise InputError(f"{fact.place}: the rules of the database refuse it: {error}.") from None
