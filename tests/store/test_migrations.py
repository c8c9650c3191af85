# SPDX-License-Identifier: Apache-2.0
"""Databases of earlier referees are brought up to date with everything that is in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from referee.errors import Refusal
from referee.store.database import Database, _migrations, _statements
from referee.store.readings import energy_of
from referee.store.session_meters import session_meter_of
from referee.store.sessions import (
    all_sessions,
    create_session,
    latest_started,
    live_session,
    load_session,
    record_event,
    unsettled_sessions,
)
from tests.store.conftest import at

# Three sessions as schema 1 has them: scored with an energy, ended without one, and running.
_SESSIONS = """
insert into teams (name, created_utc) values ('ants', '2026-06-07T12:00:00+00:00');
insert into sessions (team_id, length_s, order_seed, created_utc) values
    (1, 600, '18446744073709551615', '2026-06-07T12:00:00+00:00'),
    (1, 600, null, '2026-06-07T12:20:00+00:00'),
    (1, 300, null, '2026-06-07T12:40:00+00:00');
insert into session_events (session_id, kind, cause, actor, monotonic_s, utc, boot_id) values
    (1, 'armed', null, 'Kim', 10, '2026-06-07T12:00:10+00:00', 'a boot'),
    (1, 'started', null, 'ants', 20, '2026-06-07T12:00:20+00:00', 'a boot'),
    (1, 'ended', 'deadline', 'clock', 620, '2026-06-07T12:10:20+00:00', 'a boot'),
    (2, 'armed', null, 'Kim', 1210, '2026-06-07T12:20:10+00:00', 'a boot'),
    (2, 'started', null, 'ants', 1220, '2026-06-07T12:20:20+00:00', 'a boot'),
    (2, 'ended', 'logout', 'ants', 1320, '2026-06-07T12:22:00+00:00', 'a boot'),
    (3, 'armed', null, 'Kim', 2410, '2026-06-07T12:40:10+00:00', 'a boot'),
    (3, 'started', null, 'ants', 2420, '2026-06-07T12:40:20+00:00', 'a boot');
insert into energies (session_id, utc, energy_wh, verdict, detail)
    values (1, '2026-06-07T12:10:22+00:00', 0.5, 'VALID', '{"reasons": []}');
"""


@pytest.fixture
def upgraded(tmp_path):
    """Return a database of schema 1 with sessions in it, after it was brought up to date."""
    path = tmp_path / "referee.db"
    with closing(sqlite3.connect(path)) as old:
        for statement in _statements(_migrations()[0]):
            old.execute(statement)
        old.executescript(_SESSIONS)
        old.execute("pragma user_version = 1")
        old.commit()
    database = Database(path)
    database.migrate()
    yield database
    database.close()


def test_sessions_of_a_referee_without_lanes_are_in_lane_1(upgraded):
    """Each session keeps its facts, and all of them ran in the lane that there was."""
    sessions = all_sessions(upgraded.connection)
    assert [(3, 1), (2, 1), (1, 1)] == [(one.session_id, one.lane) for one in sessions]
    first = load_session(upgraded.connection, 1)
    assert (2**64 - 1, 600.0, "ants") == (first.order_seed, first.facts.length_s, first.team)
    assert (20.0, 620.0) == (first.facts.started.monotonic_s, first.facts.ended.monotonic_s)
    assert 0.5 == energy_of(upgraded.connection, 1).energy_wh


def test_an_upgrade_in_mid_session_changes_nothing_for_it(upgraded):
    """The running session is live in lane 1, and the one before still waits for its energy."""
    connection = upgraded.connection
    assert 3 == live_session(connection).session_id == latest_started(connection)
    assert [2] == [session.session_id for session in unsettled_sessions(connection)]
    assert session_meter_of(connection, 3) is None


def test_an_upgraded_database_takes_one_live_session_a_lane(upgraded):
    """Beside the session that ran during the upgrade another lane is free, and lane 1 is not."""
    with upgraded.write() as connection:
        more = [
            create_session(
                connection, team="bees", length_s=60.0, order_seed=None, now=at(0), lane=lane
            )
            for lane in (1, 2)
        ]
        record_event(connection, more[1], "armed", at(1), actor="Kim")
    with pytest.raises(Refusal, match="another session is armed or running"):
        with upgraded.write() as connection:
            record_event(connection, more[0], "armed", at(2), actor="Kim")


def test_facts_of_an_upgraded_database_stay_as_they_are(upgraded):
    """A session cannot be moved to another lane."""
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        with upgraded.write() as connection:
            connection.execute("update sessions set lane = 2")
