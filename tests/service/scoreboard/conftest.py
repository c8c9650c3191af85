# SPDX-License-Identifier: Apache-2.0
"""An event whose sessions run on a real desk, and its publisher."""

from __future__ import annotations

import pytest

from referee.service.scoreboard.publisher import Publisher
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeMeter, running_desk


@pytest.fixture
def event(tmp_path, clock):
    """Return an event of eight images without teams; its `publisher` makes snapshots."""
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        found = Event(contest, desk, meter)
        found.publisher = Publisher(contest)
        yield found
    contest.database.close()
