# SPDX-License-Identifier: Apache-2.0
"""No thread of the desk dies silently: each death is an alarm, and its work continues."""

from __future__ import annotations

import tempfile

import pytest

from referee.core.states import EndCause
from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.desk import watched_thread as watched_module
from referee.service.desk.link import DeskClient, DeskServer, socket_path
from referee.service.desk.metering import LinkState
from referee.web.desk.broadcast import Broadcast
from tests.service.desk.test_control_desk import facts_of, running, settled, texts
from tests.support.fakes import eventually
from tests.support.shown import as_json

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def short_pause(monkeypatch):
    """Restart a dead thread's work at once."""
    monkeypatch.setattr(watched_module, "_PAUSE_FIRST_S", 0.001)


def dies_once(monkeypatch, owner, name):
    """Make a method of an object end its thread at the first call."""
    real, calls = getattr(owner, name), []

    def die(*args, **kwargs):
        calls.append(name)
        if len(calls) == 1:
            raise SystemExit("a mistake")
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, die)


def died(contest, name):
    """Wait for the alarm of a thread's death."""
    eventually(lambda: any(f"'{name}' died" in text for text in texts(contest)))


def test_the_clock_that_died_still_keeps_the_deadline(desk, contest, clock, monkeypatch):
    """The clock's death is an alarm on the board, and the session still ends at its deadline."""
    session_id = running(desk)
    dies_once(monkeypatch, desk._clock, "_look_after")
    died(contest, "session-clock")
    assert (
        "'session-clock' died"
        in as_json(Board(contest, [ShownLane(lambda: desk.lanes[0].metering.status)]).show())[
            "alarm"
        ]["text"]
    )
    clock.advance(600)
    eventually(lambda: facts_of(contest, session_id).ended)


def test_the_meters_thread_that_died_reads_on(desk, contest, meter, clock):
    """After its thread's death the meter is read on: the integration and the energy are whole."""
    session_id = running(desk)
    meter.crash = SystemExit("a mistake")
    died(contest, "meter")
    meter.crash = None
    last = desk.lanes[0].metering.status.reading
    eventually(lambda: desk.lanes[0].metering.status.reading is not last)
    assert LinkState.OK is desk.lanes[0].metering.status.link
    assert (1, 0) == (meter.calls.count("start"), meter.calls.count("stop"))
    clock.advance(600)
    assert 600.0 == settled(contest, session_id).detail["integration_s"]


def test_settling_that_died_settles_all_the_same(desk, contest, monkeypatch):
    """A session that ends after the settling thread's death has its energy judged."""
    dies_once(monkeypatch, desk.lanes[0].settling, "unsettled")
    died(contest, "settling")
    session_id = running(desk)
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    assert settled(contest, session_id).energy_id


def test_the_desks_socket_is_served_again(desk, contest, tmp_path, monkeypatch):
    """The contest server reaches the desk after the death of the socket's thread."""
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr(tempfile, "gettempdir", lambda: short)
        path = socket_path(tmp_path)
        tell, leave = desk.logbook.alarm, contest.database.release
        server = DeskServer(path, lambda request: {"alive": True}, tell, leave)
        try:
            dies_once(monkeypatch, server._server, "service_actions")
            died(contest, "desk-link")
            assert {"alive": True} == DeskClient(path).ask("hello")
        finally:
            server.close()


def test_the_board_is_published_again(desk, contest):
    """Pages get boards after the death of the thread that computes them."""
    calls = []

    def compute():
        calls.append(1)
        if len(calls) == 1:
            raise SystemExit("a mistake")
        return {"number": len(calls)}

    broadcast = Broadcast(compute, 2, desk.logbook.alarm)
    broadcast.start()
    try:
        assert b"number" in next(broadcast.stream()).plain
        died(contest, "board")
    finally:
        broadcast.close()
