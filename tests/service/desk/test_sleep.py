# SPDX-License-Identifier: Apache-2.0
"""The laptop sleeps while a session runs: the deadline stays, and the verdict says so."""

from __future__ import annotations

import pytest

from referee.core.states import EndCause
from tests.service.desk.test_control_desk import facts_of, settled
from tests.support.fakes import FakeMeter, running_desk

pytestmark = pytest.mark.slow


@pytest.fixture
def meter(clock):
    """Return the lane's meter."""
    return FakeMeter(clock, power_w=5.0)


def running(desk):
    """Make, arm and begin a session."""
    session_id = desk.new_session("ants", "Kim")
    desk.steps_of(session_id).arm(session_id, "Kim")
    return desk.begin("ants", "10.0.0.2")


def test_a_sleep_moves_no_deadline_and_makes_the_energy_suspect(contest, meter, clock):
    """A lid that is closed across the deadline: 600 s of real time, SUSPECT with the seconds."""
    with running_desk(contest, meter) as desk:
        number = running(desk)
        clock.advance(500)
        clock.sleep(300)
        energy = settled(contest, number)
    facts = facts_of(contest, number)
    assert EndCause.DEADLINE is facts.end_cause
    assert 600.0 == facts.ended.monotonic_s - facts.started.monotonic_s
    assert "SUSPECT" == energy.verdict
    assert "The computer slept for 300.0 s during the session." in energy.detail["reasons"]


def test_a_sleep_before_the_session_does_not_count(contest, meter, clock):
    """What the laptop slept before the start is none of the session's."""
    with running_desk(contest, meter) as desk:
        clock.sleep(3600)
        number = running(desk)
        clock.advance(600)
        assert "slept" not in str(settled(contest, number).detail["reasons"])
