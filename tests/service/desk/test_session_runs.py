# SPDX-License-Identifier: Apache-2.0
"""A desk and the journal of runs: what other programs learn of sessions, and the desk of them."""

from datetime import timedelta

import pytest

from power.errors import MeterHolds
from power.logs.journal import RunJournal
from power.meter import IntegrationState
from power.wipe_guard import Guard
from power.wipe_rule import RunEntry, RunEvent, beginning
from referee.core.states import EndCause, SessionState
from referee.errors import Unavailable
from referee.service.desk import lane as lane_module
from referee.service.desk.metering import LinkState
from referee.service.desk.requests import serve_request
from referee.store.readings import energy_of
from tests.service.desk.test_control_desk import (
    armed,
    foreign_run,
    running,
    settled,
    state_in,
    texts,
)
from tests.service.desk.test_desk_faults import lost_start
from tests.support.fakes import FakeMeter, eventually, running_desk
from tests.support.leave import LEAVE


@pytest.fixture
def guard(contest, meter):
    """Return who asks for a program beside the desk, at another address of its meter."""
    return Guard(meter, meter.runs, "OTHER", utc=lambda: contest.clock.now().utc)


def events(meter):
    """Return what the journal says, each with its run."""
    return [(entry.event, entry.log.partition(" of ")[0]) for entry in meter.runs.entries()]


def test_a_session_is_in_the_journal_from_before_its_start(desk, contest, meter, guard):
    """Another program learns whose energy the meter counts or holds, until it is stored."""
    session_id, seen = armed(desk), []
    real = meter.start
    meter.start = lambda: seen.append(events(meter)) or real()
    assert session_id == desk.begin("ants", "10.0.0.2")
    assert [[(RunEvent.BEGUN, "session 1")]] == seen
    contest.clock.advance(20.0)
    with pytest.raises(MeterHolds, match=r"integrates: .*the run of session 1 of /.*rescue OTHER"):
        guard.leave()
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    settled(contest, session_id)
    eventually(lambda: (RunEvent.FETCHED, "session 1") == events(meter)[-1])
    assert guard.leave().wipes
    assert meter.runs.entries()[-1].charge_ah is not None


def test_a_result_that_the_desk_has_not_fetched_is_no_programs_to_wipe(contest, meter, guard):
    """A desk that was killed in a session leaves a result that every program refuses to wipe."""
    with running_desk(contest, meter) as desk:
        running(desk)
    contest.clock.advance(700.0)
    assert IntegrationState.TIMEUP is meter.state()
    with pytest.raises(MeterHolds, match=r"TIMEUP.*the run of session 1 of /"):
        guard.leave()
    with running_desk(contest, meter):
        settled(contest, 1)
        eventually(lambda: (RunEvent.FETCHED, "session 1") == events(meter)[-1])
    assert guard.leave().wipes


@pytest.mark.parametrize("event", [RunEvent.FETCHED, RunEvent.GIVEN_UP])
def test_what_a_program_has_fetched_is_spare(desk, contest, meter, event):
    """A result that a command has fetched, or given up, is no obstacle to Arm."""
    foreign_run(meter, contest)
    with pytest.raises(Unavailable, match="rescue FAKE"):
        armed(desk)
    guard = Guard(meter, meter.runs, "OTHER", utc=lambda: contest.clock.now().utc, discard=True)
    guard.leave()
    given_up = meter.runs.entries()[-1]
    meter.runs.append(RunEntry(**{**vars(given_up), "event": event, "log": "/rescued.csv"}))
    assert SessionState.ARMED is state_in(contest, armed(desk, "bees"))


def test_a_run_that_looks_like_the_last_session_is_not_wiped(desk, contest, meter):
    """A steady load gives equal results; the journal knows that another run has begun since."""
    session_id = running(desk)
    contest.clock.advance(5.0)
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    settled(contest, session_id)
    eventually(lambda: (RunEvent.FETCHED, "session 1") == events(meter)[-1])
    kept = meter.energy_wh
    utc = contest.clock.now().utc + timedelta(seconds=1)
    meter.prepare(meter.settings, LEAVE)
    meter.runs.append(beginning(meter.identity, "OTHER", "/run.csv", utc))
    foreign_run(meter, contest)
    assert kept == meter.energy_wh
    with pytest.raises(Unavailable, match="the run of /run.csv"):
        armed(desk, "bees")


def test_an_integration_of_somebody_else_is_no_lost_start(contest, meter, monkeypatch):
    """Only what a session began itself is stopped: another run at its meter goes on."""
    session_id = lost_start(contest, meter, monkeypatch)
    meter.stop()
    meter.prepare(meter.settings, LEAVE)
    contest.clock.advance(40.0)
    meter.start()
    contest.clock.advance(2.0)
    with running_desk(contest, meter) as desk:
        with pytest.raises(Unavailable, match="the meter integrates"):
            desk.begin("ants", "10.0.0.2")
        desk.steps_of(session_id).void(session_id, "Kim", "the team left")
    assert IntegrationState.START is meter.state()


def test_a_run_that_began_after_a_lost_start_is_nobody_elses(contest, meter, monkeypatch):
    """The last run that began on the meter is another program's, so its energy stays."""
    lost_start(contest, meter, monkeypatch)
    meter.runs.append(beginning(meter.identity, "OTHER", "/run.csv", contest.clock.now().utc))
    with running_desk(contest, meter) as desk, pytest.raises(Unavailable, match=r"/run\.csv"):
        desk.begin("ants", "10.0.0.2")
    assert IntegrationState.START is meter.state()


def test_a_lost_start_that_ended_by_itself_is_given_up(contest, meter, monkeypatch):
    """What a login has integrated whose session never began is nobody's, and says so."""
    session_id = lost_start(contest, meter, monkeypatch)
    contest.clock.advance(700.0)
    assert IntegrationState.TIMEUP is meter.state()
    with running_desk(contest, meter) as desk:
        assert session_id == desk.begin("ants", "10.0.0.2")
    assert [RunEvent.BEGUN, RunEvent.GIVEN_UP, RunEvent.BEGUN] == [
        event for event, _ in events(meter)
    ]


def test_a_start_that_could_not_be_recorded_is_given_up(contest, meter, desk, monkeypatch):
    """A login on a full disk leaves some energy of no session, and the next login works."""
    session_id = armed(desk)

    def full(*args):
        contest.clock.advance(3.0)
        raise Unavailable("disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(lane_module, "insert_session_meter", full)
        with pytest.raises(Unavailable, match="disk is full"):
            desk.begin("ants", "10.0.0.2")
    assert IntegrationState.STOP is meter.state()
    assert session_id == desk.begin("ants", "10.0.0.2")


def test_a_journal_that_cannot_be_written_keeps_no_session_from_running(contest, tmp_path):
    """The desk says so once and remembers; a new desk learns the last session from the database."""
    meter = FakeMeter(contest.clock)
    meter.runs = RunJournal(tmp_path)  # a folder in place of the file
    with running_desk(contest, meter) as desk:
        for team in ("ants", "bees"):
            session_id = running(desk, team)
            contest.clock.advance(20.0)
            desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
            settled(contest, session_id)
        eventually(lambda: any("journal of runs is not written" in text for text in texts(contest)))
        assert 1 == sum("journal of runs" in text for text in texts(contest))
    meter.runs = RunJournal(tmp_path)
    with running_desk(contest, meter) as desk:
        assert SessionState.ARMED is state_in(contest, armed(desk, "cats"))


def test_a_damaged_journal_is_mended_from_the_database(contest, meter, tmp_path):
    """Lines that are lost do not keep the next session from running, nor wipe a foreign result."""
    path = tmp_path / "runs.jsonl"
    meter.runs = RunJournal(path)
    with running_desk(contest, meter) as desk:
        session_id = running(desk)
        contest.clock.advance(20.0)
        desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
        settled(contest, session_id)
    path.write_bytes(b"\0" * 500)
    with running_desk(contest, meter) as desk:
        second = armed(desk, "bees")
        assert RunEvent.FETCHED is meter.runs.entries()[-1].event
        desk.steps_of(second).void(second, "Kim", "a wrong board")
        foreign_run(meter, contest)
        with pytest.raises(Unavailable, match="rescue"):
            armed(desk, "cats")


def test_a_result_of_another_contest_is_spare_when_it_is_fetched(desk, contest, meter):
    """Two contests may use a meter in turn: each knows what the other has fetched."""
    running_id = running(desk)
    contest.clock.advance(20.0)
    desk.steps_of(running_id).end(running_id, EndCause.STOP, "Kim")
    settled(contest, running_id)
    eventually(lambda: (RunEvent.FETCHED, "session 1") == events(meter)[-1])
    contest.clock.advance(5.0)
    meter.prepare(meter.settings, LEAVE)
    foreign_run(meter, contest)
    guard = Guard(meter, meter.runs, "OTHER", utc=lambda: contest.clock.now().utc)
    with pytest.raises(MeterHolds):
        guard.leave()
    held = meter.read()
    meter.runs.append(
        RunEntry(
            *(RunEvent.FETCHED, meter.identity.serial, "OTHER", "session 7 of /elsewhere"),
            contest.clock.now().utc.isoformat(),
            *(held.energy_wh, held.integration_s, held.state.value),
        )
    )
    assert SessionState.ARMED is state_in(contest, armed(desk, "bees"))


@pytest.mark.parametrize("state", ["STOP", "START"])
def test_an_energy_that_nobody_has_fetched_is_an_obstacle(desk, contest, meter, state):
    """A rehearsal says at its start what a contestant's login would meet, and the way out."""
    assert [] == desk.obstacles()
    if state == "STOP":
        foreign_run(meter, contest)
    else:
        meter.start()
        contest.clock.advance(1.0)
    (text,) = serve_request(desk, {"action": "obstacles"})["obstacles"]
    assert f"state {state}" in text
    assert "python -m power rescue FAKE" in text and "rescue FAKE --discard" in text


def test_a_desks_own_sessions_are_no_obstacle(desk, contest, meter):
    """A session that is armed, runs, ends or has its energy keeps `ready`."""
    session_id = armed(desk)
    assert [] == desk.obstacles()
    desk.begin("ants", "10.0.0.2")
    contest.clock.advance(5.0)
    assert [] == desk.obstacles()
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    assert [] == desk.obstacles()
    settled(contest, session_id)
    assert [] == desk.obstacles()


def test_what_forbids_a_login_is_told_before_ready(desk, contest, meter):
    """An armed session keeps no energy of somebody else from being told, nor does a settled one."""
    session_id = armed(desk)
    assert {"refusals": []} == serve_request(desk, {"action": "refusals"})
    foreign_run(meter, contest)
    (text,) = serve_request(desk, {"action": "refusals"})["refusals"]
    assert "rescue FAKE --discard" in text
    desk.steps_of(session_id).void(session_id, "Kim", "the meter")
    assert [text] == desk.refusals_of_logins()


def test_a_killed_referees_session_is_settled_before_ready(contest, meter):
    """What the meter holds then is somebody else's, and forbids the next login."""
    with running_desk(contest, meter) as desk:
        running(desk)
    contest.clock.advance(700.0)
    meter.prepare(meter.settings, LEAVE)
    utc = contest.clock.now().utc
    meter.runs.append(beginning(meter.identity, "OTHER", "/elsewhere/b.csv", utc))
    foreign_run(meter, contest)
    with running_desk(contest, meter) as desk:
        eventually(lambda: desk.lanes[0].metering.status.link is LinkState.OK)
        eventually(lambda: "its end is being recorded" not in str(desk.refusals_of_logins()))
        (text,) = desk.refusals_of_logins()
        assert "which no program on this computer has fetched" in text
        assert "the run of /elsewhere/b.csv" in text
        assert energy_of(contest.database.connection, 1) is not None


def test_the_desks_own_sessions_forbid_no_login(desk, contest, meter):
    """A session that is armed, runs, or has its energy keeps `ready`."""
    session_id = armed(desk)
    assert [] == desk.refusals_of_logins()
    desk.begin("ants", "10.0.0.2")
    contest.clock.advance(5.0)
    assert [] == desk.refusals_of_logins()
    desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    assert [] == desk.refusals_of_logins()
