# SPDX-License-Identifier: Apache-2.0
"""Scripts make the schema, once each, and every table of facts gets its triggers by itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from referee.errors import InputError, Unavailable
from referee.store import schema
from referee.store.chain import broken_links, links
from referee.store.database import Database
from referee.store.notices import insert_notice
from tests.schema import FILE, schema_text
from tests.store.conftest import new_session, opened


@pytest.fixture
def with_scripts(monkeypatch):
    """Return a function that puts scripts behind those of the referee."""
    usual = schema.scripts()

    def put(**more):
        named = [(f"guest/{name}", text) for name, text in more.items()]
        monkeypatch.setattr(schema, "scripts", lambda rooms=None: [*usual, *named])

    return put


def everything(database):
    """Return the SQL of everything in the database."""
    rows = database.connection.execute("select name, sql from sqlite_master order by name")
    return [tuple(row) for row in rows]


def done(database):
    """Return the names of the scripts that were run."""
    return [row[0] for row in database.connection.execute("select name from migrations")]


def test_a_second_migration_changes_nothing(tmp_path):
    """A database with its whole schema keeps it, and every row, however often it is opened."""
    with opened(tmp_path / "a.db") as database:
        new_session(database)
        before = everything(database)
    with opened(tmp_path / "a.db") as again:
        assert before == everything(again)
        assert 1 == again.connection.execute("select count(*) from sessions").fetchone()[0]
        assert [name for name, _ in schema.scripts()] == done(again)


def test_the_readable_schema_is_what_the_migrations_make():
    """After a change of a migration 'make schema' writes the file for people again."""
    assert schema_text() == FILE.read_text(encoding="utf-8")


def test_the_referee_has_one_script_and_guests_their_own():
    """The names of scripts begin with their room, and the referee's come first."""
    names = [name for name, _ in schema.scripts()]
    assert "referee/0001_initial" == names[0]
    rooms = [name.split("/")[0] for name in names]
    assert "ovic" in rooms and rooms == sorted(rooms, key=lambda room: (room != "referee", room))


def test_a_database_of_before_the_first_release_is_refused(tmp_path):
    """A database whose migrations were counted is left as it is, and the text says what to do."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as old:
        old.execute("create table sessions (session_id integer primary key) strict")
        old.execute("pragma user_version = 17")
        old.commit()
    content = path.read_bytes()
    with closing(Database(path)) as database:
        with pytest.raises(
            InputError, match=r"a\.db was made .* before the first release.* new fo"
        ):
            database.migrate()
        assert ["sessions"] == [name for name, _ in everything(database)]
    assert content[100:] == path.read_bytes()[100:]  # WAL mode changes the file's head.


@pytest.mark.parametrize(
    ("script", "way_out"),
    [
        ("referee/0099_later", "it is an earlier version. .* Install the version that wrote it"),
        ("ovic/0099_later", "it is an earlier version. .* Install the version that wrote it"),
        ("ants/0001_crumbs", "it has no guest 'ants'. .* Install the package that brings it"),
    ],
)
def test_a_later_schema_is_refused_with_the_way_out(tmp_path, script, way_out):
    """A file of a later referee, or of one with more guests, stays; the text says what to do."""
    path = tmp_path / "a.db"
    with opened(path) as database, database.write() as connection:
        connection.execute("insert into migrations values (:script)", {"script": script})
        before = everything(database)
    with closing(Database(path)) as later:
        with pytest.raises(InputError, match=f"tables of {script}, .* {way_out}"):
            later.migrate()
        assert (before, script) == (everything(later), done(later)[-1])


def test_a_script_runs_once_on_a_database_with_facts(tmp_path, with_scripts):
    """A later script is run alone: facts and links stay, and new columns join the chain."""
    path = tmp_path / "a.db"
    with opened(path) as database:
        before = done(database)
    with_scripts(later="alter table notices add column place text;\n")
    with opened(path) as database:
        assert [*before, "guest/later"] == done(database)
        with database.write() as connection:
            insert_notice(connection, None, "then", "info", "one")
        assert [] == list(broken_links(database.connection))
    with opened(path) as database:
        assert [*before, "guest/later"] == done(database)


def test_a_database_is_copied_before_it_is_brought_up_to_date(tmp_path, with_scripts, caplog):
    """The copy holds what was there, also from the log, for its owner alone; the log says where."""
    path, copy = tmp_path / "a.db", tmp_path / "a-before-guest-later.db"
    with opened(path) as database:
        assert [path] == [it for it in tmp_path.iterdir() if it.suffix == ".db"]
        new_session(database)
        before, head = everything(database), list(links(database.connection))[-1]
        with_scripts(later="create table one (a integer primary key) strict;\n")
        database.migrate()
        assert "to go back, stop the referee" in caplog.text and copy.name in caplog.text
        database.migrate()
    assert 0o600 == copy.stat().st_mode & 0o777
    assert [copy, path] == sorted(tmp_path.glob("*.db*"))
    with_scripts()
    with opened(copy) as earlier:
        assert before == everything(earlier)
        assert head == list(links(earlier.connection))[-1]
    with closing(Database(path)) as later, pytest.raises(InputError, match=f"there is {copy}: to"):
        later.migrate()


def test_a_copy_takes_no_other_copys_place(tmp_path, with_scripts):
    """Whoever went back with a copy of the copy, and comes again, has both."""
    taken = tmp_path / "a-before-guest-later.db"
    taken.write_text("mine")
    with opened(tmp_path / "a.db"):
        pass
    with_scripts(later="create table one (a integer primary key) strict;\n")
    with opened(tmp_path / "a.db"):
        assert "mine" == taken.read_text()
        assert (tmp_path / "a-before-guest-later-1.db").stat().st_size > 4096


def test_without_its_copy_nothing_is_brought_up_to_date(tmp_path, with_scripts, monkeypatch):
    """A copy that breaks off leaves no file, and the database as it was."""
    with opened(tmp_path / "a.db") as database:
        before = everything(database)
    with_scripts(later="create table one (a integer primary key) strict;\n")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with closing(Database(tmp_path / "a.db")) as database:
        with pytest.raises(OSError, match="No space"):
            database.migrate()
        assert before == everything(database)
    assert [tmp_path / "a.db"] == list(tmp_path.iterdir())


def test_a_guest_of_another_package_keeps_no_facts_of_sessions(tmp_path):
    """A bundle is verified without that package, so such a table is refused, and none is made."""
    folder = tmp_path / "guests" / "ants" / "migrations"
    folder.mkdir(parents=True)
    (folder / "0001_crumbs.sql").write_text(
        "create table crumbs (session_id integer primary key references sessions) strict;\n"
    )
    with opened(tmp_path / "a.db") as database:
        before = everything(database)
        with pytest.raises(InputError, match="table crumbs with the column session_id"):
            database.migrate({"ants": folder.parent})
        assert before == everything(database)


def test_a_guests_table_is_one_of_facts(tmp_path):
    """A table of plain SQL in a guest's folder is append-only and in the chain without a word."""
    folder = tmp_path / "guests" / "ants" / "migrations"
    folder.mkdir(parents=True)
    (folder / "0001_crumbs.sql").write_text(
        "create table crumbs (\n    crumb_id integer primary key autoincrement,\n"
        "    code text not null unique\n) strict;\n"
    )
    with opened(tmp_path / "a.db") as database:
        database.migrate({"ants": folder.parent})
        assert "ants/0001_crumbs" in done(database)
        with database.write() as connection:
            connection.execute("insert into crumbs (code) values ('a')")
        links = database.connection.execute(
            "select session_id, row_id from chain where subject = 'crumbs'"
        )
        assert [(0, 1)] == [tuple(row) for row in links]
        for statement in (
            "update crumbs set code = 'c'",
            "delete from crumbs",
            "insert or replace into crumbs (crumb_id, code) values (1, 'c')",
            "insert or replace into crumbs (code) values ('a')",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="facts are append-only"):
                with database.write() as connection:
                    connection.execute(statement)
        assert [] == list(broken_links(database.connection))


def test_a_dropped_trigger_is_not_made_again(tmp_path):
    """Opening a database heals nothing, so an audit still sees what somebody took out."""
    with opened(tmp_path / "a.db") as database:
        database.connection.execute("drop trigger audit_no_update")
    with opened(tmp_path / "a.db") as again:
        assert ["trigger audit_no_update"] == schema.missing_from_schema(again.connection)


def test_a_migration_that_fails_leaves_nothing(tmp_path, with_scripts):
    """A script that fails in its middle undoes its beginning."""
    twice = "create table one (a integer primary key) strict;\n"
    with_scripts(one=twice, two=twice)
    with closing(Database(tmp_path / "a.db")) as database:
        with pytest.raises(Unavailable):
            database.migrate()
        assert [] == everything(database)


def test_a_migration_cut_short_is_noticed():
    """A script that ends inside a statement is an error."""
    with pytest.raises(ValueError, match="inside a statement"):
        list(schema.statements("create table one (a integer"))


def test_triggers_are_one_statement():
    """Semicolons inside a trigger do not end its statement."""
    script = (
        "create trigger t before delete on one\nbegin\n    select 1;\n    select 2;\nend;\n\n"
        "-- a remark; with a semicolon\ncreate table two (b integer);\n"
    )
    found = list(schema.statements(script))
    assert 2 == len(found)
    assert found[0].rstrip().endswith("end;")
