# SPDX-License-Identifier: Apache-2.0
"""Queries for the fields of refused forms that no list of an answer is."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class UnusedFields:
    """The posts of a session that were refused because of their fields, and these fields.

    `fields` are name and kind of each, the first one first.
    """

    posts: int = 0
    fields: tuple[tuple[str, str], ...] = ()


def insert_unused_fields(
    connection: sqlite3.Connection, posts: Sequence[tuple[int, Sequence[tuple[str, str]]]]
) -> None:
    """Add posts: the session of each, and name and kind of each of its fields."""
    for session_id, fields in posts:
        row = connection.execute(
            "select coalesce(max(post), 0) + 1 from unused_fields where session_id = :session",
            {"session": session_id},
        ).fetchone()
        connection.executemany(
            "insert into unused_fields (session_id, post, name, kind) values (?, ?, ?, ?)",
            [(session_id, row[0], name, kind) for name, kind in fields],
        )


def unused_fields_of(connection: sqlite3.Connection, session_id: int) -> UnusedFields:
    """Return a session's refused forms, and their fields without repetitions."""
    posts = connection.execute(
        "select coalesce(max(post), 0) from unused_fields where session_id = :session",
        {"session": session_id},
    ).fetchone()
    rows = connection.execute(
        "select name, kind from unused_fields where session_id = :session"
        " group by name, kind order by min(field_id)",
        {"session": session_id},
    )
    return UnusedFields(int(posts[0]), tuple((str(name), str(kind)) for name, kind in rows))
