# SPDX-License-Identifier: Apache-2.0
"""What a console asks of a running session again and again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.store.answers import insert_answer
from referee.store.requests import Request, insert_requests
from referee.store.watching import RecentTraffic, recent_traffic
from tests.store.conftest import answer, new_session


def test_recent_traffic_begins_behind_its_moment(database):
    """What came at the very moment belongs to the time before, so no image counts twice."""
    session = new_session(database)
    sent = Request(session, 10.0, "then", "GET", "/image", 200, 3, 2, 0, 9, 0.5, "::1")
    with database.write() as connection:
        insert_requests(connection, [sent, replace(sent, elapsed_s=10.5, image_count=1)])
        insert_answer(connection, replace(answer(session), elapsed_s=10.0))
        insert_answer(connection, replace(answer(session), elapsed_s=10.5))
    assert RecentTraffic(1, 1, 10.5, 10.0, 10.0) == recent_traffic(
        database.connection, session, 10.0
    )
    assert RecentTraffic(0, 0, 10.5, 10.5, 10.5) == recent_traffic(
        database.connection, session, 10.5
    )


def test_no_traffic_is_no_request(database):
    """Before the first request there is no moment of it."""
    session = new_session(database)
    assert RecentTraffic(0, 0, None, 0.0, 0.0) == recent_traffic(database.connection, session, 0.0)


def test_the_traffic_of_a_quick_client_counts_from_where_the_rows_begin(database):
    """400 images a second are 4000 in ten seconds, and a thousand rows are the last 2.5 s."""
    session = new_session(database)
    sent = Request(session, 10.0, "then", "GET", "/image", 200, 3, 1, 0, 9, 0.5, "::1")
    with database.write() as connection:
        insert_requests(connection, [replace(sent, elapsed_s=n / 400) for n in range(4001)])
    told = recent_traffic(database.connection, session, 0.0)
    assert (999, 0.0) == (told.images, told.answers_since_s)
    assert pytest.approx(400) == told.images / (told.last_request_s - told.images_since_s)
