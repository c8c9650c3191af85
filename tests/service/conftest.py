# SPDX-License-Identifier: Apache-2.0
"""Contests on a fake clock."""

from __future__ import annotations

import pytest

from tests.support.contests import make_contest
from tests.support.fakes import FakeClock, FakeMeter, running_desk


@pytest.fixture
def clock():
    """Return a clock that stands still."""
    return FakeClock()


@pytest.fixture
def contest(tmp_path, clock):
    """Return a contest of four images that teams play as an event of 600 s."""
    contest = make_contest(tmp_path, clock, mode="event", seconds=600)
    yield contest
    contest.database.close()


@pytest.fixture
def practice(tmp_path, clock):
    """Return a rehearsal of four images and 600 s."""
    contest = make_contest(tmp_path, clock, mode="practice", seconds=600)
    yield contest
    contest.database.close()


@pytest.fixture
def meter(clock):
    """Return a meter in memory on the same clock."""
    return FakeMeter(clock)


@pytest.fixture
def desk(contest, meter):
    """Return a running control desk of the event."""
    with running_desk(contest, meter) as desk:
        yield desk
