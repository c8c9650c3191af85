# SPDX-License-Identifier: Apache-2.0
"""A camera event at the desk: no session without a display, and a record of every image."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.core.states import EndCause, SessionState
from referee.errors import Refusal
from referee.service.setup.clock import SystemClock
from referee.store.notices import notices_of
from referee.store.shows import shows_of
from tests.support.contests import make_contest
from tests.support.display_page import PATIENT, in_a_hurry, opened
from tests.support.fakes import eventually, running_desk

pytestmark = pytest.mark.slow


@pytest.fixture
def contest(tmp_path):
    """Return a camera event."""
    contest = make_contest(tmp_path, SystemClock(), mode="event", seconds=600, track="camera")
    config = replace(contest.config, camera=PATIENT)
    yield replace(contest, config=config)
    contest.database.close()


@pytest.fixture
def desk(contest):
    """Return its desk, without a meter."""
    with running_desk(contest, None) as desk:
        yield desk
        desk.lanes[0].display.close()


def begun(desk):
    """Make, arm and begin a session, and return its number."""
    session_id = desk.new_session("ants", "Kim")
    desk.steps_of(session_id).arm(session_id, "Kim")
    return desk.begin("ants", "10.0.0.2")


def code_of(call, *arguments):
    """Return the code of the refusal that a call raises."""
    with pytest.raises(Refusal) as refused:
        call(*arguments)
    return refused.value.code


def test_a_session_is_not_armed_without_a_display(desk):
    """Arming needs a page that paints, and changes nothing without one."""
    session_id = desk.new_session("ants", "Kim")
    with in_a_hurry(desk.lanes[0].display):
        assert "display_failed" == code_of(desk.steps_of(session_id).arm, session_id, "Kim")
    assert SessionState.READY is desk.state(session_id)
    page = opened(desk.lanes[0].display, paints=False)
    with in_a_hurry(desk.lanes[0].display):
        assert "display_failed" == code_of(desk.steps_of(session_id).arm, session_id, "Kim")
    page.paints = True
    desk.steps_of(session_id).arm(session_id, "Kim")
    assert SessionState.ARMED is desk.state(session_id)


def test_a_login_waits_for_the_display(desk):
    """The clock does not start while the team could see nothing."""
    page = opened(desk.lanes[0].display)
    session_id = desk.new_session("ants", "Kim")
    desk.steps_of(session_id).arm(session_id, "Kim")
    desk.lanes[0].display.leave(page.me)
    with in_a_hurry(desk.lanes[0].display):
        assert "display_failed" == code_of(desk.begin, "ants", "10.0.0.2")
    assert SessionState.ARMED is desk.state(session_id)
    opened(desk.lanes[0].display)
    assert session_id == desk.begin("ants", "10.0.0.2")


def test_every_image_is_on_record(desk, contest):
    """A painted image has all its times, and one that failed has the reason."""
    page = opened(desk.lanes[0].display)
    session_id = begun(desk)
    painted_s = desk.show(session_id, 2, contest.clock.now())
    desk.lanes[0].display.leave(page.me)
    with in_a_hurry(desk.lanes[0].display):
        code = code_of(desk.show, session_id, 3, contest.clock.now())
    assert "display_failed" == code
    eventually(lambda: len(shows_of(contest.database.connection, session_id)) == 2)
    good, bad = shows_of(contest.database.connection, session_id)
    assert (2, "painted", "640x480", painted_s) == (
        good.image,
        good.outcome,
        good.screen,
        good.painted_s,
    )
    assert good.requested_s <= good.announced_s <= good.decoded_s <= good.painted_s
    assert (3, None, None) == (bad.image, bad.frame, bad.painted_s)
    assert bad.outcome.startswith("No display page is open")
    levels = [notice.level for notice in notices_of(contest.database.connection, session_id)]
    assert "alarm" in levels


@pytest.mark.parametrize("fault", ["gone", "another"])
def test_an_image_that_is_gone_is_its_own_fault(desk, contest, fault):
    """A missing or exchanged file is told to the operator, and the next image is shown."""
    opened(desk.lanes[0].display)
    session_id = begun(desk)
    path = contest.config.images.folder / "2.jpg"
    content = path.read_bytes()
    path.unlink()
    if fault == "another":
        path.write_bytes(content[::-1])
    assert "image_missing" == code_of(desk.show, session_id, 2, contest.clock.now())
    assert desk.show(session_id, 1, contest.clock.now()) > 0


def test_a_restarted_desk_shows_the_images_of_the_session_that_runs(contest):
    """A desk that takes a running session over shows its images, and no test card."""
    with running_desk(contest, None) as killed:
        opened(killed.lanes[0].display)
        session_id = begun(killed)
        killed.lanes[0].display.close()
    with running_desk(contest, None) as desk:
        opened(desk.lanes[0].display)
        assert desk.show(session_id, 1, contest.clock.now()) > 0
        assert "session_live" == code_of(desk.lanes[0].display.show_card, True)
        desk.lanes[0].display.close()


@pytest.mark.parametrize("cause", [EndCause.STOP, EndCause.DEADLINE])
def test_the_end_of_a_session_clears_its_frame(desk, contest, cause):
    """After the end nothing of the session is on the screen, and it gets no image."""
    opened(desk.lanes[0].display)
    session_id = begun(desk)
    desk.show(session_id, 1, contest.clock.now())
    desk.steps_of(session_id).end(session_id, cause, "Kim")
    assert "frame_old" == code_of(desk.lanes[0].display.pixels, session_id, 2, 640, 480)
    assert "token_invalid" == code_of(desk.show, session_id, 1, contest.clock.now())


def test_a_new_desk_expects_the_running_session(contest):
    """A desk that was started again shows the images of the session that runs."""
    with running_desk(contest, None) as first:
        opened(first.lanes[0].display)
        session_id = begun(first)
        first.lanes[0].display.close()
    with running_desk(contest, None) as second:
        opened(second.lanes[0].display)
        assert second.show(session_id, 1, contest.clock.now()) > 0
        second.lanes[0].display.close()
