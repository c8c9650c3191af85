# SPDX-License-Identifier: Apache-2.0
"""Queries for what the public sees: the numbered changes, the freezes, and the breaks."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from referee.core.instant import Instant

Subject = Literal["contest", "state", "team", "session", "judgement", "awards"]
FreezeKind = Literal["frozen", "thawed"]

Changes = Mapping[tuple[str, int], int]
"""The number of the newest change of each subject, by its kind and its id."""


@dataclass(frozen=True)
class Freeze:
    """A freeze of the scoreboard, or a thaw; the newest one counts."""

    freeze_id: int
    kind: FreezeKind
    operator: str
    utc: str


@dataclass(frozen=True)
class Break:
    """A break of the event with the organiser's words, until a moment."""

    text: str
    until_utc: str


def newest_change(connection: sqlite3.Connection) -> int:
    """Return the number of the newest change; it grows with everything that the public notices."""
    row = connection.execute("select coalesce(max(change_id), 0) from public_changes").fetchone()
    return int(row[0])


def changes_by_subject(connection: sqlite3.Connection) -> Changes:
    """Return the newest change of each subject."""
    rows = connection.execute(
        "select subject, subject_id, max(change_id) from public_changes"
        " group by subject, subject_id"
    )
    return {(row[0], row[1]): row[2] for row in rows}


def change_nonces(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the nonce of each change."""
    return dict(
        tuple(row) for row in connection.execute("select change_id, nonce from public_changes")
    )


def teams_with_organisation(connection: sqlite3.Connection) -> frozenset[int]:
    """Return the ids of the teams that have or had an organisation."""
    rows = connection.execute("select distinct team_id from registrations where organisation != ''")
    return frozenset(row[0] for row in rows)


def insert_freeze(
    connection: sqlite3.Connection, at: Instant, kind: FreezeKind, operator: str
) -> int:
    """Record a freeze or a thaw, and return its number; the schema wants them in turn."""
    cursor = connection.execute(
        "insert into freezes (kind, operator, utc) values (:kind, :operator, :utc)",
        {"kind": kind, "operator": str(operator), "utc": at.utc.isoformat()},
    )
    return int(cursor.lastrowid or 0)


def newest_freeze(connection: sqlite3.Connection) -> Freeze | None:
    """Return the newest freeze or thaw, or None."""
    row = connection.execute(
        "select freeze_id, kind, operator, utc from freezes order by freeze_id desc limit 1"
    ).fetchone()
    return None if row is None else Freeze(*row)


def latest_freezing(connection: sqlite3.Connection) -> Freeze | None:
    """Return the newest freeze, thawed or not, or None."""
    row = connection.execute(
        "select freeze_id, kind, operator, utc from freezes where kind = 'frozen'"
        " order by freeze_id desc limit 1"
    ).fetchone()
    return None if row is None else Freeze(*row)


def insert_frozen_publication(
    connection: sqlite3.Connection, freeze_id: int, publication: str
) -> None:
    """Keep what the public sees until the thaw; call it in the transaction of the freeze."""
    connection.execute(
        "insert into frozen_publications (freeze_id, publication) values (:freeze, :publication)",
        {"freeze": freeze_id, "publication": publication},
    )


def frozen_publication(connection: sqlite3.Connection, freeze_id: int) -> str:
    """Return what the public sees during a freeze."""
    row = connection.execute(
        "select publication from frozen_publications where freeze_id = :freeze",
        {"freeze": freeze_id},
    ).fetchone()
    return str(row[0])


def insert_break(connection: sqlite3.Connection, utc: str, operator: str, announced: Break) -> None:
    """Record that a break begins; it takes the place of one that stands."""
    connection.execute(
        "insert into breaks (kind, text, until_utc, operator, utc)"
        " values ('begun', :text, :until, :operator, :utc)",
        {
            "text": announced.text,
            "until": announced.until_utc,
            "operator": str(operator),
            "utc": utc,
        },
    )


def insert_break_end(connection: sqlite3.Connection, utc: str, operator: str) -> None:
    """Record that the break is over."""
    connection.execute(
        "insert into breaks (kind, text, operator, utc) values ('over', '', :operator, :utc)",
        {"operator": str(operator), "utc": utc},
    )


def standing_break(connection: sqlite3.Connection) -> Break | None:
    """Return the break that has begun and that nobody has ended, or None."""
    row = connection.execute(
        "select kind, text, until_utc from breaks order by break_id desc limit 1"
    ).fetchone()
    return None if row is None or row["kind"] == "over" else Break(row["text"], row["until_utc"])
