# SPDX-License-Identifier: Apache-2.0
"""Entries and their events: the schema enforces the states, for any program that writes."""

from __future__ import annotations

import sqlite3
from itertools import product

import pytest

from referee.errors import Refusal
from referee.extras.ovic.rules.entry_states import MOVES, EntryState
from referee.extras.ovic.submission.entries import (
    NewEvent,
    all_entries,
    count_entries_of_day,
    entries_of_model,
    entries_version,
    events_of_entry,
    insert_entry,
    load_entry,
    record_entry_event,
)
from tests.support.ovic_contests import SCORED, UTC, new_entry, put_entry

KINDS = sorted({kind for moves in MOVES.values() for kind in moves})
# The events that lead to each state.
WAYS = {
    EntryState.RECEIVED: (),
    EntryState.VALIDATING: ("validating",),
    EntryState.REFUSED: ("validating", "refused"),
    EntryState.WAITING: ("validating", "waiting"),
    EntryState.MEASURING: ("validating", "waiting", "measuring"),
    EntryState.SCORED: SCORED,
    EntryState.AGAIN: (*SCORED, "again"),
    EntryState.REMEASURING: (*SCORED, "again", "remeasuring"),
    EntryState.FAILED: ("validating", "failed"),
    EntryState.VOID: ("voided",),
}
RAW = (
    "insert into ovic_events (entry_id, kind, state, utc, actor, text, accuracy, latency_ms,"
    " build, struck, detail) values (:entry, :kind, :state, '', 'x', '', :accuracy, :accuracy,"
    " :build, :struck, '{}')"
)


@pytest.mark.parametrize("state", EntryState)
def test_the_schema_takes_exactly_the_moves_of_the_rules(database, state):
    """For each state, kind and next state the schema says what the rules say."""
    number = put_entry(database, *WAYS[state])
    assert state is load_entry(database.connection, number).state
    for kind, after in product([*KINDS, "odd"], EntryState):
        values = {"entry": number, "kind": kind, "state": after.value}
        values["accuracy"] = 1.0 if kind == "scored" else None
        values["build"] = "a build" if kind == "scored" else None
        values["struck"] = 1 if kind == "struck" else None
        connection = database.connection
        connection.execute("begin immediate")
        try:
            connection.execute(RAW, values)
            taken = True
        except sqlite3.IntegrityError as error:
            assert "makes no such move" in str(error)
            taken = False
        finally:
            connection.rollback()
        assert taken is (MOVES[state].get(kind) is after), (kind, after)


def test_one_model_runs_at_a_time(database):
    """While a model runs, no other entry can be validated or measured."""
    first, second = put_entry(database, "validating"), put_entry(database, number=2)
    with pytest.raises(sqlite3.IntegrityError, match="another model runs"):
        with database.write() as connection:
            record_entry_event(connection, second, NewEvent("validating", UTC, actor="x"))
    with database.write() as connection:
        record_entry_event(connection, first, NewEvent("waiting", UTC, actor="x"))
        record_entry_event(connection, second, NewEvent("validating", UTC, actor="x"))


def test_an_event_out_of_order_is_refused_in_a_sentence(database):
    """A move that the state does not allow names entry and state; an unknown entry is named."""
    number = put_entry(database)
    with pytest.raises(Refusal, match="Entry 1 is received: it takes no 'scored'"):
        with database.write() as connection:
            record_entry_event(connection, number, NewEvent("scored", UTC, actor="x"))
    with pytest.raises(Refusal, match="There is no entry 7"):
        load_entry(database.connection, 7)


def test_tries_count_interruptions_since_the_operator_said_again(database):
    """Restarts by the operator are no tries, and `again` begins anew."""
    ways = ("validating", "interrupted", "validating", "stopped", "validating", "interrupted")
    number = put_entry(database, *ways)
    assert 2 == load_entry(database.connection, number).tries
    with database.write() as connection:
        for kind in ("validating", "failed", "again", "validating", "interrupted"):
            record_entry_event(connection, number, NewEvent(kind, UTC, actor="x"))
    assert 1 == load_entry(database.connection, number).tries


def test_what_failed_through_us_does_not_count_for_the_day(database):
    """Each entry of the day counts but those that failed; other days, tasks and teams do not."""
    for number, ways in enumerate([(), ("validating", "failed"), SCORED], 1):
        put_entry(database, *ways, number=number)
    put_entry(database, team="bees", number=4)
    count = {
        key: count_entries_of_day(database.connection, *key)
        for key in [
            ("ants", "classification", UTC[:10]),
            ("ants", "classification", "2026-06-08"),
            ("ants", "detection", UTC[:10]),
            ("bees", "classification", UTC[:10]),
            ("flies", "classification", UTC[:10]),
        ]
    }
    assert [2, 0, 0, 1, 0] == list(count.values())


def test_entries_are_found_by_team_state_and_model(database):
    """Queries give the entries of a team, of a state, and of a model, with their scores."""
    put_entry(database, *SCORED, figures=(61.5, 9.25))
    put_entry(database, team="bees", number=2)
    connection = database.connection
    assert [(1, 61.5, 9.25)] == [
        (it.entry_id, it.measured[0].accuracy, it.measured[0].latency_ms)
        for it in all_entries(connection, states=[EntryState.SCORED])
    ]
    assert [2] == [it.entry_id for it in all_entries(connection, team="bees")]
    assert [1, 2] == [it.entry_id for it in all_entries(connection)]
    sha256 = new_entry(number=1).model_sha256
    assert [1] == [
        it.entry_id for it in entries_of_model(connection, "ants", "classification", sha256)
    ]
    assert [] == entries_of_model(connection, "bees", "classification", sha256)
    assert list(SCORED) == [event.kind for event in events_of_entry(connection, 1)]


def test_each_change_has_a_version(database):
    """An entry and an event change the version, and nothing else does."""
    seen = [entries_version(database.connection)]
    with database.write() as connection:
        insert_entry(connection, new_entry())
    seen += [entries_version(database.connection)] * 2
    with database.write() as connection:
        record_entry_event(connection, 1, NewEvent("validating", UTC, actor="x"))
    seen.append(entries_version(database.connection))
    assert [(0, 0), (1, 0), (1, 0), (1, 1)] == seen
