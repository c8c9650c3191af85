# SPDX-License-Identifier: Apache-2.0
"""The logbook keeps the rows that a full disk refuses, and stores them when there is room again."""

from __future__ import annotations

import os

import pytest

from referee.errors import Unavailable
from referee.service.desk import logbook as module
from referee.service.desk.logbook import Logbook
from referee.store.notices import recent_notices
from referee.store.readings import readings_of
from tests.support.fakes import FakeMeter, eventually, running_desk


class Disk:
    """A disk that is full while `full` is set."""

    def __init__(self, monkeypatch) -> None:
        self.full = False
        for name in ("insert_notice", "insert_reading"):
            monkeypatch.setattr(module, name, self._checked(getattr(module, name)))

    def _checked(self, insert):
        def write(*args):
            if self.full:
                raise Unavailable("database or disk is full")
            return insert(*args)

        return write


@pytest.fixture
def disk(monkeypatch):
    """Return a disk for a logbook that tries again without long pauses."""
    monkeypatch.setattr(module, "_AGAIN_S", 0.01)
    return Disk(monkeypatch)


@pytest.fixture
def logbook(contest, disk):
    """Return a logbook on that disk."""
    logbook = Logbook(contest)
    yield logbook
    disk.full = False
    logbook.close()


def texts(contest):
    """Return the texts of the stored notices, the oldest first."""
    return [notice.text for notice in reversed(recent_notices(contest.database.connection, 100))]


def test_notices_outlive_a_full_disk(contest, disk, logbook):
    """Refused notices stand on the board with an alarm, and reach the disk in order."""
    logbook.notify(None, "info", "first")
    logbook.flush()
    disk.full = True
    logbook.notify(None, "warning", "second")
    eventually(lambda: len(logbook.unstored_notices()) == 2)
    newest, oldest = logbook.unstored_notices()
    assert ("alarm", "second") == (newest.level, oldest.text)
    assert "The disk refuses the desk's records" in newest.text
    assert ["first"] == texts(contest)
    disk.full = False
    eventually(lambda: len(texts(contest)) == 4)
    assert ["first", "second", newest.text, texts(contest)[-1]] == texts(contest)
    assert "takes the desk's records again" in texts(contest)[-1]
    eventually(lambda: not logbook.unstored_notices())


def two_readings(metering):
    """Wait for the second reading from now: by then the first has been handed on."""
    for _ in range(2):
        last = metering.status.reading
        eventually(lambda last=last: metering.status.reading is not last)


def test_readings_outlive_a_full_disk(contest, disk):
    """Readings that a full disk refused are stored later, at their own seconds."""
    clock = contest.clock
    with running_desk(contest, FakeMeter(clock)) as desk:
        number = desk.new_session("ants", "Kim")
        desk.steps_of(number).arm(number, "Kim")
        session_id = desk.begin("ants", "10.0.0.2")
        disk.full = True
        for _ in range(2):
            clock.advance(10)
            two_readings(desk.lanes[0].metering)
        assert desk.logbook.unstored_notices()
        disk.full = False
        desk.logbook.flush()
    seconds = [second for second, _ in readings_of(contest.database.connection, session_id)]
    assert 10.0 in seconds and 20.0 in seconds
    assert seconds == sorted(seconds)


def test_what_the_meter_said_is_on_the_disk_before_what_follows_from_it(contest, monkeypatch):
    """The meter's log is synced before a start is stored, and before a reading is."""
    log = contest.config.wire_log_of(1)
    log.write_text("what the meter said\n")
    connection, seen = contest.database.open(), []

    def fsync(descriptor):
        if os.fstat(descriptor).st_ino == log.stat().st_ino:
            facts = "select (select count(*) from session_meters), (select count(*) from readings)"
            seen.append(tuple(connection.execute(facts).fetchone()))

    monkeypatch.setattr(os, "fsync", fsync)
    with running_desk(contest, FakeMeter(contest.clock)) as desk:
        number = desk.new_session("ants", "Kim")
        desk.steps_of(number).arm(number, "Kim")
        assert [] == seen
        desk.begin("ants", "10.0.0.2")
        two_readings(desk.lanes[0].metering)
        desk.logbook.flush()
    assert [(0, 0), (1, 0)] == seen[:2]


def test_a_log_of_the_meter_that_cannot_be_synced_keeps_nothing_back(contest, monkeypatch):
    """Readings are stored without it."""
    contest.config.wire_log_of(1).mkdir()

    def fail(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with running_desk(contest, FakeMeter(contest.clock)) as desk:
        number = desk.new_session("ants", "Kim")
        desk.steps_of(number).arm(number, "Kim")
        session_id = desk.begin("ants", "10.0.0.2")
        two_readings(desk.lanes[0].metering)
        desk.logbook.flush()
    assert list(readings_of(contest.database.connection, session_id))


def test_a_flush_on_a_full_disk_ends(disk, logbook, monkeypatch):
    """A flush raises an error when the disk refuses."""
    disk.full = True
    logbook.notify(None, "info", "hello")
    with monkeypatch.context() as patched, pytest.raises(Unavailable, match="make room"):
        patched.setattr(module, "_FLUSH_S", 0.02)
        logbook.flush()


def test_a_fact_that_cannot_be_stored_costs_the_others_nothing(contest, logbook):
    """A notice of a session that does not exist is left out; those around it are stored."""
    for session_id, text in ((None, "before"), (77, "impossible"), (None, "after")):
        logbook.notify(session_id, "info", text)
    logbook.flush()
    assert ["before", "after"] == texts(contest)


def test_memory_is_bounded_while_the_disk_refuses(disk, logbook, monkeypatch):
    """Beyond the bound the newest rows are dropped, and the waiting rows stay."""
    monkeypatch.setattr(module, "_KEPT_MOST", 5)
    disk.full = True
    for number in range(20):
        logbook.notify(None, "info", str(number))
    assert 5 == len(logbook.unstored_notices())
    assert "0" == logbook.unstored_notices()[-1].text


def test_the_death_of_the_logbooks_own_thread_is_an_alarm(contest, logbook, monkeypatch):
    """A new thread takes over from one that a mistake ended, and reports its death."""
    real, calls = logbook._store_batch, []

    def fails_once():
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("a mistake")
        return real()

    monkeypatch.setattr(logbook, "_store_batch", fails_once)
    logbook.notify(None, "info", "hello")
    eventually(lambda: len(texts(contest)) == 2)
    assert "hello" == texts(contest)[0]
    assert "'logbook' died" in texts(contest)[1]
