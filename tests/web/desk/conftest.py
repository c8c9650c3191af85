# SPDX-License-Identifier: Apache-2.0
"""The console of an event, without operators and with them."""

from __future__ import annotations

import pytest

from tests.support.contests import make_contest
from tests.support.doors import Door
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk


@pytest.fixture
def empty(tmp_path):
    """Return the console of an event of two teams, without operators."""
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        event = Event(contest, desk, meter)
        event.register("ants", "bees")
        event.clock = clock
        yield Door(event)
    contest.database.close()


@pytest.fixture
def door(empty):
    """Return that console with an operator 'Kim' and an assistant 'Sam'."""
    empty.register("Kim", "operator")
    empty.register("Sam", "assistant")
    return empty
