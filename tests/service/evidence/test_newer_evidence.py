# SPDX-License-Identifier: Apache-2.0
"""A folder that was restored from a backup is told by the bundles and slips beside it."""

from __future__ import annotations

import os
import shutil

import pytest

from referee.core.restored import NewerEvidence, restored_text
from referee.programs.hosting import _tell_if_restored
from referee.programs.outside import outside_of
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.newer_evidence import newer_evidence
from referee.service.evidence.slip import slip_of, slip_page_of
from referee.service.preflight.contest_checks import restored_findings
from referee.service.preflight.finding import Level
from referee.service.setup.contest import open_contest
from referee.store.notices import alarm_notices, insert_notice
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play


@pytest.fixture
def event(tmp_path):
    """Return a contest in `event`, in which one session was played."""
    folder = tmp_path / "event"
    folder.mkdir()
    contest = make_contest(folder, FakeClock(), mode="event", seconds=20)
    play(contest)
    yield contest
    contest.database.close()


@pytest.fixture
def restored(event):
    """Return the same contest, whose folder is a copy of before one more fact."""
    folder = event.config.storage.folder
    event.database.connection.execute("pragma wal_checkpoint(truncate)")
    copy = shutil.copytree(folder, folder.with_name("backup"))
    with event.database.write() as connection:
        insert_notice(connection, 1, "then", "alarm", "after the backup")
    (folder.parent / "slip 1.txt").write_text(slip_of(event.database.connection, 1))
    write_bundle(event, 1, folder.parent / "session1.zip")
    event.database.close()
    shutil.copytree(copy, folder, dirs_exist_ok=True)
    for log in folder.glob("referee.db-*"):
        log.unlink()
    shutil.rmtree(copy)
    contest = open_contest(event.config)
    yield contest
    contest.database.close()


def found(contest):
    """Return the names of the files that know more than a contest's folder."""
    newer = newer_evidence(contest.config, contest.database.connection)
    return [(os.path.basename(one.file), one.session) for one in newer]


def test_a_folder_that_is_up_to_date_has_nothing_newer_beside_it(event):
    """Bundles and slips of now, or of an earlier state, are no sign of a backup."""
    place = event.config.path.parent
    write_bundle(event, 1, place / "session1.zip")
    (place / "slip.html").write_text(slip_page_of(event, 1))
    with event.database.write() as connection:
        insert_notice(connection, 1, "then", "alarm", "later")
    assert [] == found(event)


def test_a_bundle_of_later_facts_is_told(restored):
    """It has a link that the folder lacks; the slip is of facts that the backup has."""
    assert [("session1.zip", 1)] == found(restored)


@pytest.mark.parametrize("place", ["event", "event/bundles", "bundles"])
def test_it_is_looked_for_beside_the_folder(restored, tmp_path, place):
    """Bundles lie with the configuration, in a folder there, or in one beside the event's."""
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / "event/session1.zip").rename(tmp_path / place / "session1-0a1b2c3d.zip")
    assert [("session1-0a1b2c3d.zip", 1)] == found(restored)


def test_another_events_bundles_are_none_of_ours(restored, tmp_path):
    """A bundle that the event's key has not signed says nothing, nor does a broken file."""
    other = tmp_path / "other"
    other.mkdir()
    contest = make_contest(other, FakeClock(), mode="event", seconds=20)
    write_bundle(contest, play(contest, watts=6.0), tmp_path / "event/session1.zip")
    contest.database.close()
    (tmp_path / "event/session2.zip").write_bytes(b"no zip")
    os.mkfifo(tmp_path / "event/session3.zip")
    assert [] == found(restored)


def test_a_slip_of_a_session_that_is_gone_is_told(event, tmp_path):
    """The printed line, as text or on its page, names a chain that the folder has or lacks."""
    line = slip_of(event.database.connection, 1)
    page = slip_page_of(event, 1)
    slip, printed = tmp_path / "event/slip.txt", tmp_path / "event/my-slip.html"
    slip.write_text(f"before {line} behind")
    printed.write_text(page)
    assert [] == found(event)
    slip.write_text(line.replace("session 1", "session 2"))
    printed.write_text(page.replace("session 1 score", "session 7 score"))
    assert [("my-slip.html", 7), ("slip.txt", 2)] == found(event)


def test_the_desk_is_told_at_its_start(restored):
    """The list of checks of a running referee has the files that it found."""
    outside = outside_of(restored.config, restored, ["127.0.0.1:8000"])
    assert [1] == [one.session for one in outside.newer]


def test_the_start_tells_it_on_the_terminal_and_on_the_console(restored):
    """The line names the bundle and says what to do; the same is an alarm of the console."""
    told = []
    _tell_if_restored(restored.config, restored.database, told.append)
    assert 1 == len(told) and "session1.zip (session 1) has. Restore the newest copy" in told[0]
    newest = alarm_notices(restored.database.connection)[-1]
    assert told[0] == newest.text


def test_the_check_warns_and_says_what_to_do():
    """Nothing newer is no finding; anything is one WARN, which names three files at most."""
    assert [] == list(restored_findings(()))
    newer = [NewerEvidence(f"session{number}.zip", number) for number in range(1, 6)]
    (finding,) = restored_findings(newer)
    assert (Level.WARN, ("contest", "backup")) == (finding.level, finding.key)
    assert "session3.zip (session 3) and 2 more have." in finding.text
    assert finding.remedy.startswith("Restore the newest copy of the folder")
    assert restored_text(newer[:1]).endswith("facts that session1.zip (session 1) has.")
