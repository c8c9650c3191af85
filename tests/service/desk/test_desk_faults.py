# SPDX-License-Identifier: Apache-2.0
"""The control desk under faults: restarts, a failing disk, a meter that was away."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from power.meter import IntegrationState
from referee.core.states import EndCause, SessionState
from referee.errors import Refusal, Unavailable
from referee.service.desk import lane as lane_module
from referee.service.desk import settling as settling_module
from referee.service.desk.metering import LinkState
from referee.service.desk.requests import serve_request
from referee.store.readings import energy_of, insert_reading
from referee.store.sessions import all_sessions
from tests.service.desk.test_control_desk import (
    armed,
    facts_of,
    running,
    settled,
    state_in,
    texts,
)
from tests.support.contests import no_room
from tests.support.fakes import eventually, running_desk

pytestmark = pytest.mark.slow


def fail_once(monkeypatch, module, name, error):
    """Make a module's function raise at its first call and work at all others."""
    real = getattr(module, name)
    calls = []

    def first_fails(*args, **kwargs):
        calls.append(name)
        if len(calls) == 1:
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, first_fails)
    return calls


def test_settling_that_failed_is_tried_again(contest, desk, monkeypatch):
    """Settling that the disk refuses is reported, and succeeds at the next try."""
    calls = fail_once(monkeypatch, settling_module, "insert_energy", Unavailable("no room"))
    session_id = running(desk)
    desk.steps_of(session_id).end(session_id, EndCause.LOGOUT, "ants")
    assert settled(contest, session_id).energy_wh is not None
    assert len(calls) == 2
    eventually(lambda: any("no room" in text for text in texts(contest)))


def test_nothing_is_armed_while_an_energy_is_not_stored(contest, desk, monkeypatch):
    """The meter is not reset while the session before has no energy yet."""
    session_id = running(desk)
    later = desk.new_session("bees", "Kim")

    def refuse(*args, **kwargs):
        raise Unavailable("no room")

    with monkeypatch.context() as patched:
        patched.setattr(settling_module, "insert_energy", refuse)
        patched.setattr(settling_module, "_FINISH_S", 0.05)
        desk.steps_of(session_id).end(session_id, EndCause.LOGOUT, "ants")
        with pytest.raises(Unavailable, match="not fetched yet"):
            desk.steps_of(later).arm(later, "Kim")
    settled(contest, session_id)
    desk.steps_of(later).arm(later, "Kim")


def test_restarted_desk_leaves_the_meter_to_the_session_that_runs(contest, meter, monkeypatch):
    """A restarted desk judges an earlier session without touching the running integration."""

    def refuse(*args, **kwargs):
        raise Unavailable("no room")

    with running_desk(contest, meter) as desk, monkeypatch.context() as patched:
        patched.setattr(settling_module, "insert_energy", refuse)
        patched.setattr(settling_module, "_FINISH_S", 0.0)
        patched.setattr(settling_module.Settling, "finish", lambda self: None)
        first = running(desk)
        desk.steps_of(first).end(first, EndCause.LOGOUT, "ants")
        eventually(lambda: "stop" in meter.calls)
        eventually(lambda: any("no room" in text for text in texts(contest)))
        second = running(desk, "bees")
    meter.calls.clear()
    with running_desk(contest, meter) as desk:
        energy = settled(contest, first)
        assert "meter_used_again" in [f["code"] for f in energy.detail["findings"]]
        assert state_in(contest, second) is SessionState.RUNNING
        assert not {"stop", "prepare", "start"} & set(meter.calls)


def test_stop_on_an_ended_session_leaves_the_running_one_alone(contest, clock, desk):
    """A late press on Stop for an ended session leaves the running session alone."""
    first = running(desk)
    desk.steps_of(first).end(first, EndCause.LOGOUT, "ants")
    settled(contest, first)
    second = running(desk, "bees")
    desk.steps_of(first).end(first, EndCause.STOP, "Kim")
    assert state_in(contest, second) is SessionState.RUNNING
    clock.advance(600)
    eventually(lambda: facts_of(contest, second).ended is not None)
    assert facts_of(contest, second).end_cause is EndCause.DEADLINE


def test_meter_that_was_away_after_arming_is_prepared_again(contest, meter, desk):
    """A meter that was switched off after arming is prepared again before it is started."""
    armed(desk)
    meter.calls.clear()
    meter.lost = True
    eventually(lambda: desk.lanes[0].metering.status.link is LinkState.LOST)
    meter.lost = False
    eventually(lambda: desk.lanes[0].metering.status.link is LinkState.OK)
    desk.begin("ants", "10.0.0.2")
    assert [call for call in meter.calls if call in ("prepare", "start")] == ["prepare", "start"]


def test_desk_that_is_stopped_after_an_end_leaves_the_judgement_to_the_next(contest, meter):
    """A final energy that could not be read twice is left unjudged, and the next desk reads it."""
    slow = replace(meter.settings, update_interval_s=5.0)
    with running_desk(contest, meter) as desk:
        desk.lanes[0].metering.settings = replace(slow, voltage_range_v=15.0, current_range_a=5.0)
        session_id = running(desk)
        desk.steps_of(session_id).end(session_id, EndCause.LOGOUT, "ants")
        eventually(lambda: "stop" in meter.calls)
    assert energy_of(contest.database.connection, session_id) is None
    with running_desk(contest, meter):
        assert settled(contest, session_id).energy_wh is not None


def test_clock_outlives_a_disk_that_cannot_be_read(contest, clock, desk, monkeypatch):
    """The operators hear of a failed read of the disk, and the deadline is kept."""
    session_id = running(desk)
    error = sqlite3.OperationalError("disk I/O error")
    calls = fail_once(monkeypatch, lane_module, "live_session", error)
    eventually(lambda: len(calls) >= 2)
    clock.advance(600)
    eventually(lambda: facts_of(contest, session_id).ended is not None)
    assert any("disk I/O error" in text for text in texts(contest))


def test_slow_preparation_gives_up_before_the_start(contest, clock, meter, desk):
    """A login whose caller has given up starts no integration."""
    armed(desk)
    desk.lanes[0].metering.prepared = None
    real = meter.prepare

    def slow(settings, leave):
        clock.advance(lane_module._LOGIN_S + 1)
        return real(settings, leave)

    meter.prepare = slow
    with pytest.raises(Unavailable, match="too long"):
        desk.begin("ants", "10.0.0.2")
    assert "start" not in meter.calls


def test_readings_of_two_boots_make_one_session(contest, clock, meter):
    """After a reboot the energy is judged by seconds of the session, and is never VALID."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
        started = facts_of(contest, session_id).started
        clock.advance(10)
        eventually(lambda: desk.lanes[0].metering.status.reading is not None)
    rebooted = replace(meter.read(), monotonic_s=3.0)
    with contest.database.write() as connection:
        insert_reading(connection, session_id, 10.5, rebooted, "the boot after")
    clock.advance(590)
    with running_desk(contest, meter):
        energy = settled(contest, session_id)
    assert energy.verdict in ("SUSPECT", "INVALID")
    assert "rebooted" in [finding["code"] for finding in energy.detail["findings"]]
    assert any("started anew" in reason for reason in energy.detail["reasons"])
    assert not any("moved" in reason for reason in energy.detail["reasons"])
    assert started is not None


@pytest.mark.parametrize("what", ["disk", "image"])
def test_arming_is_refused_with_what_is_to_be_done(contest, desk, monkeypatch, what):
    """A full disk or a changed image keeps a session from being armed, and the refusal says so."""
    session_id = desk.new_session("ants", "Kim")
    if what == "disk":
        no_room(monkeypatch)
    else:
        with open(contest.images[0].path, "ab") as file:
            file.write(b"more")
    with pytest.raises(Refusal, match="make room|Put them back") as caught:
        desk.steps_of(session_id).arm(session_id, "Kim")
    assert caught.value.code == "not_ready"
    assert state_in(contest, session_id) is SessionState.READY


def test_practice_logins_that_cannot_be_armed_leave_no_session(practice, meter):
    """While the meter is away, failed logins make no session, however many there are."""
    with running_desk(practice, meter) as desk:
        meter.lost = True
        eventually(lambda: desk.lanes[0].metering.status.link is LinkState.LOST)
        for _ in range(5):
            with pytest.raises(Unavailable):
                desk.begin("me", "10.0.0.2")
        assert [] == all_sessions(practice.database.connection)
        meter.lost = False
        eventually(lambda: desk.lanes[0].metering.status.link is LinkState.OK)
        assert 1 == desk.begin("me", "10.0.0.2")


def test_logout_without_a_meter_waits_for_nothing(practice, clock, monkeypatch):
    """Without a meter a logout is answered at once."""
    with running_desk(practice, None) as desk:
        session_id = desk.begin("me", "10.0.0.2")
        waited = []
        real = desk.lanes[0].settling._progress.wait_for
        monkeypatch.setattr(
            desk.lanes[0].settling._progress,
            "wait_for",
            lambda predicate, timeout=None: waited.append(real(predicate, timeout)) or waited[-1],
        )
        serve_request(desk, {"action": "logout", "session": session_id})
        assert waited == [True]


def test_a_start_that_cannot_be_recorded_leaves_no_integration(contest, meter, desk, monkeypatch):
    """A login on a full disk begins nothing, and the next login works."""
    session_id = armed(desk)
    fail_once(monkeypatch, lane_module, "insert_session_meter", Unavailable("disk is full"))
    with pytest.raises(Unavailable, match="disk is full"):
        desk.begin("ants", "10.0.0.2")
    assert SessionState.ARMED is state_in(contest, session_id)
    assert IntegrationState.STOP is meter.state()
    assert session_id == desk.begin("ants", "10.0.0.2")
    assert IntegrationState.START is meter.state()


def lost_start(contest, meter, monkeypatch):
    """Arm a session whose desk dies between the meter's START and its record; return its number."""

    def die(*args, **kwargs):
        raise SystemExit

    with running_desk(contest, meter) as desk, monkeypatch.context() as patched:
        session_id = armed(desk)
        patched.setattr(lane_module, "record_event", die)
        with pytest.raises(SystemExit):
            desk.begin("ants", "10.0.0.2")
    assert SessionState.ARMED is state_in(contest, session_id)
    assert IntegrationState.START is meter.state()
    return session_id


def test_a_login_whose_desk_was_killed_after_start_works_the_second_time(
    contest, clock, meter, monkeypatch
):
    """The next login stops the integration of no session, says so, and starts a fresh one."""
    session_id = lost_start(contest, meter, monkeypatch)
    clock.advance(30)
    with running_desk(contest, meter) as desk:
        assert session_id == desk.begin("ants", "10.0.0.2")
        assert IntegrationState.START is meter.state()
        assert 0.0 == meter.integration_s
        eventually(lambda: any("integrated already" in text for text in texts(contest)))


def test_voiding_a_session_stops_what_its_killed_login_started(contest, meter, monkeypatch):
    """After the void the next team can be armed at once."""
    session_id = lost_start(contest, meter, monkeypatch)
    with running_desk(contest, meter) as desk:
        desk.steps_of(session_id).void(session_id, "Kim", "the team left")
        assert IntegrationState.STOP is meter.state()
        armed(desk, "bees")


def test_voiding_works_while_the_meter_is_lost(contest, meter, monkeypatch):
    """A lost meter keeps nobody from voiding a session whose login was killed."""
    session_id = lost_start(contest, meter, monkeypatch)
    meter.lost = True
    with running_desk(contest, meter) as desk:
        desk.steps_of(session_id).void(session_id, "Kim", "the team left")
    assert SessionState.VOID is state_in(contest, session_id)
