# SPDX-License-Identifier: Apache-2.0
"""A wait of a test ends with a sentence when what it waits for cannot come."""

from __future__ import annotations

import threading

import pytest

from referee.core.states import EndCause
from referee.service.desk import metering, session_steps, settling
from referee.service.desk.watched_thread import WatchedThread
from referee.store.readings import energy_of
from tests.support.contests import make_contest
from tests.support.fakes import BOUND_S, FakeClock, FakeMeter, eventually, running_desk
from tests.support.troubles import TROUBLES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name", "sentence"),
    [
        (settling, "judge_session", "an ended session could not be settled"),
        (session_steps, "remaining_s", "the clock could not look after lane 1"),
        (metering, "attach", "the meter's driver failed"),
    ],
)
def test_mistake_in_a_thread_of_the_desk_ends_the_wait(
    tmp_path, monkeypatch, module, name, sentence
):
    """A wait ends at once, with the mistake and its place, when a thread's code is wrong."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=600)
    monkeypatch.setattr(module, name, None)
    with pytest.raises(AssertionError, match=sentence) as failed:
        with running_desk(contest, FakeMeter(contest.clock)) as desk:
            number = desk.new_session("ants", "Kim")
            desk.steps_of(number).arm(number, "Kim")
            session_id = desk.begin("ants", "10.0.0.2")
            if module is not session_steps:  # It looks after running sessions alone.
                desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
            eventually(lambda: energy_of(contest.database.connection, session_id))
    contest.database.close()
    place = module.__name__.rpartition(".")[2]
    assert f"TypeError(\"'NoneType' object is not callable\") ({place}.py:" in str(failed.value)


def test_error_that_a_test_raised_ends_no_wait():
    """A death that the test itself brought about is waited out."""
    stopping, told = threading.Event(), threading.Event()

    def work():
        if not told.is_set():
            raise ZeroDivisionError("a mistake")
        stopping.wait(BOUND_S)

    thread = WatchedThread("settling", work, stopping, lambda text: told.set())
    thread.start()
    eventually(told.is_set)
    TROUBLES.require_none()
    stopping.set()
    thread.join(BOUND_S)


def test_wait_in_vain_names_its_condition_and_the_threads():
    """The sentence has the condition with its place, and where each thread stands."""
    stopping = threading.Event()
    thread = WatchedThread("settling", lambda: stopping.wait(BOUND_S), stopping, print)
    thread.start()
    with pytest.raises(AssertionError) as failed:
        eventually(lambda: 1 == 2, 0.01)
    stopping.set()
    thread.join(BOUND_S)
    assert "eventually(lambda: 1 == 2" in str(failed.value)
    assert "settling: test_troubles.py:" in str(failed.value)
