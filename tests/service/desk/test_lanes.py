# SPDX-License-Identifier: Apache-2.0
"""Two lanes of one desk run two sessions at once, and do not disturb each other."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from power.meter import IntegrationState
from referee.core.instant import shifted
from referee.core.states import EndCause, SessionState
from referee.errors import Refusal, Unavailable
from referee.service.board.board import board_of
from referee.service.desk.metering import LinkState
from referee.store.notices import Subject, insert_notice
from referee.store.readings import readings_of, session_meter_of
from tests.service.desk.test_control_desk import facts_of, settled, state_in, texts
from tests.support.fakes import BOUND_S, FakeMeter, eventually, running_desk
from tests.support.shown import as_json

pytestmark = pytest.mark.slow


@pytest.fixture
def meters(clock):
    """Return two meters with different loads."""
    return [FakeMeter(clock, power_w=5.0), FakeMeter(clock, power_w=8.0)]


@pytest.fixture
def desk(contest, meters):
    """Return a running desk with two lanes."""
    with running_desk(contest, *meters) as desk:
        yield desk


def running(desk, team, lane):
    """Make, arm and begin a session in a lane."""
    session_id = desk.new_session(team, "Kim", lane)
    desk.steps_of(session_id).arm(session_id, "Kim")
    return desk.begin(team, "10.0.0.2", lane)


def test_two_sessions_run_at_once_each_on_its_own_meter(desk, contest, meters, clock):
    """Each lane has its own start, end, readings and energy."""
    first = running(desk, "ants", 1)
    clock.advance(100)
    second = running(desk, "bees", 2)
    assert [SessionState.RUNNING] * 2 == [state_in(contest, one) for one in (first, second)]
    assert 100.0 == clock.now().monotonic_s - facts_of(contest, first).started.monotonic_s
    clock.advance(500)
    energy = settled(contest, first)
    assert SessionState.RUNNING is state_in(contest, second)
    assert [IntegrationState.TIMEUP, IntegrationState.START] == [one.state() for one in meters]
    clock.advance(100)
    other = settled(contest, second)
    assert 5.0 * 600 / 3600 == pytest.approx(energy.detail["integrator_wh"])
    assert 8.0 * 600 / 3600 == pytest.approx(other.detail["integrator_wh"])
    powers = [
        {reading.power_w for _, reading in readings_of(contest.database.connection, one)}
        for one in (first, second)
    ]
    assert [{5.0}, {8.0}] == powers


def test_a_lost_meter_leaves_the_other_lane_unharmed(desk, contest, meters, clock):
    """While one meter is away the other lane ends, settles and takes its next session."""
    first, second = running(desk, "ants", 1), running(desk, "bees", 2)
    meters[0].lost = True
    eventually(lambda: desk.lanes[0].metering.status.link is LinkState.LOST)
    assert LinkState.OK is desk.lanes[1].metering.status.link
    desk.steps_of(second).end(second, EndCause.STOP, "Kim")
    assert settled(contest, second).detail["integrator_wh"] is not None
    third = running(desk, "crabs", 2)
    clock.advance(600)
    assert 600.0 == settled(contest, third).detail["integration_s"]
    assert EndCause.DEADLINE is facts_of(contest, first).end_cause
    meters[0].lost = False
    assert 600.0 == settled(contest, first).detail["integration_s"]
    assert 1 == sum("The power meter is lost" in text for text in texts(contest))


def test_an_alarm_of_a_lane_is_known_by_its_row(desk, contest, clock):
    """Its lane alone has it on the board, whatever the text says."""
    names = ("left", "right")
    lanes = tuple(replace(contest.config.lane(1), name=name) for name in names)
    contest = replace(contest, config=replace(contest.config, declared_lanes=lanes))
    utc = clock.now().utc.isoformat()
    subjects = [Subject(lane=names[1]), Subject()]
    for text, subject in zip(("It is hot.", f"Lane {names[1]}: no."), subjects, strict=True):
        with contest.database.write() as connection:
            insert_notice(connection, None, utc, "alarm", text, subject)
    alarms = as_json(board_of(contest, desk).show())["alarms"]
    assert [(names[1], "It is hot."), ("", f"Lane {names[1]}: no.")] == [
        (alarm["lane"], alarm["text"]) for alarm in alarms
    ]


def test_a_slow_meter_holds_up_its_own_lane_alone(desk, contest, meters):
    """While one lane's meter is slow to prepare, the other lane begins and ends a session."""
    entered, release = threading.Event(), threading.Event()
    real = meters[0].prepare

    def slow(settings, leave):
        entered.set()
        release.wait(BOUND_S)
        return real(settings, leave)

    meters[0].prepare = slow
    first = desk.new_session("ants", "Kim", 1)
    arming = threading.Thread(target=desk.steps_of(first).arm, args=(first, "Kim"))
    arming.start()
    try:
        assert entered.wait(BOUND_S)
        second = running(desk, "bees", 2)
        desk.steps_of(second).end(second, EndCause.STOP, "Kim")
        settled(contest, second)
        assert SessionState.READY is state_in(contest, first)
    finally:
        release.set()
        arming.join(BOUND_S)
    assert SessionState.ARMED is state_in(contest, first)


def test_a_lane_has_one_live_session(desk):
    """A lane refuses a second live session, while the other lane still arms one."""
    running(desk, "ants", 1)
    with pytest.raises(Refusal, match="stop or void it first"):
        number = desk.new_session("bees", "Kim", 1)
        desk.steps_of(number).arm(number, "Kim")
    number = desk.new_session("crabs", "Kim", 2)
    desk.steps_of(number).arm(number, "Kim")


def test_both_deadlines_are_kept_by_one_clock(desk, contest, clock):
    """Sessions that began at different moments end at their own deadlines."""
    first = running(desk, "ants", 1)
    clock.advance(0.25)
    second = running(desk, "bees", 2)
    clock.advance(700)
    for session_id in (first, second):
        eventually(lambda one=session_id: facts_of(contest, one).ended)
        facts = facts_of(contest, session_id)
        assert shifted(facts.started, 600) == facts.ended


def test_a_new_desk_takes_up_both_lanes(contest, meters, clock):
    """After a restart each running session goes on with its own meter."""
    with running_desk(contest, *meters) as desk:
        sessions = [running(desk, "ants", 1), running(desk, "bees", 2)]
        clock.advance(100)
    with running_desk(contest, *meters):
        clock.advance(500)
        energies = [settled(contest, one).detail["integrator_wh"] for one in sessions]
    assert [5.0 * 600 / 3600, 8.0 * 600 / 3600] == pytest.approx(energies)


def test_a_desk_with_fewer_lanes_says_what_it_lacks(contest, meters):
    """A session of a lane that this desk does not have cannot be armed."""
    with running_desk(contest, *meters) as desk:
        session_id = desk.new_session("ants", "Kim", 2)
    with running_desk(contest, meters[0]) as desk:
        for act in (
            lambda: desk.steps_of(session_id).arm(session_id, "Kim"),
            lambda: desk.new_session("b", "Kim", 2),
        ):
            with pytest.raises(Refusal, match="belongs to lane 2") as refused:
                act()
            assert "lane_unknown" == refused.value.code


def test_a_login_at_the_port_of_another_lane_is_sent_to_its_own(desk):
    """The refusal names both lanes and the port; nothing has begun."""
    number = desk.new_session("ants", "Kim", 2)
    desk.steps_of(number).arm(number, "Kim")
    with pytest.raises(Refusal, match="Your session is in lane '2'.* port 8000") as refused:
        desk.begin("ants", "10.0.0.2", 1)
    assert "other_lane" == refused.value.code
    assert SessionState.RUNNING is desk.state(desk.begin("ants", "10.0.0.2", 2))


def test_a_team_is_live_in_one_lane_at_a_time(desk):
    """A second session of a team is not armed in another lane while the first is live."""
    running(desk, "ants", 1)
    second = desk.new_session("ants", "Kim", 2)
    with pytest.raises(Refusal, match="Session 1 of 'ants' is RUNNING in lane"):
        desk.steps_of(second).arm(second, "Kim")
    assert SessionState.READY is desk.state(second)


def test_rehearsals_take_the_lane_of_their_port(practice, clock):
    """Two teams rehearse at once; a third at a port waits until its lane is free."""
    with running_desk(practice, FakeMeter(clock), FakeMeter(clock)) as desk:
        first = desk.begin("ants", "10.0.0.2", 1)
        second = desk.begin("bees", "10.0.0.3", 2)
        assert first == desk.begin("ants", "10.0.0.2", 1)
        with pytest.raises(Refusal, match="'bees' is running"):
            desk.begin("crabs", "10.0.0.4", 2)
        desk.steps_of(second).end(second, EndCause.LOGOUT, "bees")
        third = desk.begin("crabs", "10.0.0.4", 2)
        assert SessionState.RUNNING is state_in(practice, first)
        assert SessionState.RUNNING is state_in(practice, third)


def test_the_meter_of_a_session_stands_in_the_database(desk, contest, meters):
    """Each lane stores its meter's identity and settings, as read back, with the start."""
    session_id = running(desk, "bees", 2)
    meter = session_meter_of(contest.database.connection, session_id)
    assert (meters[1].identity, meters[1].settings) == (meter.identity, meter.settings)
    assert (600, False) == (meter.settings.timer_s, meter.emulated)


def test_one_meter_in_two_lanes_arms_in_neither(contest, meters):
    """Neither lane is armed while one meter answers in both, and a lane with its own meter is."""
    shared = replace(FakeMeter.IDENTITY, serial="C2SAME")
    meters[0].identity = meters[1].identity = shared
    with running_desk(contest, *meters, FakeMeter(contest.clock)) as desk:
        for lane, team in enumerate(("ants", "bees"), 1):
            number = desk.new_session(team, "Kim", lane)
            with pytest.raises(Refusal, match=r"one meter answers in .* serial C2SAME"):
                desk.steps_of(number).arm(number, "Kim")
        running(desk, "crabs", 3)


def test_a_meter_that_does_not_start_leaves_no_trace(desk, contest, meters):
    """A session that did not start has no stored meter."""
    session_id = desk.new_session("ants", "Kim", 1)
    desk.steps_of(session_id).arm(session_id, "Kim")
    meters[0].lost = True
    with pytest.raises(Unavailable):
        desk.begin("ants", "10.0.0.2")
    assert session_meter_of(contest.database.connection, session_id) is None
