# SPDX-License-Identifier: Apache-2.0
"""Migrations bring databases of earlier referees up to date, with every row."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from referee.errors import Refusal
from referee.store.answers import answers_after, insert_answer
from referee.store.chain import broken_links
from referee.store.database import Database, _migrations, _statements
from referee.store.readings import energy_of, session_meter_of
from referee.store.scores import newest_scoring_run, newest_snapshot
from referee.store.sessions import (
    all_sessions,
    create_session,
    latest_started,
    live_session,
    load_session,
    record_event,
    unsettled_sessions,
)
from referee.store.shows import insert_show, shows_of
from tests.store.conftest import answer, at, show

# Three sessions of schema 1: one scored with an energy, one ended without one, one running.
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
insert into answers (session_id, elapsed_s, utc, late, form, address, row_count, flagged_count,
    detections) values
    (1, 1.25, 'then', 0, 'form', '10.0.0.2', 1, 0, randomblob(56)),
    (1, 600.5, 'then', 1, 'json', '10.0.0.2', 2, 1, randomblob(112)),
    (3, 2, 'then', 0, 'csv', '10.0.0.3', 0, 0, x'');
insert into readings (session_id, elapsed_s, monotonic_s, utc, boot_id, power_w, energy_wh, state,
    absent, flags)
    values (1, 1, 21, '2026-06-07T12:00:21+00:00', 'a boot', 3, 0.1, 'START', '{}', '[]');
insert into score_snapshots (session_id, upto_answer_id, utc, mean_ap, detection_count)
    values (1, 1, 'then', 0.25, 1), (3, 3, 'then', null, 0);
insert into scoring_runs (session_id, upto_answer_id, energy_id, monotonic_s, utc, boot_id,
    mean_ap, score, detail)
    values (1, 1, 1, 630, '2026-06-07T12:10:30+00:00', 'a boot', 0.25, 0.5, '{"mean_ap": 0.25}');
insert into requests (session_id, elapsed_s, utc, method, path, status, first_image, image_count,
    received_bytes, sent_bytes, duration_s, address)
    values (1, 1, 'then', 'GET', '/image', 200, 7, 1, 0, 9, 0.1, '10.0.0.2');
insert into fetched_images (session_id, number) values (1, 7);
insert into notices (session_id, utc, level, text) values (1, 'then', 'info', 'a notice');
insert into audit (utc, operator, action, session_id, detail) values ('then', 'Kim', 'arm', 1, '');
"""

# Columns with a new name, by table.
_RENAMED = {
    "answers": {"form": "format", "detections": "content"},
    "score_snapshots": {"mean_ap": "accuracy"},
    "scoring_runs": {"mean_ap": "accuracy"},
}


@pytest.fixture
def old_path(tmp_path):
    """Return a database of schema 1 with sessions in it."""
    path = tmp_path / "referee.db"
    with closing(sqlite3.connect(path)) as old:
        # A test's database need not survive a power cut, and each wait for the disk takes time.
        old.execute("pragma synchronous = off")
        for statement in _statements(_migrations()[0]):
            old.execute(statement)
        old.executescript(_SESSIONS)
        old.execute("pragma user_version = 1")
        old.commit()
    return path


@pytest.fixture
def upgraded(old_path):
    """Return that database after its upgrade."""
    database = Database(old_path)
    database.migrate()
    yield database
    database.close()


def test_sessions_of_a_referee_without_lanes_are_in_lane_1(upgraded):
    """Each old session keeps its facts and is in lane 1."""
    sessions = all_sessions(upgraded.connection)
    assert [(3, 1), (2, 1), (1, 1)] == [(one.session_id, one.lane) for one in sessions]
    first = load_session(upgraded.connection, 1)
    assert (2**64 - 1, 600.0, "ants") == (first.order_seed, first.facts.length_s, first.team)
    assert (20.0, 620.0) == (first.facts.started.monotonic_s, first.facts.ended.monotonic_s)
    assert 0.5 == energy_of(upgraded.connection, 1).energy_wh


def test_an_upgrade_in_mid_session_changes_nothing_for_it(upgraded):
    """After an upgrade the session runs on in lane 1, and the one before awaits its energy."""
    connection = upgraded.connection
    assert 3 == live_session(connection).session_id == latest_started(connection)
    assert [2] == [session.session_id for session in unsettled_sessions(connection)]
    assert session_meter_of(connection, 3) is None


def test_an_upgraded_database_takes_one_live_session_a_lane(upgraded):
    """After the upgrade lane 1 is taken by its running session, and another lane is free."""
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
    """An upgraded session cannot be moved to another lane."""
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        with upgraded.write() as connection:
            connection.execute("update sessions set lane = 2")


def rows_of(connection, table, renamed):
    """Return a table's rows under the present column names."""
    cursor = connection.execute(f"select * from {table} order by 1")
    names = [renamed.get(column[0], column[0]) for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def test_an_upgrade_keeps_every_fact(old_path):
    """Each row of each table survives, with its number and under the present names."""
    with closing(sqlite3.connect(old_path)) as old:
        tables = [
            name
            for (name,) in old.execute("select name from sqlite_master where type = 'table'")
            if name != "sqlite_sequence"
        ]
        before = {table: rows_of(old, table, _RENAMED.get(table, {})) for table in tables}
        numbers = dict(old.execute("select * from sqlite_sequence").fetchall())
    assert 12 <= sum(map(bool, before.values()))
    database = Database(old_path)
    database.migrate()
    try:
        for table, rows in before.items():
            kept = rows_of(database.connection, table, {})
            assert rows == [
                {name: value for name, value in row.items() if name in first}
                for row, first in zip(kept, rows, strict=True)
            ]
        found = database.connection.execute("select * from sqlite_sequence").fetchall()
        now = dict(tuple(row) for row in found)
        assert numbers == {table: now[table] for table in numbers}
        assert [] == list(broken_links(database.connection))
        assert sum(map(len, before.values())) == 1 + now["chain"]  # fetched_images has no link
    finally:
        database.close()


def test_sessions_of_a_referee_without_tracks_are_of_the_network_track(upgraded):
    """Old sessions are of the network track, with readable answers and accuracies."""
    connection = upgraded.connection
    assert {"network"} == {session.track for session in all_sessions(connection)}
    on_time, late = answers_after(connection, 1)
    assert (1, "form", False) == (on_time.row_count, on_time.format, on_time.late)
    assert 56 == len(on_time.content)
    assert (2, "json", True, 112) == (late.row_count, late.format, late.late, len(late.content))
    assert 0.25 == newest_snapshot(connection, 1).accuracy
    run = newest_scoring_run(connection, 1)
    assert (0.25, 0.5, {"mean_ap": 0.25}) == (run.accuracy, run.score, run.detail)


@pytest.mark.parametrize(
    "statement",
    [
        "update answers set late = 0",
        "delete from answers",
        "insert or replace into answers select * from answers",
        "update sessions set track = 'other'",
        "update scoring_runs set accuracy = 1",
        "delete from score_snapshots",
    ],
)
def test_an_upgraded_database_is_append_only(upgraded, statement):
    """Upgraded tables refuse changes as before."""
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        with upgraded.write() as connection:
            connection.execute(statement)


def test_an_upgraded_database_is_that_of_a_new_one(upgraded, tmp_path):
    """An upgraded database has a new one's tables, indexes and triggers."""
    new = Database(tmp_path / "new.db")
    new.migrate()
    schemas = [
        {tuple(row) for row in database.connection.execute("select type, name from sqlite_master")}
        for database in (upgraded, new)
    ]
    new.close()
    assert schemas[0] == schemas[1]
    assert ("index", "late_answers_by_session") in schemas[0]
    assert ("trigger", "answers_no_replace") in schemas[0]


def test_an_answer_of_an_upgraded_database_gets_the_next_number(upgraded):
    """The next answer continues the old numbers."""
    with upgraded.write() as connection:
        assert 4 == insert_answer(connection, answer(3))


def test_an_upgraded_database_takes_shows(upgraded):
    """An old session has no shows, and an upgraded database takes those of a new one."""
    assert [] == shows_of(upgraded.connection, 3)
    with upgraded.write() as connection:
        insert_show(connection, show(3))
    assert [show(3)] == shows_of(upgraded.connection, 3)
