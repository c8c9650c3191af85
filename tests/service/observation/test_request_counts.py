# SPDX-License-Identifier: Apache-2.0
"""The counts of requests grow by the new rows only, and are those of all rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.service.observation.request_counts import RequestCounts
from referee.store.requests import BUCKETS_S, Request, insert_requests
from referee.store.sessions import create_session
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock

ONE = Request(1, 1.0, "", "GET", "/image", 200, 1, 1, 10, 1000, 0.02, "10.0.0.2")


def contest_of(tmp_path):
    """Return a contest with two sessions in two lanes."""
    contest = make_contest(tmp_path, FakeClock(), mode="event")
    with contest.database.write() as connection:
        for lane in (1, 2):
            now = contest.clock.now()
            create_session(
                connection, team=f"team {lane}", length_s=60.0, order_seed=None, now=now, lane=lane
            )
    return contest


def test_counts_grow_by_what_is_new(tmp_path):
    """A second look adds the rows since the first, by lane and status; a third adds nothing."""
    contest = contest_of(tmp_path)
    counts = RequestCounts(contest)
    assert [] == counts.now()
    store(contest, [ONE, replace(ONE, duration_s=0.3), replace(ONE, status=500, session_id=2)])
    first = counts.now()
    assert [(1, 200, 2), (2, 500, 1)] == [(it.lane, it.status, it.requests) for it in first]
    store(contest, [ONE])
    second = counts.now()
    assert [3, 1] == [it.requests for it in second]
    assert second == counts.now()
    # SQLite rounds its own sum of the durations otherwise than Python adds them up.
    anew = RequestCounts(contest).now()
    assert [it.duration_s for it in anew] == pytest.approx([it.duration_s for it in second])
    assert [replace(it, duration_s=0.0) for it in anew] == [
        replace(it, duration_s=0.0) for it in second
    ]
    within = dict(zip(BUCKETS_S, second[0].within, strict=True))
    assert (0, 2, 2, 3) == (within[0.01], within[0.025], within[0.25], within[0.5])
    contest.database.close()


def store(contest, rows):
    """Store requests."""
    with contest.database.write() as connection:
        insert_requests(connection, rows)
