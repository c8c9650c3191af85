# SPDX-License-Identifier: Apache-2.0
"""The control desk starts and ends sessions, also while the meter fails.

It is long because the desk only joins its parts: each fault of the meter at each step of a session
is one test here, and none of a part alone.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from power.energy.judge import facts_from_json, judge_run
from power.errors import MeterRefused
from power.meter import IntegrationState
from referee.core.instant import shifted
from referee.core.states import EndCause, SessionState, state_of
from referee.errors import Refusal, Unavailable
from referee.service.desk.metering import LinkState
from referee.service.desk.requests import serve_request
from referee.service.setup.clock import SystemClock
from referee.store.notices import audit_of, recent_notices
from referee.store.readings import energy_of, readings_of
from referee.store.sessions import all_sessions, live_session, load_session
from tests.support.contests import make_contest, no_room
from tests.support.fakes import FakeMeter, eventually, running_desk
from tests.support.leave import LEAVE

pytestmark = pytest.mark.slow


def facts_of(contest, session_id):
    """Return the session's facts as stored."""
    return load_session(contest.database.connection, session_id).facts


def state_in(contest, session_id):
    """Return the session's state now."""
    return state_of(facts_of(contest, session_id), contest.clock.now())


def armed(desk, team="ants"):
    """Make and arm a session."""
    session_id = desk.new_session(team, "Kim")
    desk.steps_of(session_id).arm(session_id, "Kim")
    return session_id


def running(desk, team="ants"):
    """Make, arm and begin a session."""
    armed(desk, team)
    return desk.begin(team, "10.0.0.2")


def settled(contest, session_id):
    """Wait until the session's energy is judged, and return the energy."""
    eventually(lambda: energy_of(contest.database.connection, session_id))
    return energy_of(contest.database.connection, session_id)


def texts(contest):
    """Return the texts of all notices, the newest first."""
    return [notice.text for notice in recent_notices(contest.database.connection, 100)]


def actions(contest, session_id):
    """Return the operators' audited actions on the session."""
    return [row["action"] for row in audit_of(contest.database.connection, session_id)]


# Arming


def test_arming_prepares_the_meter(desk, contest, meter):
    """Arming resets the meter and sets ranges and a timer of the session's length."""
    session_id = desk.new_session("ants", "Kim")
    assert SessionState.READY is state_in(contest, session_id)
    desk.steps_of(session_id).arm(session_id, "Kim")
    assert SessionState.ARMED is state_in(contest, session_id)
    assert (600, 15.0) == (meter.settings.timer_s, meter.settings.voltage_range_v)
    assert IntegrationState.RESET is meter.state()
    assert ["new session", "arm"] == actions(contest, session_id)


def foreign_run(meter, contest):
    """Let somebody else integrate for five seconds."""
    meter.start()
    contest.clock.advance(5.0)
    meter.stop()


def test_arming_wipes_no_result_that_nobody_fetched(desk, contest, meter):
    """A result of another program keeps a session READY, until somebody resets the meter."""
    session_id = desk.new_session("ants", "Kim")
    foreign_run(meter, contest)
    prepared = meter.calls.count("prepare")
    with pytest.raises(Unavailable, match="python -m power rescue") as refused:
        desk.steps_of(session_id).arm(session_id, "Kim")
    assert "5 s (state STOP)" in str(refused.value)
    assert "--discard" in str(refused.value)
    assert SessionState.READY is state_in(contest, session_id)
    assert prepared == meter.calls.count("prepare")
    meter.prepare(meter.settings, LEAVE)
    desk.steps_of(session_id).arm(session_id, "Kim")
    assert SessionState.ARMED is state_in(contest, session_id)


@pytest.mark.parametrize("way", ["ended", "voided", "restarted"])
def test_the_result_of_the_last_session_may_be_wiped(contest, meter, clock, way):
    """The energy of the session before is stored, so the next session can be armed."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
        clock.advance(20.0)
        if way == "voided":
            desk.steps_of(session_id).void(session_id, "Kim", "a wrong board")
        else:
            desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
        settled(contest, session_id)
        if way != "restarted":
            assert SessionState.ARMED is state_in(contest, armed(desk, "bees"))
    if way == "restarted":
        with running_desk(contest, meter) as desk:
            assert SessionState.ARMED is state_in(contest, armed(desk, "bees"))


def test_a_run_after_the_last_session_is_not_wiped(desk, contest, meter):
    """A result that somebody made after the last session belongs to no session."""
    session_id = running(desk)
    contest.clock.advance(20.0)
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    settled(contest, session_id)
    foreign_run(meter, contest)
    with pytest.raises(Unavailable, match="python -m power rescue FAKE"):
        armed(desk, "bees")


def test_a_login_of_a_rehearsal_wipes_nothing(practice, meter):
    """A login that arms by itself is refused while the meter holds what nobody has fetched."""
    with running_desk(practice, meter) as desk:
        first = desk.begin("ants", "10.0.0.2")
        practice.clock.advance(600)
        settled(practice, first)
        assert first < desk.begin("ants", "10.0.0.2")
        practice.clock.advance(600)
        settled(practice, first + 1)
        foreign_run(meter, practice)
        kept, prepared = meter.energy_wh, meter.calls.count("prepare")
        with pytest.raises(Unavailable, match=r"power rescue .* --discard"):
            desk.begin("bees", "10.0.0.3")
        assert (kept, prepared) == (meter.energy_wh, meter.calls.count("prepare"))
        assert live_session(practice.database.connection) is None


def test_a_login_after_a_restarted_desk_wipes_nothing(contest, meter):
    """A result that came between arming and login keeps the session ARMED."""
    with running_desk(contest, meter) as desk:
        session_id = armed(desk)
    foreign_run(meter, contest)
    kept = meter.energy_wh
    with running_desk(contest, meter) as desk:
        with pytest.raises(Unavailable, match="python -m power rescue FAKE"):
            desk.begin("ants", "10.0.0.2")
        assert kept == meter.energy_wh
        assert SessionState.ARMED is state_in(contest, session_id)
        meter.prepare(meter.settings, LEAVE)
        assert session_id == desk.begin("ants", "10.0.0.2")


def test_extra_time_wipes_nothing(contest, meter):
    """The meter of an armed session is prepared again for extra time by the same rule."""
    with running_desk(contest, meter) as desk:
        session_id = armed(desk)
        foreign_run(meter, contest)
        kept = meter.energy_wh
        with pytest.raises(Unavailable, match="python -m power rescue FAKE"):
            desk.steps_of(session_id).extend(session_id, "Kim", 60, "the hall was locked", 600.0)
        assert kept == meter.energy_wh


def test_arming_again_changes_nothing(desk, contest, meter):
    """A double click on Arm prepares the meter once and is audited once."""
    session_id = armed(desk)
    first = facts_of(contest, session_id).armed
    contest.clock.advance(5)
    desk.steps_of(session_id).arm(session_id, "Robin")
    assert first == facts_of(contest, session_id).armed
    assert 1 == meter.calls.count("prepare")
    assert ["new session", "arm"] == actions(contest, session_id)


@pytest.mark.parametrize("begin", [False, True])
def test_second_session_is_refused_while_one_is_live(desk, contest, meter, begin):
    """An armed or running session keeps the meter from another session."""
    first = running(desk) if begin else armed(desk)
    second = desk.new_session("bees", "Kim")
    with pytest.raises(Refusal, match=f"Session {first} of 'ants'") as refused:
        desk.steps_of(second).arm(second, "Kim")
    assert "other_session_live" == refused.value.code
    assert SessionState.READY is state_in(contest, second)
    assert 1 == meter.calls.count("prepare")


def test_meter_that_cannot_be_prepared_leaves_the_session_ready(desk, contest, meter):
    """The operator gets the meter's reason, and may arm again."""
    session_id = desk.new_session("ants", "Kim")
    meter.fail_prepare = MeterRefused("The meter refused its voltage range.", 841, "range")
    with pytest.raises(Unavailable, match="refused its voltage range"):
        desk.steps_of(session_id).arm(session_id, "Kim")
    assert SessionState.READY is state_in(contest, session_id)
    assert ["new session"] == actions(contest, session_id)
    meter.fail_prepare = None
    desk.steps_of(session_id).arm(session_id, "Kim")
    assert SessionState.ARMED is state_in(contest, session_id)


def test_unknown_session_cannot_be_armed(desk):
    """The desk refuses to arm a session number that does not exist."""
    with pytest.raises(Refusal, match="no session 99"):
        desk.steps_of(99).arm(99, "Kim")


# Login


def test_login_starts_the_integration_and_then_the_clock(desk, contest, meter):
    """The session starts at the moment at which the meter started."""
    session_id = armed(desk)
    contest.clock.advance(30)
    assert session_id == desk.begin("ants", "10.0.0.2")
    assert contest.clock.now() == facts_of(contest, session_id).started
    assert IntegrationState.START is meter.state()
    assert SessionState.RUNNING is state_in(contest, session_id)


def test_same_login_again_does_nothing(desk, contest, meter):
    """A client that logs in again gets its session back: same number, start and deadline."""
    session_id = running(desk)
    started = facts_of(contest, session_id).started
    contest.clock.advance(599.999)
    assert session_id == desk.begin("ants", "10.0.0.3")
    assert started == facts_of(contest, session_id).started
    assert (1, 1) == (meter.calls.count("prepare"), meter.calls.count("start"))


def test_login_before_the_turn_is_refused(desk, contest, meter):
    """A login without an armed session begins nothing, even for a team with a READY one."""
    with pytest.raises(Refusal, match="not your turn yet") as refused:
        desk.begin("ants", "10.0.0.2")
    assert "not_armed" == refused.value.code
    desk.new_session("ants", "Kim")
    with pytest.raises(Refusal, match="not your turn yet"):
        desk.begin("ants", "10.0.0.2")
    assert "start" not in meter.calls


@pytest.mark.parametrize("begin", [False, True])
def test_login_of_another_team_has_no_effect(desk, contest, meter, begin):
    """Another team's login changes neither the meter nor the session."""
    session_id = running(desk) if begin else armed(desk)
    before, calls = facts_of(contest, session_id), list(meter.calls)
    with pytest.raises(Refusal) as refused:
        desk.begin("bees", "10.0.0.9")
    assert "not_armed" == refused.value.code
    assert (before, calls) == (facts_of(contest, session_id), meter.calls)


def test_login_after_the_end_is_refused(desk, contest):
    """An ended session does not begin again."""
    session_id = running(desk)
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    with pytest.raises(Refusal, match="Your session is over") as refused:
        desk.begin("ants", "10.0.0.2")
    assert "session_over" == refused.value.code


@pytest.mark.parametrize("begin", [False, True])
def test_a_session_made_for_later_does_not_hide_the_live_one(desk, contest, begin):
    """A team with a second session still READY logs in to its armed or running one."""
    session_id = running(desk) if begin else armed(desk)
    desk.new_session("ants", "Kim")
    assert session_id == desk.begin("ants", "10.0.0.2")


def test_meter_that_fails_at_the_start_begins_nothing(desk, contest, meter):
    """After a failed start the session stays armed, and the next login prepares the meter again."""
    session_id = armed(desk)
    meter.fail_start = MeterRefused("The meter did not report START.")
    with pytest.raises(Unavailable, match="did not report START"):
        desk.begin("ants", "10.0.0.2")
    assert SessionState.ARMED is state_in(contest, session_id)
    assert facts_of(contest, session_id).started is None
    meter.fail_start = None
    contest.clock.advance(60)
    assert session_id == desk.begin("ants", "10.0.0.2")
    assert contest.clock.now() == facts_of(contest, session_id).started
    assert ["prepare", "start", "prepare", "start"] == [
        call for call in meter.calls if call in ("prepare", "start")
    ]


def test_lost_meter_begins_nothing(desk, contest, meter):
    """A login without a link to the meter is refused, and the session does not begin."""
    session_id = armed(desk)
    meter.lost = True
    with pytest.raises(Unavailable):
        desk.begin("ants", "10.0.0.2")
    assert SessionState.ARMED is state_in(contest, session_id)


# The end


def test_deadline_ends_the_session_by_itself(desk, contest, meter):
    """The desk records the end at the deadline and reads the meter, without any request."""
    session_id = running(desk)
    started = facts_of(contest, session_id).started
    contest.clock.advance(600.2)
    eventually(lambda: facts_of(contest, session_id).ended)
    facts = facts_of(contest, session_id)
    assert (shifted(started, 600), EndCause.DEADLINE) == (facts.ended, facts.end_cause)
    assert settled(contest, session_id).energy_id
    assert IntegrationState.TIMEUP is meter.state()


def test_session_is_not_ended_early(desk, contest):
    """One millisecond before the deadline it still runs."""
    session_id = running(desk)
    contest.clock.advance(599.999)
    desk.begin("ants", "10.0.0.2")
    assert SessionState.RUNNING is state_in(contest, session_id)
    assert facts_of(contest, session_id).ended is None


def test_logout_ends_the_session(desk, contest, meter):
    """The meter has stopped by the time the logout is answered."""
    session_id = running(desk)
    contest.clock.advance(100)
    assert {"session": session_id} == serve_request(
        desk, {"action": "logout", "session": session_id}
    )
    assert IntegrationState.STOP is meter.state()
    facts = facts_of(contest, session_id)
    assert (contest.clock.now(), EndCause.LOGOUT) == (facts.ended, facts.end_cause)
    assert 100.0 == settled(contest, session_id).detail["integration_s"]


def test_a_second_end_changes_nothing(desk, contest):
    """Two presses on Stop after a logout change nothing."""
    session_id = running(desk)
    contest.clock.advance(100)
    desk.steps_of(session_id).end(session_id, EndCause.LOGOUT, "ants")
    first = facts_of(contest, session_id)
    contest.clock.advance(10)
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    assert (first.ended, EndCause.LOGOUT) == (
        facts_of(contest, session_id).ended,
        facts_of(contest, session_id).end_cause,
    )
    assert "stop" not in actions(contest, session_id)
    settled(contest, session_id)


def test_operator_stops_a_session(desk, contest, meter):
    """A stop is audited with its operator."""
    session_id = running(desk)
    contest.clock.advance(7)
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    assert EndCause.STOP is facts_of(contest, session_id).end_cause
    assert "stop" in actions(contest, session_id)
    settled(contest, session_id)
    assert IntegrationState.STOP is meter.state()


def test_stop_after_the_deadline_is_the_deadline(desk, contest):
    """A stop after the deadline leaves the end at the deadline."""
    session_id = running(desk)
    started = facts_of(contest, session_id).started
    contest.clock.advance(601)
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    facts = facts_of(contest, session_id)
    assert (shifted(started, 600), EndCause.DEADLINE) == (facts.ended, facts.end_cause)


def test_session_that_never_ran_cannot_end(desk, contest):
    """Logout and stop of a session that does not run are refused."""
    session_id = armed(desk)
    with pytest.raises(Refusal) as refused:
        desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    assert "state_conflict" == refused.value.code
    assert SessionState.ARMED is state_in(contest, session_id)


def test_next_session_follows(desk, contest, meter):
    """When one session's energy is settled, the next can be armed and run."""
    first = running(desk)
    desk.steps_of(first).end(first, EndCause.STOP, "Kim")
    second = running(desk, "bees")
    assert SessionState.RUNNING is state_in(contest, second)
    assert energy_of(contest.database.connection, first) is not None


# Void


@pytest.mark.parametrize("reason", ["", " ", "\t\n"])
def test_void_needs_a_reason(desk, contest, reason):
    """A void without a reason is refused."""
    session_id = running(desk)
    with pytest.raises(Refusal) as refused:
        desk.steps_of(session_id).void(session_id, "Kim", reason)
    assert "reason_missing" == refused.value.code
    assert SessionState.RUNNING is state_in(contest, session_id)


@pytest.mark.parametrize("make", [lambda desk: desk.new_session("ants", "Kim"), armed, running])
def test_void_from_every_early_state(desk, contest, make):
    """A void keeps its reason, a repeat changes nothing, and the next session may be armed."""
    session_id = make(desk)
    desk.steps_of(session_id).void(session_id, "Kim", "fire alarm")
    contest.clock.advance(1)
    first = facts_of(contest, session_id).voided
    desk.steps_of(session_id).void(session_id, "Robin", "another reason")
    session = load_session(contest.database.connection, session_id)
    assert (first, "fire alarm") == (session.facts.voided, session.void_reason)
    assert SessionState.VOID is state_in(contest, session_id)
    assert 1 == actions(contest, session_id).count("void")
    assert live_session(contest.database.connection) is None
    assert SessionState.ARMED is state_in(contest, armed(desk, "bees"))


def test_voiding_a_running_session_stops_the_meter(desk, contest, meter):
    """Voiding a running session stops the integration."""
    session_id = running(desk)
    desk.steps_of(session_id).void(session_id, "Kim", "wrong cable")
    eventually(lambda: meter.state() is IntegrationState.STOP)


def test_void_at_the_deadline_leaves_the_clock_working(desk, contest, meter):
    """After a void at the deadline the next session still ends by itself."""
    for _ in range(3):
        session_id = running(desk)
        contest.clock.advance(601)
        desk.steps_of(session_id).void(session_id, "Kim", "too late")
        assert SessionState.VOID is state_in(contest, session_id)
    session_id = running(desk)
    contest.clock.advance(601)
    eventually(lambda: facts_of(contest, session_id).ended)


def test_void_of_a_session_whose_end_is_not_recorded_records_it(contest, meter):
    """A void records a deadline that nobody had recorded, and records it first."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
    contest.clock.advance(601)
    with running_desk(contest, meter) as desk:
        desk.steps_of(session_id).void(session_id, "Kim", "power cut")
    facts = facts_of(contest, session_id)
    assert (EndCause.DEADLINE, shifted(facts.started, 600)) == (facts.end_cause, facts.ended)
    assert SessionState.VOID is state_in(contest, session_id)


# The meter's faults


def test_meter_lost_in_a_session_is_an_alarm_and_no_end(desk, contest, meter):
    """A lost meter does not end the session; the link comes back to an untouched integration."""
    session_id = running(desk)
    meter.lost = True
    eventually(lambda: any("The power meter is lost" in text for text in texts(contest)))
    assert LinkState.LOST is desk.lanes[0].metering.status.link
    assert SessionState.RUNNING is state_in(contest, session_id)
    contest.clock.advance(300)
    meter.lost = False
    eventually(lambda: desk.lanes[0].metering.status.link is LinkState.OK)
    assert (1, 1, 0) == tuple(meter.calls.count(call) for call in ("prepare", "start", "stop"))
    assert 2 == sum("The power meter answers" in text for text in texts_eventually(contest, 2))
    contest.clock.advance(300)
    energy = settled(contest, session_id)
    assert 600.0 == energy.detail["integration_s"]
    assert 5.0 * 600 / 3600 == pytest.approx(energy.detail["integrator_wh"])


def texts_eventually(contest, count):
    """Wait for this many notices of the link's return, and return all texts."""
    eventually(lambda: sum("meter answers" in text for text in texts(contest)) >= count)
    return texts(contest)


def test_meter_lost_at_the_end_is_waited_for(desk, contest, meter):
    """The end is recorded at once, and the energy is fetched when the meter is back."""
    session_id = running(desk)
    meter.lost = True
    contest.clock.advance(600)
    eventually(lambda: facts_of(contest, session_id).ended)
    assert energy_of(contest.database.connection, session_id) is None
    meter.lost = False
    assert 600.0 == settled(contest, session_id).detail["integration_s"]


def test_logout_does_not_wait_for_a_lost_meter(desk, contest, meter):
    """A contestant's logout is answered while the meter is away."""
    session_id = running(desk)
    meter.lost = True
    contest.clock.advance(100)
    assert {"session": session_id} == serve_request(
        desk, {"action": "logout", "session": session_id}
    )
    assert EndCause.LOGOUT is facts_of(contest, session_id).end_cause
    meter.lost = False
    settled(contest, session_id)


def test_meter_that_stays_lost_gives_no_energy(desk, contest, meter):
    """After two minutes of waiting the session is judged without energy, and says why."""
    session_id = running(desk)
    meter.lost = True
    contest.clock.advance(600)
    eventually(lambda: facts_of(contest, session_id).ended)
    # The wait counts from the moment at which settling began, so time must go on meanwhile.
    for _ in range(40):
        contest.clock.advance(60)
    eventually(
        lambda: contest.clock.advance(60) or energy_of(contest.database.connection, session_id)
    )
    energy = energy_of(contest.database.connection, session_id)
    assert ("INVALID", None) == (energy.verdict, energy.energy_wh)
    assert "not_read_at_end" in [finding["code"] for finding in energy.detail["findings"]]
    assert any("could not be read at the end" in text for text in energy.detail["reasons"])


def test_a_mistake_in_the_driver_is_a_lost_meter(desk, contest, meter):
    """An error that is no meter error is reported, and the thread reads on afterwards."""
    session_id = running(desk)
    meter.crash = ZeroDivisionError("a mistake")
    eventually(lambda: desk.lanes[0].metering.status.link is LinkState.LOST)
    assert SessionState.RUNNING is state_in(contest, session_id)
    meter.crash = None
    eventually(lambda: desk.lanes[0].metering.status.link is LinkState.OK)


def test_readings_are_kept_while_a_session_runs(desk, contest, meter):
    """Each reading is stored with its second of the session; readings before the start are not."""
    session_id = armed(desk)
    eventually(lambda: desk.lanes[0].metering.status.reading)
    desk.begin("ants", "10.0.0.2")
    contest.clock.advance(10)
    eventually(lambda: len(readings_of(contest.database.connection, session_id)) >= 2)
    elapsed = [second for second, _ in readings_of(contest.database.connection, session_id)]
    assert 0.0 <= min(elapsed) <= max(elapsed) == 10.0


def test_whole_session_is_valid(tmp_path, clock):
    """An undisturbed session has the integrator's energy and VALID, without a reason."""
    contest = make_contest(tmp_path, clock, mode="event", seconds=3)
    meter = FakeMeter(clock, power_w=7.2, reading_takes_s=0.25)
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
        energy = settled(contest, session_id)
    contest.database.close()
    assert ("VALID", []) == (energy.verdict, [f["code"] for f in energy.detail["findings"]])
    assert 7.2 * 3 / 3600 == pytest.approx(energy.energy_wh, rel=1e-12)
    assert 0 < energy.uncertainty_wh < energy.energy_wh


def test_without_a_meter_there_is_no_energy(tmp_path):
    """A session without a meter ends with no energy, rather than an energy of 0."""
    contest = make_contest(tmp_path, SystemClock(), mode="event", seconds=600)
    with running_desk(contest, None) as desk:
        session_id = running(desk)
        assert SessionState.RUNNING is state_in(contest, session_id)
        desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
        energy = settled(contest, session_id)
    contest.database.close()
    assert ("INVALID", None) == (energy.verdict, energy.energy_wh)


def test_what_the_verdict_rests_on_is_stored_with_it(tmp_path, clock):
    """The stored detail and readings alone give the same energy again."""
    contest = make_contest(tmp_path, clock, mode="event", seconds=3)
    with running_desk(contest, FakeMeter(clock, reading_takes_s=0.25)) as desk:
        session_id = running(desk)
        energy = settled(contest, session_id)
        stored = readings_of(contest.database.connection, session_id)
    contest.database.close()
    facts = facts_from_json(json.loads(json.dumps(energy.detail["facts"])))
    readings = [replace(reading, monotonic_s=second) for second, reading in stored]
    again = judge_run(readings, facts)
    assert (FakeMeter.IDENTITY, 3.0, 3) == (facts.identity, facts.session_s, facts.settings.timer_s)
    assert (energy.energy_wh, energy.verdict) == (again.energy_wh, again.verdict.value)
    assert energy.detail["emulated"] is False


def test_the_settings_of_the_start_are_judged_by_whatever_is_configured_later(contest, meter):
    """A desk with other configured ranges judges by the ranges that the meter had."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
    contest.clock.advance(600)
    with running_desk(contest, meter) as desk:
        desk.lanes[0].metering.settings = replace(
            desk.lanes[0].metering.settings, voltage_range_v=300.0
        )
        energy = settled(contest, session_id)
    assert 15.0 == energy.detail["facts"]["settings"]["voltage_range_v"]


@pytest.mark.parametrize(("mode", "codes"), [("event", ["emulated"]), ("practice", [])])
@pytest.mark.parametrize(
    ("resource", "serial"),
    [
        ("emulated", "C2QJ00001V"),
        ("TCPIP::127.0.0.1,4000::inst0::INSTR", "C2QJ00001V"),
        ("TCPIP::10.0.0.3::inst0::INSTR", "EMU0A1B2C"),
    ],
)
def test_an_emulated_energy_of_an_event_says_so(tmp_path, clock, mode, codes, resource, serial):
    """An event's energy from the emulator has a finding; a rehearsal's has the fact alone."""
    contest = make_contest(tmp_path, clock, mode=mode, seconds=3)
    emulated = replace(contest.config.meter, resource=resource)
    contest = replace(contest, config=replace(contest.config, meter=emulated))
    meter = FakeMeter(clock, reading_takes_s=0.25)
    meter.identity = replace(FakeMeter.IDENTITY, serial=serial)
    with running_desk(contest, meter) as desk:
        energy = settled(contest, running(desk) if mode == "event" else desk.begin("me", "::1"))
    contest.database.close()
    assert "VALID" == energy.verdict
    assert (codes, True) == (
        [f["code"] for f in energy.detail["findings"]],
        energy.detail["emulated"],
    )


# Recovery


def test_new_desk_goes_on_with_the_running_session(contest, meter, clock):
    """A new desk continues the session: same deadline, same integration."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
        started = facts_of(contest, session_id).started
        clock.advance(100)
    assert IntegrationState.START is meter.state()
    calls = len(meter.calls)
    with running_desk(contest, meter) as desk:
        assert session_id == desk.begin("ants", "10.0.0.2")
        assert started == facts_of(contest, session_id).started
        clock.advance(499.9)
        assert SessionState.RUNNING is state_in(contest, session_id)
        clock.advance(0.1)
        eventually(lambda: facts_of(contest, session_id).ended)
        assert shifted(started, 600) == facts_of(contest, session_id).ended
        assert 600.0 == settled(contest, session_id).detail["integration_s"]
    assert {"prepare", "start"}.isdisjoint(meter.calls[calls:])


def test_session_that_ended_while_the_desk_was_down(contest, meter, clock):
    """The new desk records the end at the deadline and fetches the energy from the meter."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
    clock.advance(3600)
    with running_desk(contest, meter):
        energy = settled(contest, session_id)
    facts = facts_of(contest, session_id)
    assert (shifted(facts.started, 600), EndCause.DEADLINE) == (facts.ended, facts.end_cause)
    assert 600.0 == energy.detail["integration_s"]


def test_session_that_was_not_settled_is_settled_at_the_next_start(contest, meter, clock):
    """The next desk settles an energy that a dead desk left unsettled."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
        clock.advance(50)
        meter.lost = True
        desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    assert energy_of(contest.database.connection, session_id) is None
    meter.lost = False
    with running_desk(contest, meter):
        settled(contest, session_id)
    assert IntegrationState.STOP is meter.state()


def test_a_settled_session_is_left_alone(contest, meter, clock):
    """A restart does not judge a settled session again."""
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
        desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
        first = settled(contest, session_id)
    calls = len(meter.calls)
    with running_desk(contest, meter) as desk:
        other = armed(desk, "bees")
        assert SessionState.ARMED is state_in(contest, other)
    assert "stop" not in meter.calls[calls:]
    assert first == energy_of(contest.database.connection, session_id)


def test_armed_session_survives_a_restart(contest, meter, clock):
    """The new desk prepares the meter itself before it starts it."""
    with running_desk(contest, meter) as desk:
        session_id = armed(desk)
    with running_desk(contest, meter) as desk:
        assert session_id == desk.begin("ants", "10.0.0.2")
    assert 2 == meter.calls.count("prepare")


# Practice


def test_practice_login_makes_and_arms_a_session(practice, meter):
    """A practice login makes and arms its own session."""
    with running_desk(practice, meter) as desk:
        session_id = desk.begin("anybody", "10.0.0.2")
        assert SessionState.RUNNING is state_in(practice, session_id)
        assert session_id == desk.begin("anybody", "10.0.0.2")


def test_practice_login_after_the_end_gives_a_fresh_session(practice, meter):
    """A contestant may rehearse any number of times."""
    with running_desk(practice, meter) as desk:
        first = desk.begin("ants", "10.0.0.2")
        desk.steps_of(first).end(first, EndCause.LOGOUT, "ants")
        second = desk.begin("ants", "10.0.0.2")
        assert (1, 2) == (first, second)
        practice.clock.advance(600)
        third = desk.begin("ants", "10.0.0.2")
        assert 3 == third
        facts = facts_of(practice, second)
        assert (shifted(facts.started, 600), EndCause.DEADLINE) == (facts.ended, facts.end_cause)


def test_practice_of_another_team_waits(practice, meter):
    """A second team is told the longest time that the rehearsal can still take."""
    with running_desk(practice, meter) as desk:
        desk.begin("ants", "10.0.0.2")
        practice.clock.advance(590)
        with pytest.raises(Refusal, match="ends in 10 s at the latest") as refused:
            desk.begin("bees", "10.0.0.3")
        assert "other_session_live" == refused.value.code
        assert 1 == len(all_sessions(practice.database.connection))


def test_practice_session_that_never_began_is_in_nobodys_way(practice, meter):
    """The next team replaces an armed session whose login failed at the meter."""
    with running_desk(practice, meter) as desk:
        meter.fail_start = MeterRefused("The meter did not report START.")
        with pytest.raises(Unavailable):
            desk.begin("ants", "10.0.0.2")
        meter.fail_start = None
        second = desk.begin("bees", "10.0.0.3")
        assert SessionState.RUNNING is state_in(practice, second)
        assert SessionState.VOID is state_in(practice, 1)


# Requests of the contest server


def test_requests_of_the_contest_server(desk, contest):
    """The desk serves begin and logout; it refuses any other request by name."""
    session_id = armed(desk)
    answer = serve_request(desk, {"action": "begin", "team": "ants", "address": "10.0.0.2"})
    assert {"session": session_id} == answer
    with pytest.raises(Refusal, match="'dance'") as refused:
        serve_request(desk, {"action": "dance"})
    assert "action_unknown" == refused.value.code


def test_obstacles_are_what_keeps_a_session_from_starting(desk, contest, meter, monkeypatch):
    """A lost meter and a full disk are named as obstacles; without trouble there is none."""
    assert {"obstacles": []} == serve_request(desk, {"action": "obstacles"})
    meter.lost = True
    eventually(lambda: desk.lanes[0].metering.status.link is LinkState.LOST)
    no_room(monkeypatch)
    disk, link = serve_request(desk, {"action": "obstacles"})["obstacles"]
    assert "make room" in disk
    assert "The power meter does not answer yet. No link to the meter." == link


def test_a_desk_without_a_meter_has_no_obstacle(contest):
    """A desk without a meter reports no obstacle."""
    with running_desk(contest, None) as desk:
        assert [] == desk.obstacles()


# Extra time


def test_extra_time_of_an_armed_session_moves_the_meters_timer(desk, contest, meter, clock):
    """The meter is prepared again, and ends with the longer session: the energy is whole."""
    session_id = desk.new_session("ants", "Kim")
    desk.steps_of(session_id).arm(session_id, "Kim")
    desk.steps_of(session_id).extend(session_id, "Kim", 60, "a late start", 600.0)
    assert 660 == meter.settings.timer_s
    desk.begin("ants", "10.0.0.2")
    clock.advance(659)
    assert SessionState.RUNNING is state_in(contest, session_id)
    clock.advance(1)
    assert 660.0 == settled(contest, session_id).detail["integration_s"]


def test_extra_time_is_refused_while_the_timer_runs(desk, contest, meter):
    """A running session keeps its deadline, because time after the timer would have no energy."""
    session_id = desk.new_session("ants", "Kim")
    desk.steps_of(session_id).arm(session_id, "Kim")
    desk.begin("ants", "10.0.0.2")
    with pytest.raises(Refusal, match="timer ends the measurement") as refused:
        desk.steps_of(session_id).extend(session_id, "Kim", 60, "the switch failed", 600.0)
    assert "timer_runs" == refused.value.code
    assert 600.0 == facts_of(contest, session_id).length_s


def test_extra_time_survives_a_restart(contest, clock):
    """A new desk ends the session at the moved deadline, and not at the old one."""
    with running_desk(contest, None) as desk:
        session_id = desk.new_session("ants", "Kim")
        desk.steps_of(session_id).arm(session_id, "Kim")
        desk.begin("ants", "10.0.0.2")
        clock.advance(599)
        desk.steps_of(session_id).extend(session_id, "Kim", 60, "the switch failed", 600.0)
    with running_desk(contest, None):
        clock.advance(59)
        assert SessionState.RUNNING is state_in(contest, session_id)
        clock.advance(2)
        eventually(lambda: facts_of(contest, session_id).ended)
    facts = facts_of(contest, session_id)
    assert shifted(facts.started, 660) == facts.ended
