# SPDX-License-Identifier: Apache-2.0
"""Sessions as stored: one live session per lane, and each event in order and once."""

from __future__ import annotations

import sqlite3
from itertools import permutations

import pytest

from referee.core.instant import Instant
from referee.core.states import EndCause
from referee.errors import Refusal
from referee.store.scores import ScoringRun, insert_scoring_run
from referee.store.sessions import (
    all_sessions,
    latest_of_team,
    latest_started,
    live_session,
    load_session,
    record_event,
    unsettled_sessions,
)
from tests.store.conftest import at, new_session


def record(database, session_id, kind, second=50, cause=None):
    """Record an event in a transaction of its own."""
    with database.write() as connection:
        return record_event(connection, session_id, kind, at(second), actor="judge", cause=cause)


def test_sessions_are_numbered_from_one(database):
    """The first session of a contest is session 1."""
    assert [1, 2, 3] == [new_session(database, team) for team in ("ants", "bees", "ants")]


def test_a_stored_session_is_loaded_whole(database):
    """Length, seed and every instant come back exactly as they were stored."""
    session_id = new_session(database, "ants", "armed", "started")
    when = Instant(123456.78901234567, at(7).utc, "another boot")
    with database.write() as connection:
        record_event(connection, session_id, "ended", when, actor="x", cause="logout")
    session = load_session(database.connection, session_id)
    assert ("ants", 600.0, 2**64 - 1) == (session.team, session.facts.length_s, session.order_seed)
    assert (at(1), at(2), when) == (
        session.facts.armed,
        session.facts.started,
        session.facts.ended,
    )
    assert EndCause.LOGOUT is session.facts.end_cause
    assert session.facts.voided is session.facts.scored is session.facts.sealed is None


def test_unknown_session_is_refused(database):
    """A number without a session is refused as the caller's mistake, also one of 24 digits."""
    for number in (7, 0, -1, 10**23):
        with pytest.raises(Refusal) as refused:
            load_session(database.connection, number)
        assert "session_unknown" == refused.value.code


def test_event_is_recorded_once(database):
    """A repeat returns False and leaves the first record alone."""
    session_id = new_session(database, "ants", "armed", "started")
    assert record(database, session_id, "ended", 10, "logout")
    assert not record(database, session_id, "ended", 20, "stop")
    facts = load_session(database.connection, session_id).facts
    assert (at(10), EndCause.LOGOUT) == (facts.ended, facts.end_cause)


@pytest.mark.parametrize("first", [("armed",), ("armed", "started")])
@pytest.mark.parametrize("second", ["armed", "started"])
def test_one_live_session_at_a_time(database, first, second):
    """While a session is armed or running no other one is armed or started."""
    new_session(database, "ants", *first)
    other = new_session(database, "bees")
    with pytest.raises(Refusal) as refused:
        record(database, other, second)
    assert "state_conflict" == refused.value.code
    facts = load_session(database.connection, other).facts
    assert (None, None) == (facts.armed, facts.started)


def test_a_second_start_names_the_reason(database):
    """A session that was armed against the rules still cannot start beside a running one."""
    other = new_session(database, "bees", "armed")
    (rule,) = database.connection.execute(
        "select sql from sqlite_master where name = 'session_events_one_at_a_time'"
    ).fetchone()
    database.connection.execute("drop trigger session_events_one_at_a_time")
    running = new_session(database, "ants", "armed", "started")
    database.connection.execute(rule)
    with pytest.raises(Refusal, match="another session is armed or running"):
        record(database, other, "started")
    assert running == latest_of_team(database.connection, "ants").session_id


@pytest.mark.parametrize("second", [("armed",), ("armed", "started")])
def test_another_lane_has_a_live_session_of_its_own(database, second):
    """Two lanes run at once, and each lane finds its own session."""
    first = new_session(database, "ants", "armed", "started")
    other = new_session(database, "bees", *second, lane=2)
    assert first == live_session(database.connection).session_id
    assert other == live_session(database.connection, 2).session_id
    assert live_session(database.connection, 3) is None
    with pytest.raises(Refusal, match="another session is armed or running"):
        new_session(database, "crabs", "armed", lane=2)


def test_each_lane_settles_its_own_sessions(database):
    """Each lane has its own last started session and its own session without an energy."""
    first = new_session(database, "ants", "armed", "started", "ended")
    other = new_session(database, "bees", "armed", "started", "ended", lane=2)
    connection = database.connection
    assert (first, other) == (latest_started(connection), latest_started(connection, 2))
    assert [first] == [one.session_id for one in unsettled_sessions(connection)]
    assert [other] == [one.session_id for one in unsettled_sessions(connection, 2)]
    assert latest_started(connection, 3) is None


def test_lanes_are_numbered_from_one(database):
    """Lane 0 does not exist."""
    with pytest.raises(sqlite3.IntegrityError):
        new_session(database, "ants", lane=0)


@pytest.mark.parametrize("first", [("armed", "started", "ended"), ("armed", "voided"), ("voided",)])
def test_the_next_session_follows_the_end(database, first):
    """An ended or void session lets the next one be armed."""
    new_session(database, "ants", *first)
    other = new_session(database, "bees", "armed")
    assert other == live_session(database.connection).session_id


@pytest.mark.parametrize("order", list(permutations(["armed", "started", "ended"])))
def test_events_come_in_order(database, order):
    """A session is armed, then started, then ended; any other order is refused."""
    if order == ("armed", "started", "ended"):
        new_session(database, "ants", *order)
        return
    with pytest.raises(Refusal, match="starts after it is armed"):
        new_session(database, "ants", *order)
    assert [] == all_sessions(database.connection)


@pytest.mark.parametrize("kind", ["started", "ended", "sealed"])
def test_a_void_session_takes_no_more_events(database, kind):
    """A void session refuses every later event."""
    session_id = new_session(database, "ants", "armed", "voided")
    with pytest.raises(Refusal, match="voided|scored|started"):
        record(database, session_id, kind, cause="stop" if kind == "ended" else None)


@pytest.mark.parametrize("cause", [None, "boredom", ""])
def test_an_end_has_a_cause(database, cause):
    """Only deadline, logout and stop end a session."""
    session_id = new_session(database, "ants", "armed", "started")
    with pytest.raises(Refusal):
        record(database, session_id, "ended", cause=cause)
    assert load_session(database.connection, session_id).facts.ended is None


def test_unknown_kind_of_event_is_refused(database):
    """An event of an unknown kind is refused."""
    session_id = new_session(database)
    with pytest.raises(Refusal):
        record(database, session_id, "paused")


def test_a_failed_event_leaves_its_transaction_usable(database):
    """After a refused event its transaction may still commit earlier writes."""
    with database.write() as connection:
        session_id = new_session_in(connection)
        with pytest.raises(Refusal):
            record_event(connection, session_id, "started", at(1), actor="x")
        record_event(connection, session_id, "armed", at(2), actor="x")
    assert at(2) == load_session(database.connection, session_id).facts.armed


def new_session_in(connection):
    """Create a session inside a transaction."""
    connection.execute("insert into teams (name, created_utc) values ('ants', '')")
    cursor = connection.execute(
        "insert into sessions (team_id, length_s, created_utc) values (1, 5, '')"
    )
    return cursor.lastrowid


def test_live_session_stays_until_its_end_is_recorded(database):
    """Armed and started sessions stay live at any time of the clock."""
    assert live_session(database.connection) is None
    session_id = new_session(database, "ants")
    assert live_session(database.connection) is None
    record(database, session_id, "armed")
    assert session_id == live_session(database.connection).session_id
    record(database, session_id, "started")
    assert session_id == live_session(database.connection).session_id
    record(database, session_id, "ended", cause="deadline")
    assert live_session(database.connection) is None


def test_latest_session_of_a_team(database):
    """A team's latest session ignores those of other teams."""
    assert latest_of_team(database.connection, "ants") is None
    for team in ("ants", "bees", "ants", "bees"):
        new_session(database, team)
    assert 3 == latest_of_team(database.connection, "ants").session_id
    assert [4, 3, 2, 1] == [s.session_id for s in all_sessions(database.connection)]


def test_void_reason_is_kept(database):
    """A session's record keeps the reason of its void."""
    session_id = new_session(database, "ants", "voided")
    assert "a reason" == load_session(database.connection, session_id).void_reason


def test_first_scoring_is_the_moment_of_being_scored(database):
    """A later scoring run leaves the first moment of scoring."""
    session_id = new_session(database, "ants", "armed", "started", "ended")
    with database.write() as connection:
        connection.execute(
            "insert into energies (session_id, utc, verdict, detail)"
            " values (1, '', 'INVALID', '{}')"
        )
        for second in (70, 80):
            run = ScoringRun(0, 1, None, None, {})
            insert_scoring_run(connection, session_id, at(second), run)
    assert at(70) == load_session(database.connection, session_id).facts.scored


@pytest.mark.parametrize("length_s", [0, -1, "long", None])
def test_a_session_has_a_length(database, length_s):
    """A session without a positive length is refused."""
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        connection.execute("insert into teams (name, created_utc) values ('ants', '')")
        connection.execute(
            "insert into sessions (team_id, length_s, created_utc) values (1, ?, '')", (length_s,)
        )
