# SPDX-License-Identifier: Apache-2.0
"""A contest that takes classifiers, on a fake clock."""

from __future__ import annotations

import pytest

from tests.store.conftest import opened
from tests.support.contests import make_contest, put_empty_database
from tests.support.fakes import FakeClock
from tests.support.ovic_contests import make_intake, make_ovic_contest


@pytest.fixture
def clock():
    """Return a clock that stands still."""
    return FakeClock()


@pytest.fixture
def contest(tmp_path, clock):
    """Return a rehearsal that takes two entries a day of 1 MB at most, and tries three times."""
    contest = make_ovic_contest(tmp_path, clock, entries_a_day=2, model_mb=1)
    yield contest
    contest.database.close()


@pytest.fixture
def intake(contest):
    """Return its intake."""
    return make_intake(contest)


@pytest.fixture
def event(tmp_path, clock):
    """Return an event that takes no models."""
    contest = make_contest(tmp_path, clock, mode="event", seconds=600)
    yield contest
    contest.database.close()


@pytest.fixture
def practice(tmp_path, clock):
    """Return a rehearsal that takes no models."""
    contest = make_contest(tmp_path, clock, mode="practice", seconds=600)
    yield contest
    contest.database.close()


@pytest.fixture
def database(tmp_path):
    """Return an empty database with its schema."""
    put_empty_database(tmp_path / "referee.db")
    with opened(tmp_path / "referee.db") as database:
        yield database
