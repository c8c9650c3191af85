# SPDX-License-Identifier: Apache-2.0
"""Queries for the images that a screen has shown, or should have shown."""

from __future__ import annotations

import sqlite3
from dataclasses import astuple, dataclass, fields


@dataclass(frozen=True)
class ShowRecord:
    """One request for an image on the screen, and what became of it.

    `image` is the contestant's number, `frame` the number on the page's reports. `screen` is
    WIDTHxHEIGHT in pixels. The times are seconds of the session. `requested_s` is the moment of the
    request's last byte, and `announced_s` the moment when the page was told. The page reports the
    others. `painted_s` is a lower bound: the light leaves the screen later. `outcome` is `painted`,
    or says why the image was not painted.
    """

    session_id: int
    image: int
    frame: int | None
    screen: str | None
    utc: str
    requested_s: float
    announced_s: float | None
    fetched_s: float | None
    decoded_s: float | None
    painted_s: float | None
    outcome: str


_COLUMNS = ", ".join(field.name for field in fields(ShowRecord))


def insert_show(connection: sqlite3.Connection, show: ShowRecord) -> None:
    """Add a show."""
    places = ", ".join("?" * len(fields(ShowRecord)))
    connection.execute(f"insert into shows ({_COLUMNS}) values ({places})", astuple(show))


def shows_of(connection: sqlite3.Connection, session_id: int) -> list[ShowRecord]:
    """Return a session's shows in the order in which they were stored."""
    rows = connection.execute(
        f"select {_COLUMNS} from shows where session_id = :session order by show_id",
        {"session": session_id},
    )
    return [ShowRecord(*row) for row in rows]


def last_frame(connection: sqlite3.Connection) -> int:
    """Return the highest frame number of all sessions, or 0."""
    row = connection.execute("select max(frame) from shows").fetchone()
    return int(row[0] or 0)
