# SPDX-License-Identifier: Apache-2.0
"""An event whose sessions run on a real desk, with a meter and a clock in memory."""

from __future__ import annotations

import pytest

from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeMeter, running_desk

IMAGES = 8


@pytest.fixture
def event(tmp_path, clock):
    """Return an event of eight images without teams."""
    contest = make_contest(tmp_path, clock, images=IMAGES, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        yield Event(contest, desk, meter)
    contest.database.close()
