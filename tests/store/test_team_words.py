# SPDX-License-Identifier: Apache-2.0
"""Every team has a login, those of earlier databases too, and no two teams share a word."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from referee.store import schema
from referee.store.chain import broken_links, newest_link
from referee.store.database import Database
from referee.store.rehearsals import teams_at
from referee.store.team_words import (
    SEVERAL,
    insert_login,
    newest_login,
    other_words,
    team_logins,
    word_owners,
)
from referee.store.teams import ensure_team, insert_rename
from tests.store.conftest import new_session

UTC = "2026-06-07T12:00:00+00:00"
OLD = ("Änts", "ants", "東京", "BEES", "bees")


def add(database, *names):
    """Add teams, and return their numbers."""
    with database.write() as connection:
        return [ensure_team(connection, name, UTC) for name in names]


@pytest.fixture
def old(tmp_path):
    """Return the path of a database as a version without logins left it, with renamed teams."""
    path = tmp_path / "old.db"
    scripts = [one for one in schema.scripts() if one[0] != "referee/0014_team_logins"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "scripts", lambda rooms=None: scripts)
        patch.setattr("referee.store.database.give_logins", lambda connection: None)
        with closing(Database(path)) as database:
            database.migrate()
            with database.write() as connection:
                for name in OLD:
                    values = {"name": name, "utc": UTC}
                    connection.execute(
                        "insert into teams (name, created_utc) values (:name, :utc)", values
                    )
                insert_rename(connection, 2, "hornets", operator="x", utc=UTC)
    return path


def test_a_new_team_gets_a_login_whoever_brings_it_in(database):
    """A session of an unknown team gives the team a login, and a second session no other."""
    new_session(database, "Röcket", "armed", "started", "ended")
    new_session(database, "Röcket")
    assert {1: "rocket"} == team_logins(database.connection)


def test_an_earlier_database_gets_logins_once(old):
    """Each team gets one as its database is brought up to date, and its chain stays."""
    with closing(Database(old)) as database:
        before = newest_link(database.connection)
        for _ in range(2):
            database.migrate()
            assert {1: "ants-2", 2: "hornets", 3: "team1", 4: "bees-2", 5: "bees-3"} == team_logins(
                database.connection
            )
        assert [] == list(broken_links(database.connection))
        assert before == newest_link(database.connection) is not None


def test_an_earlier_database_can_be_asked_by_a_rehearsal(old):
    """Before a command of this version opens the event, its teams have names and no logins."""
    teams = teams_at(old)
    assert ({}, [("ants", "hornets")]) == (teams.logins, list(teams.words))
    assert {"Änts", "hornets", "東京", "BEES", "bees"} == teams.registrations.keys()


def test_a_login_of_another_team_is_refused_by_the_database(database):
    """Whatever a program does, no two teams have one login; a team may have one again."""
    ants, bees = add(database, "ants", "bees")
    with database.write() as connection:
        insert_login(connection, ants, "a")
        insert_login(connection, ants, "ants")
    with pytest.raises(sqlite3.IntegrityError, match="has this login"), database.write() as link:
        insert_login(link, bees, "a")
    assert ["ants", "bees"] == [newest_login(database.connection, one) for one in (ants, bees)]


@pytest.mark.parametrize("login", ["", "Ants", "a b", "ä", "x" * 21])
def test_a_login_is_plain_in_the_database_too(database, login):
    """The table takes short words of letters, digits and dashes alone."""
    (ants,) = add(database, "ants")
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"), database.write() as connection:
        insert_login(connection, ants, login)


def test_the_words_of_a_team_are_its_names_and_its_logins(database):
    """Every login and earlier name leads to the present name, which is no other word."""
    (rocket,) = add(database, "Röcket")
    with database.write() as connection:
        insert_rename(connection, rocket, "Rakete", operator="x", utc=UTC)
        insert_login(connection, rocket, "r2")
    words = other_words(database.connection)
    assert {("Röcket", "Rakete"), ("rocket", "Rakete"), ("r2", "Rakete")} == set(words)
    assert {"röcket": 1, "rakete": 1, "rocket": 1, "r2": 1} == word_owners(database.connection)


def test_a_word_of_two_teams_has_no_single_owner(old):
    """Two names of an earlier release that are one today are nobody's word alone."""
    with closing(Database(old)) as database:
        database.migrate()
        assert SEVERAL == word_owners(database.connection)["bees"]
