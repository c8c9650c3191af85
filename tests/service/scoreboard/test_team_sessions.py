# SPDX-License-Identifier: Apache-2.0
"""A team's session is shown when its result is public, and its mistakes when all is final."""

from __future__ import annotations

import pytest

from referee.core.states import EndCause
from referee.errors import Refusal
from referee.service.event.finalizing import finalize, reopen
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.store.requests import Request, insert_requests


@pytest.fixture
def sessions(event):
    """Return what makes the pictures, as a fresh process does."""
    return TeamSessions(event.contest)


def view(event):
    """Return what the public sees now."""
    return event.publisher.refresh().publication.view


def test_a_session_with_a_result_has_its_charts(event, sessions):
    """Power, requests and the curve of each class with ground truth; equal bytes each time."""
    event.register("ants")
    number = event.play("ants", found=6)
    course, curves = sessions.course(view(event), number), sessions.curves(view(event), number)
    assert b"requests / s" in course and b"cat 0.75" in curves
    again = TeamSessions(event.contest)
    assert course == again.course(view(event), number)
    assert curves == again.curves(view(event), number)


def test_a_session_without_a_result_is_hidden(event, sessions):
    """A running session, a void one and an unknown one are refused alike."""
    event.register("ants", "bees")
    running = event.begin("ants")
    event.contest.clock.advance(60)
    for number in (running, 99):
        with pytest.raises(Refusal, match="no public result"):
            sessions.course(view(event), number)
    event.desk.end(running, EndCause.STOP, "Kim")
    event.settle(running)
    assert sessions.course(view(event), running)
    event.desk.void(running, "Kim", "wrong images")
    with pytest.raises(Refusal, match="no public result"):
        sessions.course(view(event), running)


def test_late_requests_change_no_chart(event):
    """A team that goes on asking after its end changes nothing that the public has seen."""
    event.register("ants")
    number = event.play("ants")
    before = TeamSessions(event.contest).course(view(event), number)
    late = Request(number, 61.0, "", "GET", "/status", 401, None, 0, 0, 9, 0.1, "::1")
    with event.contest.database.write() as connection:
        insert_requests(connection, [late])
    assert before == TeamSessions(event.contest).course(view(event), number)


def test_a_freeze_hides_new_sessions_and_keeps_old_ones(event, sessions):
    """During a freeze the charts are those of before it."""
    event.register("ants", "bees")
    first = event.play("ants")
    freeze(event.contest, "Kim")
    before = sessions.curves(view(event), first)
    hidden = event.play("bees")
    event.desk.void(first, "Kim", "wrong images")
    assert before == TeamSessions(event.contest).curves(view(event), first)
    with pytest.raises(Refusal, match="no public result"):
        sessions.course(view(event), hidden)
    thaw(event.contest, "Kim")
    assert sessions.course(view(event), hidden)


def test_mistakes_are_shown_only_after_the_results_are_final(event, sessions):
    """Before that, in a freeze and after a reopening, no address has a picture."""
    event.register("ants")
    number = event.play("ants", found=6)

    def hidden():
        for ask in (
            lambda: sessions.captions(view(event), number),
            lambda: sessions.picture(view(event), number, 0),
        ):
            with pytest.raises(Refusal, match="after the results are final"):
                ask()

    hidden()
    freeze(event.contest, "Kim")
    finalize(event.contest, ["Ada"])
    hidden()
    thaw(event.contest, "Kim")
    captions = sessions.captions(view(event), number)
    assert 2 == len(captions)
    assert {"image 7: cat: missed", "image 8: cat: missed"} == set(captions)
    assert sessions.picture(view(event), number, 1).startswith(b"\x89PNG")
    with pytest.raises(Refusal, match="no picture 2"):
        sessions.picture(view(event), number, 2)
    reopen(event.contest, "Ada", "a mistake")
    hidden()


def test_a_session_without_an_answer_has_empty_curves(event, sessions):
    """Nothing posted gives curves of area 0, and no failure."""
    event.register("ants")
    number = event.play("ants", found=0)
    assert b"cat 0.00" in sessions.curves(view(event), number)
