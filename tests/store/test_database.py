# SPDX-License-Identifier: Apache-2.0
"""The database: durable settings, transactions, many writers."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from types import SimpleNamespace

import psutil
import pytest

from referee.errors import InputError, Unavailable
from referee.store import database as database_module
from referee.store.answers import insert_answer
from referee.store.database import Database
from referee.store.sessions import all_sessions
from tests.store.conftest import answer, new_session, opened


def test_commits_are_durable(database):
    """Each thread's connection has the write-ahead log, synchronous FULL and foreign keys."""
    found = []

    def look():
        settings = ("journal_mode", "synchronous", "foreign_keys")
        found.append(
            [database.connection.execute(f"pragma {name}").fetchone()[0] for name in settings]
        )

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    look()
    assert [["wal", 2, 1]] * 2 == found


def test_each_thread_has_its_own_connection(database):
    """A thread opens its connection once, and shares it with no other thread."""
    connections = []
    thread = threading.Thread(target=lambda: connections.append(database.connection))
    thread.start()
    thread.join()
    assert database.connection is database.connection
    assert connections[0] is not database.connection


def open_files(database):
    """Return how many files of a database this process has open."""
    folder = str(database.path.parent)
    return sum(file.path.startswith(folder) for file in psutil.Process().open_files())


def test_threads_that_end_leave_no_connection(database):
    """A thread that releases its connection closes it, and the other threads keep theirs."""
    database.connection.execute("select 1")
    left, files = [], []

    def look():
        left.append(database.connection)
        database.release()
        database.release()

    for _ in range(5):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        files.append(open_files(database))
    # SQLite keeps the first one's file for the next, so that closing it drops no other's lock.
    assert 1 == len(set(files))
    for connection in left:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("select 1")
    assert 1 == database.connection.execute("select 1").fetchone()[0]


def test_a_transaction_that_raises_leaves_nothing(database):
    """A block that raises undoes everything that it wrote."""
    session_id = new_session(database)
    with pytest.raises(KeyError), database.write() as connection:
        insert_answer(connection, answer(session_id))
        raise KeyError("something else")
    assert 0 == database.connection.execute("select count(*) from answers").fetchone()[0]
    assert not database.connection.in_transaction


def test_an_error_of_the_disk_is_unavailable(database):
    """An error of SQLite is Unavailable, and the next write works."""
    with pytest.raises(Unavailable, match="could not be written"), database.write() as connection:
        connection.execute("insert into no_such_table values (1)")
    assert 1 == new_session(database)


def test_a_full_disk_loses_only_the_write_that_hit_it(database):
    """A write that does not fit is undone as a whole and reported; with room, writes work again."""
    session_id = new_session(database)
    pages = database.connection.execute("pragma page_count").fetchone()[0]
    database.connection.execute(f"pragma max_page_count = {pages + 2}")
    with pytest.raises(Unavailable, match="full"), database.write() as connection:
        for _ in range(100):
            insert_answer(connection, answer(session_id, 100))
    assert 0 == database.connection.execute("select count(*) from answers").fetchone()[0]
    database.connection.execute("pragma max_page_count = 1000000")
    with database.write() as connection:
        insert_answer(connection, answer(session_id, 100))
    assert 1 == database.connection.execute("select count(*) from answers").fetchone()[0]


def test_a_reader_sees_one_snapshot(database):
    """A read does not see commits that happen meanwhile."""
    new_session(database)
    with database.read() as connection:
        assert 1 == len(all_sessions(connection))
        writer = threading.Thread(target=new_session, args=(database, "bees"))
        writer.start()
        writer.join()
        assert 1 == len(all_sessions(connection))
    assert 2 == len(all_sessions(database.connection))


def test_a_reader_that_raises_ends_its_snapshot(database):
    """An error while reading leaves no transaction behind."""
    with pytest.raises(KeyError), database.read():
        raise KeyError("something else")
    assert not database.connection.in_transaction


def test_a_file_that_is_no_database(tmp_path):
    """A file that is no database is refused by name, unchanged."""
    path = tmp_path / "notes.txt"
    path.write_text("these are not tables " * 100)
    before = path.read_bytes()
    database = Database(path)
    with pytest.raises(InputError, match="notes.txt cannot be opened as a database"):
        database.migrate()
    assert before == path.read_bytes()
    database.close()


def test_a_folder_that_is_not_there(tmp_path):
    """A path that cannot be opened is an error that names it."""
    with pytest.raises(InputError, match="cannot be opened"):
        Database(tmp_path / "no" / "a.db").migrate()


def test_closing_twice(tmp_path):
    """Closing may be repeated."""
    with opened(tmp_path / "a.db") as database:
        database.close()
        database.close()
    with pytest.raises(sqlite3.ProgrammingError):
        database.connection.execute("select 1")


WRITER = """
import sys
from pathlib import Path
from referee.store.answers import insert_answer
from referee.store.database import Database
from tests.store.conftest import answer

database = Database(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    with database.write() as connection:
        insert_answer(connection, answer(1))
database.close()
"""


@pytest.mark.slow
def test_two_processes_write_at_once(database, request):
    """Writers of two processes wait for each other, and every write arrives."""
    new_session(database)
    count = 200
    command = [sys.executable, "-c", WRITER, str(database.path), str(count)]
    writers = [subprocess.Popen(command, cwd=request.config.rootpath) for _ in range(2)]
    assert [0, 0] == [writer.wait(180) for writer in writers]
    stored = database.connection.execute("select count(*), max(answer_id) from answers").fetchone()
    assert (2 * count, 2 * count) == tuple(stored)


def test_a_busy_database_is_told(tmp_path, monkeypatch):
    """A writer that waits too long for another one gets an error, and does not hang."""
    with opened(tmp_path / "a.db") as first, monkeypatch.context() as patched:
        # A connection keeps the bound that it was opened with.
        patched.setattr(database_module, "BUSY_S", 0.01)
        with opened(tmp_path / "a.db") as second:
            with first.write(), pytest.raises(Unavailable, match="locked"), second.write():
                pass
            assert 1 == new_session(second)


@pytest.mark.parametrize(
    ("text", "code", "free", "told"),
    [
        ("database or disk is full", sqlite3.SQLITE_FULL, 10**9, "the disk is full."),
        ("disk I/O error", sqlite3.SQLITE_IOERR, 4096, "the disk is full."),
        ("disk I/O error", sqlite3.SQLITE_IOERR, 10**9, "disk I/O error."),
        ("database is locked", sqlite3.SQLITE_BUSY, 4096, "database is locked."),
    ],
)
def test_a_full_disk_is_called_full(database, monkeypatch, text, code, free, told):
    """Whatever SQLite says of a disk without room, the sentence says that it is full."""
    monkeypatch.setattr(
        database_module.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free)
    )
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    with pytest.raises(Unavailable) as refused, database.write():
        raise error
    assert str(refused.value).endswith(f"could not be written: {told}")
