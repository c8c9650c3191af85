# SPDX-License-Identifier: Apache-2.0
"""The journal writes for many threads in one commit, and judges each write on its own.

It is long because threads, a slow disk and a kill are played in every order that could lose a
write.
"""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import wait

import pytest

from referee.errors import Unavailable
from referee.store import journal as journal_module
from referee.store.answers import insert_answer
from referee.store.database import Database
from referee.store.journal import Journal
from tests.store.conftest import answer, new_session
from tests.support.fakes import eventually

BOUND_S = 180.0


@pytest.fixture
def journal(database):
    """Return a journal on a database with one session, and close it."""
    new_session(database)
    journal = Journal(database)
    yield journal
    journal.close()


class Gate:
    """A gate that holds the journal's thread inside a write until it is opened."""

    def __init__(self, journal):
        self.entered, self._opened = threading.Event(), threading.Event()
        self.future = journal.submit(self._hold)
        assert self.entered.wait(BOUND_S)

    def _hold(self, connection):
        self.entered.set()
        assert self._opened.wait(BOUND_S)

    def open(self):
        """Let the journal go on."""
        self._opened.set()
        self.future.result(BOUND_S)


def store(connection):
    """Write one answer of session 1."""
    return insert_answer(connection, answer(1))


def kept(batches):
    """Return a writer of notes that collects its rows."""
    return lambda connection, rows: batches.append(list(rows))


def store_all(connection, sessions):
    """Write one answer of each of these sessions."""
    for session_id in sessions:
        insert_answer(connection, answer(session_id))


def count(database):
    """Return the number of committed answers."""
    return database.connection.execute("select count(*) from answers").fetchone()[0]


def test_a_result_comes_after_the_commit(journal, database):
    """When a caller has an answer's number, the database has the answer."""
    assert 1 == journal.submit(store).result(BOUND_S)
    assert 1 == count(database)


def test_waiting_writes_share_a_commit(journal, database):
    """Writes that wait during a commit are all in the next one."""
    statements = []
    journal.submit(lambda connection: connection.set_trace_callback(statements.append))
    gate = Gate(journal)
    futures = [journal.submit(store) for _ in range(50)]
    statements.clear()
    gate.open()
    wait(futures, BOUND_S)
    journal.close()
    assert 50 == count(database)
    assert 2 == statements.count("COMMIT")


def test_one_failing_write_leaves_the_others_alone(journal, database):
    """A write that raises is undone, its caller gets the error, and its neighbours are kept."""
    gate = Gate(journal)

    def fail(connection):
        store(connection)
        raise KeyError("this one")

    def forbidden(connection):
        store(connection)
        connection.execute("delete from answers")

    futures = [journal.submit(write) for write in (store, fail, store, forbidden, store)]
    gate.open()
    wait(futures, BOUND_S)
    errors = [type(future.exception()) for future in futures]
    assert [type(None), KeyError, type(None), sqlite3.IntegrityError, type(None)] == errors
    assert 3 == count(database)


def test_a_commit_that_fails_fails_the_whole_batch(journal, database):
    """A batch that the disk refuses is acknowledged to nobody, and the thread goes on."""
    gate = Gate(journal)
    futures = [
        journal.submit(store),
        journal.submit(lambda connection: connection.execute("insert into nowhere values (1)")),
        journal.submit(store),
    ]
    gate.open()
    wait(futures, BOUND_S)
    assert [Unavailable] * 3 == [type(future.exception()) for future in futures]
    assert 0 == count(database)
    journal.submit(store).result(BOUND_S)
    assert 1 == count(database)


def test_a_database_that_cannot_be_reached(journal, database, monkeypatch):
    """An error before a batch's first write reaches every waiting caller at once."""
    attempts = []

    def broken(*, durable):
        attempts.append(durable)
        raise Unavailable("no disk")

    monkeypatch.setattr(journal._writer, "write", broken)
    with pytest.raises(Unavailable, match="no disk"):
        journal.submit(store).result(BOUND_S)
    assert [True] == attempts
    monkeypatch.undo()
    journal.submit(store).result(BOUND_S)
    assert 1 == count(database)


def test_a_full_queue_refuses(database, monkeypatch):
    """With a stalled disk a full queue refuses at once, and still writes what it holds."""
    monkeypatch.setattr(journal_module, "_WAITING", 3)
    new_session(database)
    journal = Journal(database)
    gate = Gate(journal)
    futures = [journal.submit(store) for _ in range(3)]
    with pytest.raises(Unavailable, match="too slow"):
        journal.submit(store)
    gate.open()
    wait(futures, BOUND_S)
    assert 3 == count(database)
    journal.close()


def test_a_full_disk_is_not_called_a_slow_one(journal, monkeypatch):
    """A write that waits too long is told why the disk refused those before it."""

    def full(*, durable):
        raise Unavailable("The database could not be written: the disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(journal._writer, "write", full)
        with pytest.raises(Unavailable, match="disk is full"):
            journal.submit(store).result(BOUND_S)
        patched.setattr(journal_module, "_WAITING", 0)
        with pytest.raises(Unavailable, match="the disk is full; try again in a second"):
            journal.submit(store)
    journal.submit(lambda connection: None).result(BOUND_S)
    assert "The referee's disk is too slow: wait." == str(journal.held_up("wait."))


def test_batches_are_bounded(database, monkeypatch):
    """A queue that exceeds one commit is written in several, and none is left."""
    monkeypatch.setattr(journal_module, "_AT_ONCE", 4)
    new_session(database)
    journal = Journal(database)
    gate = Gate(journal)
    futures = [journal.submit(store) for _ in range(11)]
    gate.open()
    assert list(range(1, 12)) == [future.result(BOUND_S) for future in futures]
    journal.close()


def test_close_commits_what_is_queued(database):
    """Closing commits the queue, and may be repeated."""
    new_session(database)
    journal = Journal(database)
    gate = Gate(journal)
    futures = [journal.submit(store) for _ in range(20)]
    closer = threading.Thread(target=journal.close)
    closer.start()
    gate.open()
    closer.join(BOUND_S)
    assert all(future.done() for future in futures)
    assert 20 == count(database)
    journal.close()


def test_a_caller_that_gave_up_does_not_stop_the_thread(journal, database):
    """A cancelled write is not written, and the journal goes on."""
    gate = Gate(journal)
    given_up = journal.submit(store)
    given_up.cancel()
    gate.open()
    assert 1 == journal.submit(store).result(BOUND_S)
    assert 1 == count(database)


def test_large_writes_wait_in_bounded_memory(journal, monkeypatch):
    """Waiting writes hold a bounded number of bytes, cancelled or not; a commit makes room."""
    monkeypatch.setattr(journal_module, "_LARGE_BYTES", 1_000_000)
    gate = Gate(journal)
    called_off, kept = (journal.submit(store, size_bytes=600_000) for _ in range(2))
    called_off.cancel()
    with pytest.raises(Unavailable, match="too slow"):
        journal.submit(store, size_bytes=600_000)
    gate.open()
    assert 1 == kept.result(BOUND_S)
    journal.flush(BOUND_S)
    assert 2 == journal.submit(store, size_bytes=2_000_000).result(BOUND_S)


def test_many_threads(journal, database):
    """Writes of many threads all arrive, each under its own number."""
    numbers = []

    def work():
        for _ in range(25):
            numbers.append(journal.submit(store).result(BOUND_S))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND_S)
    assert list(range(1, 201)) == sorted(numbers)
    assert 200 == count(database)


def test_a_note_is_committed_before_what_is_queued_after_it(journal, database):
    """A note is stored in its turn, so a flush makes it visible to everybody."""
    journal.note(store_all, 1)
    journal.flush(BOUND_S)
    assert 1 == count(database)


def test_notes_alone_do_not_wait_for_the_disk(journal, database):
    """A commit of notes alone is not synced; a commit with a waiting caller is."""
    statements = []
    journal.submit(lambda connection: connection.set_trace_callback(statements.append)).result()
    journal.note(store_all, 1)
    eventually(lambda: statements.count("COMMIT") == 2)
    journal.flush(BOUND_S)
    settings = [text for text in statements if text.startswith("pragma synchronous")]
    assert "pragma synchronous = normal" == settings[0]
    assert "pragma synchronous = full" == settings[-1]


def test_catching_up_does_not_wait_for_the_disk(journal, database):
    """Catching up makes the queue readable without making it durable."""
    statements = []
    journal.submit(lambda connection: connection.set_trace_callback(statements.append)).result()
    gate = Gate(journal)
    journal.note(store_all, 1)
    gate.open()
    statements.clear()
    assert journal.catch_up(BOUND_S)
    assert 1 == count(database)
    assert "pragma synchronous = full" not in statements


def test_catching_up_has_an_end(journal):
    """Catching up with a stalled disk ends after its bound, and raises nothing."""
    gate = Gate(journal)
    assert not journal.catch_up(0.01)
    gate.open()
    assert journal.catch_up(BOUND_S)


def test_a_note_that_fails_is_logged(journal, database, caplog):
    """A note's failure stands in the log, and the thread goes on."""
    journal.note(lambda connection, rows: connection.execute("delete from sessions"), 1)
    journal.flush(BOUND_S)
    assert "a note was not stored" in caplog.text


def test_notes_that_come_too_fast_are_held_up(database, monkeypatch):
    """A caller that outruns the disk waits, and no note is lost."""
    monkeypatch.setattr(journal_module, "_WAITING", 3)
    new_session(database)
    journal = Journal(database)
    for _ in range(100):
        journal.note(store_all, 1)
    journal.close()
    assert 100 == count(database)


def test_a_note_that_fails_leaves_the_others_alone(journal, database, caplog):
    """A note that fails leaves the other notes of its commit, its own kind included."""

    def store_good(connection, rows):
        store_all(connection, rows)
        if "bad" in rows:
            raise KeyError("this one")

    gate = Gate(journal)
    for row in (1, "bad", 1):
        journal.note(store_good, row)
    journal.note(store_all, 1)
    gate.open()
    journal.flush(BOUND_S)
    assert 3 == count(database)
    assert 1 == caplog.text.count("a note was not stored")


def test_notes_of_a_kind_are_written_at_once(journal):
    """The writer of a kind gets all of a commit's rows at once, in order."""
    written = []
    write = kept(written)
    gate = Gate(journal)
    for row in range(5):
        journal.note(write, row)
    gate.open()
    journal.flush(BOUND_S)
    assert [[0, 1, 2, 3, 4]] == written


def test_notes_are_dropped_while_the_disk_has_stalled(database, monkeypatch, caplog):
    """On a stalled disk the first note waits for its bound, and later ones are dropped at once."""
    monkeypatch.setattr(journal_module, "_WAITING", 1)
    new_session(database)
    journal = Journal(database)
    gate = Gate(journal)
    with monkeypatch.context() as patched:
        patched.setattr(journal_module, "_CATCH_UP_S", 0.01)
        for _ in range(3):
            journal.note(store_all, 1)
    monkeypatch.setattr(journal_module, "_CATCH_UP_S", BOUND_S)
    journal.note(store_all, 1)
    gate.open()
    eventually(lambda: count(database) == 1)
    journal.note(store_all, 1)
    journal.close()
    assert 2 == count(database)
    assert 1 == caplog.text.count("notes are dropped until it goes on")


class Company(threading.Event):
    """The wait for a caller, which ends when the test lets it, as if its time were over."""

    def __init__(self):
        super().__init__()
        self.bounds_s, self.begun, self.over = [], threading.Event(), threading.Event()

    def wait(self, timeout=None):
        """Note the bound and wait for the test instead."""
        self.bounds_s.append(timeout)
        self.begun.set()
        assert self.over.wait(BOUND_S)
        return False


def test_notes_alone_wait_for_company(journal, database, monkeypatch):
    """Notes that follow each other share a commit, without anybody asking for it."""
    statements = []
    journal.submit(lambda connection: connection.set_trace_callback(statements.append)).result()
    statements.clear()
    company = Company()
    monkeypatch.setattr(journal, "_awaited", company)
    journal.note(store_all, 1)
    assert company.begun.wait(BOUND_S)
    for _ in range(9):
        journal.note(store_all, 1)
    assert 0 == count(database)
    company.over.set()
    eventually(lambda: count(database) == 10)
    assert (1, journal_module._COMPANY_S) == (statements.count("COMMIT"), company.bounds_s[0])


def test_waiting_for_the_disk_happens_aside(database):
    """Each commit is awaited aside, while the writes run in the journal's thread."""
    new_session(database)
    threads, works = [], []

    def run_blocking(work):
        works.append(work.__name__)
        return work()

    def write(connection):
        threads.append(threading.current_thread().name)
        return store(connection)

    journal = Journal(database, run_blocking)
    assert 1 == journal.submit(write).result(BOUND_S)
    journal.close()
    assert (["commit"], ["journal"]) == (works, threads)


def test_another_process_that_writes_is_waited_for_aside(database):
    """Another process's lock delays the commit alone."""
    new_session(database)
    entered = threading.Event()
    works = []

    def run_blocking(work):
        works.append(work.__name__)
        entered.set()
        return work()

    journal = Journal(database, run_blocking)
    other = Database(database.path)
    with other.write():
        future = journal.submit(store)
        assert entered.wait(BOUND_S)
        assert not future.done()
    other.close()
    assert 1 == future.result(BOUND_S)
    assert ["_begin_patiently", "commit"] == works
    journal.close()
