# SPDX-License-Identifier: Apache-2.0
"""Taking an answer: it is judged by its last byte, stored, and only then acknowledged.

It is long because each instant before, at and after the deadline, and each fault of the disk, is a
case.
"""

from __future__ import annotations

import math
import threading

import pytest

from referee.core.detections import Detections, pack
from referee.core.flags import Flag
from referee.core.instant import shifted
from referee.core.states import LATE_S
from referee.errors import Refusal, Unavailable
from referee.service.entry import admission as admission_module
from referee.service.entry import answers as answers_module
from referee.service.entry.admission import LATE_ANSWERS, SessionCache
from referee.service.entry.answers import Answers
from referee.service.entry.status import status_of
from referee.store.answers import answers_after, count_answers
from referee.store.database import Database
from referee.store.journal import Journal
from referee.store.sessions import create_session, load_session, record_event
from tests.support.fakes import BOUND_S

GOOD = (1, 1, 0.5, 0.0, 0.0, 9.0, 9.0)


@pytest.fixture
def journal(contest):
    """Return the contest's journal."""
    journal = Journal(contest.database)
    yield journal
    journal.close()


def entry(contest, journal):
    """Return an entry for answers that writes to this journal."""
    return Answers(contest, SessionCache(contest.database), journal)


@pytest.fixture
def answers(contest, journal):
    """Return the contest's entry for answers."""
    return entry(contest, journal)


def begin(contest, *kinds):
    """Make a session with these events, each at the present instant, and return it."""
    with contest.database.write() as connection:
        now = contest.clock.now()
        session_id = create_session(
            connection, team="ants", length_s=600.0, order_seed=None, now=now
        )
        for kind in kinds:
            record_event(connection, session_id, kind, now, actor="x")
    return load_session(contest.database.connection, session_id)


@pytest.fixture
def session(contest):
    """Return a session that has just started."""
    return begin(contest, "armed", "started")


def take_empty(answers, session):
    """Take an empty answer."""
    return answers.take(
        session,
        Detections.empty(),
        received=session.facts.started,
        answer_format="form",
        address="",
    )


@pytest.fixture
def take(answers, session):
    """Return a function that takes an answer of these rows, this many seconds after the start."""

    def take(seconds, *rows, form="form"):
        return answers.take(
            session,
            Detections.from_rows(rows or (GOOD,)),
            received=shifted(session.facts.started, seconds),
            answer_format=form,
            address="10.0.0.2",
        )

    return take


def record(contest, session, kind, seconds, cause=None):
    """Record an event some seconds after the start."""
    with contest.database.write() as connection:
        at = shifted(session.facts.started, seconds)
        record_event(connection, session.session_id, kind, at, actor="x", cause=cause)


def stored(contest, session):
    """Return the session's answers as another connection sees them."""
    other = Database(contest.database.path)
    found = list(answers_after(other.connection, session.session_id))
    other.close()
    return found


def test_receipt(contest, session, take):
    """The receipt tells number, rows, second and remaining time."""
    contest.clock.advance(100)
    receipt = take(99.5, GOOD, GOOD)
    assert (1, 2, (), 99.5, 500.0, False) == (
        receipt.answer,
        receipt.stored,
        receipt.flagged,
        receipt.received_s,
        receipt.remaining_s,
        receipt.late,
    )
    assert 2 == take(100.0).answer


def test_acknowledged_is_durable(contest, session, take):
    """Another connection finds the answer bit for bit as soon as the receipt exists."""
    rows = [GOOD, (2, 2, math.nan, -1.0, math.inf, 5.5, -0.0)]
    take(1.0, *rows, form="json")
    (found,) = stored(contest, session)
    assert pack(Detections.from_rows(rows)) == found.content
    assert ("json", 1.0, "10.0.0.2", False) == (
        found.format,
        found.elapsed_s,
        found.address,
        found.late,
    )


@pytest.mark.parametrize(
    ("seconds", "late"),
    [(0.0, False), (599.999, False), (600.0, True), (600.001, True), (600.0 + LATE_S, True)],
)
def test_last_byte_decides(contest, session, take, seconds, late):
    """An answer before the deadline is in time; one at the deadline or later is marked late."""
    contest.clock.advance(seconds)
    receipt = take(seconds)
    assert late is receipt.late
    assert (receipt.remaining_s == 0.0) is late
    assert [late] == [answer.late for answer in stored(contest, session)]


def test_late_after_the_logout(contest, session, take):
    """An answer received at the logout or later is late, even long before the deadline."""
    record(contest, session, "ended", 100.0, "logout")
    assert [False, True, True] == [take(at).late for at in (99.999, 100.0, 100.001)]


def test_what_came_before_the_stop_counts_after_it(contest, session, take):
    """An answer that waited for the disk while the operator stopped the session is in time."""
    record(contest, session, "ended", 100.0, "stop")
    contest.clock.advance(130)
    receipt = take(99.0)
    assert (False, 99.0) == (receipt.late, receipt.received_s)


def test_long_after_the_end_nothing_is_stored(contest, session, take):
    """A minute after the deadline the session takes no more answers."""
    with pytest.raises(Refusal) as refused:
        take(600.0 + LATE_S + 0.001)
    assert "token_invalid" == refused.value.code
    assert [] == stored(contest, session)


def test_late_answers_are_bounded(contest, session, take, monkeypatch):
    """Late answers of an endless client are bounded, so they cannot fill the disk."""
    assert 1000 == LATE_ANSWERS
    monkeypatch.setattr(admission_module, "LATE_ANSWERS", 2)
    take(600.0)
    take(600.0)
    with pytest.raises(Refusal):
        take(600.0)
    take(599.0)
    assert 2 == count_answers(contest.database.connection, session.session_id).late_answers


def test_void_session_takes_nothing(contest, session, take):
    """A void session refuses answers."""
    record(contest, session, "voided", 10.0, "a reason")
    with pytest.raises(Refusal) as refused:
        take(11.0)
    assert "token_invalid" == refused.value.code
    assert [] == stored(contest, session)


@pytest.mark.parametrize("kinds", [(), ("armed",)])
def test_session_that_has_not_begun_takes_nothing(answers, contest, journal, kinds):
    """A session that has not begun refuses answers."""
    session = begin(contest, *kinds)
    with pytest.raises(Refusal) as refused:
        answers.take(
            session,
            Detections.empty(),
            received=contest.clock.now(),
            answer_format="csv",
            address="",
        )
    assert "token_invalid" == refused.value.code
    assert [] == stored(contest, session)


def test_answer_received_before_the_start_is_refused(contest, session, take):
    """An answer whose body was complete before the start is refused."""
    with pytest.raises(Refusal) as refused:
        take(-0.001)
    assert "token_invalid" == refused.value.code
    assert [] == stored(contest, session)


def test_flagged_rows_are_stored_and_told(contest, session, take):
    """Rows that can never match are stored as they came, named and counted."""
    receipt = take(1.0, GOOD, (5, 1, 0.5, 0, 0, 9, 9), (1, 9, 0.5, 0, 0, 9, 9))
    assert (Flag(1, "unknown image"), Flag(2, "class out of range")) == receipt.flagged
    assert 3 == receipt.stored
    assert [2] == [answer.flagged_count for answer in stored(contest, session)]


def test_empty_answer_is_an_answer(answers, contest, session, take, journal):
    """An answer without detections is stored and counted."""
    receipt = take_empty(answers, session)
    assert (1, 0, ()) == (receipt.answer, receipt.stored, receipt.flagged)


def test_session_that_is_full_takes_no_more(answers, contest, journal, session, take, monkeypatch):
    """Answers fit up to the last row; one that does not fit is refused whole, with the reason."""
    monkeypatch.setattr(answers_module, "MAX_DETECTIONS", 5)
    take(1.0, GOOD, GOOD, GOOD)
    with pytest.raises(Refusal, match="the session has 3 detections, and at most 5") as refused:
        take(2.0, GOOD, GOOD, GOOD)
    assert "too_many_rows" == refused.value.code
    assert 2 == take(3.0, GOOD, GOOD).stored
    assert 0 == take_empty(answers, session).stored
    with pytest.raises(Refusal, match="has 5 detections"):
        take(4.0, GOOD)
    # A full session is not counted again, so a flood of answers costs little.
    monkeypatch.setattr(answers_module, "count_stored_detections", None)
    with pytest.raises(Refusal, match="has 5 detections"):
        take(4.0, GOOD)
    assert [3, 2, 0] == [answer.row_count for answer in stored(contest, session)]


@pytest.mark.parametrize("count_after", [0, 2, 1000])
def test_what_another_process_stores_counts_too(contest, session, take, monkeypatch, count_after):
    """The limit also counts the rows of another process, however seldom this process counts."""
    monkeypatch.setattr(answers_module, "MAX_DETECTIONS", 5)
    monkeypatch.setattr(answers_module, "_COUNT_AFTER", count_after)
    take(1.0, GOOD)
    journal = Journal(contest.database)
    other = entry(contest, journal)
    three = Detections.from_rows([GOOD] * 3)
    received = session.facts.started
    other.take(session, three, received=received, answer_format="csv", address="")
    journal.close()
    take(2.0, GOOD)
    with pytest.raises(Refusal, match="too_many_rows|at most 5"):
        for _ in range(5):
            take(3.0, GOOD)


def test_same_answer_twice_is_two_facts(contest, session, take):
    """A resent answer is stored again, and left to the scorer."""
    assert [1, 2] == [take(1.0).answer, take(1.0).answer]


def test_facts_are_read_where_the_answer_is_stored(contest, journal, session, take):
    """A stop that is recorded while the answer waits makes the answer late."""
    entered, go_on = threading.Event(), threading.Event()

    def hold(connection):
        entered.set()
        assert go_on.wait(BOUND_S)
        at = shifted(session.facts.started, 50.0)
        record_event(connection, session.session_id, "ended", at, actor="x", cause="stop")

    journal.submit(hold)
    assert entered.wait(BOUND_S)
    receipts = []
    thread = threading.Thread(target=lambda: receipts.append(take(60.0)))
    thread.start()
    go_on.set()
    thread.join(BOUND_S)
    assert [True] == [receipt.late for receipt in receipts]


def test_answer_on_a_full_disk_is_not_acknowledged(contest, journal, session, take):
    """An answer on a full disk gets an error and leaves nothing; with room, storing works again."""

    def limit(pages):
        journal.submit(lambda link: link.execute(f"pragma max_page_count = {pages}")).result(
            BOUND_S
        )

    used = contest.database.connection.execute("pragma page_count").fetchone()[0]
    limit(used + 2)
    with pytest.raises(Unavailable, match="full"):
        take(1.0, *[GOOD] * 2000)
    assert [] == stored(contest, session)
    limit(1_000_000)
    assert 2000 == take(2.0, *[GOOD] * 2000).stored


@pytest.fixture
def stalled(journal):
    """Hold the journal inside a commit until the returned event is set."""
    entered, go_on = threading.Event(), threading.Event()

    def stall(connection):
        entered.set()
        go_on.wait(BOUND_S)

    journal.submit(stall)
    assert entered.wait(BOUND_S)
    yield go_on
    go_on.set()


def test_stalled_disk_is_told(contest, session, take, stalled, monkeypatch):
    """An answer whose turn does not come in time is cancelled, and is never stored."""
    with monkeypatch.context() as patched:
        patched.setattr(answers_module, "COMMIT_S", 0.01)
        with pytest.raises(Unavailable, match="is not stored, send it again"):
            take(1.0)
    stalled.set()
    assert 1 == take(2.0).answer
    assert [2.0] == [answer.elapsed_s for answer in stored(contest, session)]


def test_commit_that_does_not_end_is_told(answers, contest, journal, session, monkeypatch):
    """A commit under way cannot be cancelled: the contestant is told to ask for the status."""
    entered, go_on = threading.Event(), threading.Event()

    def insert(connection, answer):
        entered.set()
        go_on.wait(BOUND_S)
        return 1

    monkeypatch.setattr(answers_module, "insert_answer", insert)
    # The wait must begin after the commit.
    monkeypatch.setattr(journal, "submit", submit_and(entered, journal.submit))
    with monkeypatch.context() as patched:
        patched.setattr(answers_module, "COMMIT_S", 0.0)
        patched.setattr(answers_module, "KNOWN_S", 0.0)
        with pytest.raises(Unavailable, match="GET /status will tell"):
            take_empty(answers, session)
    go_on.set()


def submit_and(entered, submit):
    """Return a submit that waits until the journal has begun the write."""

    def submit_and_wait(write, *, size_bytes=0):
        future = submit(write, size_bytes=size_bytes)
        assert entered.wait(BOUND_S)
        return future

    return submit_and_wait


# Status


def test_status_before_and_while_running(contest, session, take):
    """The team sees state, time and counts; late answers count apart."""
    take(1.0, GOOD, GOOD, (9, 1, 0.5, 0, 0, 9, 9))
    take(600.0)
    contest.clock.advance(250)
    status = status_of(contest, load_session(contest.database.connection, session.session_id))
    assert ("RUNNING", 350.0, 4, 0, 1, 3, 1, 1) == (
        status.state.value,
        status.remaining_s,
        status.images,
        status.images_fetched,
        status.answers,
        status.detections,
        status.late_answers,
        status.flagged,
    )
    contest.clock.advance(350)
    status = status_of(contest, session)
    assert ("ENDED", 0.0) == (status.state.value, status.remaining_s)
