# SPDX-License-Identifier: Apache-2.0
"""A fresh database for each test, and short ways to put facts into it."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from referee.core.instant import Instant
from referee.store.answers import Answer
from referee.store.database import Database
from referee.store.sessions import create_session, record_event
from referee.store.shows import ShowRecord
from tests.support.contests import put_empty_database

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)


def at(seconds):
    """Return an instant some seconds after the start of one boot."""
    return Instant(1000.0 + seconds, NOON + timedelta(seconds=seconds), "this boot")


def answer(session_id, rows=2, *, late=False, flagged=0):
    """Return an answer of some rows."""
    content = bytes(56 * rows)
    utc = NOON.isoformat()
    return Answer(session_id, 1.5, utc, late, "form", "10.0.0.2", rows, flagged, content)


def show(session_id, image=1, *, painted_s=1.5, outcome="painted"):
    """Return a show of an image that was painted, or was not."""
    times = (1.0, 1.1, 1.2, 1.3, painted_s)
    return ShowRecord(session_id, image, 7, "1920x1080", NOON.isoformat(), *times, outcome)


def new_session(database, team="ants", *kinds, lane=1):
    """Create a session with these events, a second apart, and return its number."""
    with database.write() as connection:
        session_id = create_session(
            connection, team=team, length_s=600.0, order_seed=2**64 - 1, now=at(0), lane=lane
        )
        for second, kind in enumerate(kinds, 1):
            cause = {"ended": "stop", "voided": "a reason"}.get(kind)
            record_event(connection, session_id, kind, at(second), actor="judge", cause=cause)
    return session_id


def insert_one_row(connection, session_id, text):
    """Add a fact of one row: a notice as 1.0 stored it."""
    connection.execute(
        "insert into notices (session_id, utc, level, text) values (?, 'then', 'info', ?)",
        (session_id, text),
    )


@contextmanager
def opened(path):
    """Open a database with its schema, and close it."""
    database = Database(path)
    database.migrate()
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def database(tmp_path):
    """Return an empty database with its schema."""
    put_empty_database(tmp_path / "referee.db")
    with opened(tmp_path / "referee.db") as database:
        yield database
