# SPDX-License-Identifier: Apache-2.0
"""The terminal of a running contest tells what happens to its sessions, once each."""

from __future__ import annotations

import pytest

from referee.core.detections import Detections, pack
from referee.core.states import LATE_S
from referee.programs.following import SessionTeller, tell_password
from referee.store.answers import Answer, insert_answer
from referee.store.notices import Subject, insert_notice
from referee.store.sessions import create_session, record_event
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock

SECONDS = 60.0


def begin(contest):
    """Make a session that runs from now on."""
    now = contest.clock.now()
    with contest.database.write() as connection:
        session_id = create_session(
            connection, team="me", length_s=SECONDS, order_seed=None, now=now
        )
        for kind in ("armed", "started"):
            record_event(connection, session_id, kind, now, actor="me")
    return session_id


def answer_late(contest, session_id, count):
    """Store answers that came after the deadline."""
    rows = pack(Detections.empty())
    with contest.database.write() as connection:
        for _ in range(count):
            insert_answer(connection, Answer(session_id, 61.0, "", True, "csv", "", 0, 0, rows))


@pytest.fixture
def practice(tmp_path):
    """Return a rehearsal on a fake clock."""
    contest = make_contest(tmp_path, FakeClock(), mode="practice")
    yield contest
    contest.database.close()


@pytest.fixture
def teller(practice):
    """Return what tells of a rehearsal without sessions."""
    return SessionTeller(practice.database, practice.track, lambda session_id: "", practice.clock)


def test_late_answers_are_told_once_at_the_end_of_their_grace(practice, teller, capsys):
    """Nothing is told while more may come; then all late answers are told, and never again."""
    session_id = begin(practice)
    answer_late(practice, session_id, 16)
    practice.clock.advance(SECONDS + LATE_S - 1)
    teller.look()
    assert "" == capsys.readouterr().out
    practice.clock.advance(2)
    teller.look()
    told = capsys.readouterr().out
    assert told.startswith(
        f"session {session_id}: WARNING 16 answers came after the session's end and do not count."
    )
    teller.look()
    assert "" == capsys.readouterr().out


def test_a_session_without_late_answers_is_not_told_of(practice, teller, capsys):
    """The end of a grace in which nothing came is no news."""
    begin(practice)
    practice.clock.advance(SECONDS + LATE_S + 1)
    teller.look()
    assert "" == capsys.readouterr().out


def test_what_was_there_before_is_not_told(practice, capsys):
    """A referee that starts again tells neither old notices nor old late answers."""
    session_id = begin(practice)
    answer_late(practice, session_id, 1)
    with practice.database.write() as connection:
        insert_notice(connection, session_id, "", "info", "old")
    teller = SessionTeller(practice.database, practice.track, lambda _: "", practice.clock)
    practice.clock.advance(SECONDS + LATE_S + 1)
    with practice.database.write() as connection:
        insert_notice(connection, session_id, "", "info", "new")
    teller.look()
    assert f"session {session_id}: new\n" == capsys.readouterr().out


def test_a_notice_of_a_lane_names_it(practice, capsys):
    """The lane stands before the text, which does not name it."""
    teller = SessionTeller(practice.database, practice.track, lambda _: "", practice.clock)
    with practice.database.write() as connection:
        insert_notice(connection, None, "", "alarm", "It is lost.", Subject(lane="left"))
        insert_notice(connection, None, "", "info", "Hello.")
    teller.look()
    assert "Lane left: It is lost.\nHello.\n" == capsys.readouterr().out


def test_the_password_of_a_rehearsal_is_told(capsys):
    """The line for people names the password, which the old refusal cannot."""
    tell_password()
    assert "Log in with any user name and the password 'practice'.\n" == capsys.readouterr().err
