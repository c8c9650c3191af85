# SPDX-License-Identifier: Apache-2.0
"""The report of a rehearsal counts what the contestant's program did."""

from __future__ import annotations

import pytest

from referee.core.detections import Detections
from referee.service.results.rehearsal import rehearsal_report
from referee.service.results.rehearsal_text import rehearsal_text
from referee.service.setup.contest import read_contest_truth
from referee.store.answers import Answer, insert_answer
from referee.store.requests import Request, insert_requests
from referee.store.sessions import create_session, record_event

ROWS = [
    (1, 1, 0.9, 1, 2, 10, 11),
    (1, 1, 0.8, 1, 2, 10, 11),
    (2, 1, 0.7, -3, 2, 11, 11),
    (2, 9, 0.6, 1, 2, 10, 11),
    (3, 1, 0.5, 40, 2, 10, 11),
    (99, 1, 0.4, 1, 2, 10, 11),
]


@pytest.fixture
def report(practice, clock):
    """Return the report of a session with a few requests and odd rows."""
    now = clock.now()
    with practice.database.write() as connection:
        session_id = create_session(connection, team="me", length_s=600.0, order_seed=None, now=now)
        for kind in ("armed", "started"):
            record_event(connection, session_id, kind, now, actor="me")
        requests = [
            Request(
                *(session_id, at_s, now.utc.isoformat(), "GET", "/image", 200),
                *(number, 1 if number else 0, 0, 1000, took_s, "10.0.0.2"),
            )
            for number, (at_s, took_s) in enumerate([(-1.0, 3.0), (5.0, 0.25), (599.0, 0.5)])
        ]
        insert_requests(connection, requests)
        insert_answer(
            connection,
            Answer(
                session_id,
                6.0,
                now.utc.isoformat(),
                False,
                "csv",
                "",
                3,
                Detections.from_rows(ROWS),
            ),
        )
    return rehearsal_report(practice, read_contest_truth(practice), session_id)


def test_requests_are_counted_from_the_start(report):
    """The login, which waits for the meter, is no time lost in the session."""
    assert (report.requests, report.waited_s, report.slowest_s) == (2, 0.75, 0.5)
    assert report.status.images_fetched == 2


def test_rates_are_of_each_tenth(report):
    """Images a second in each tenth of the session."""
    assert report.rates == (1 / 60, *[0.0] * 8, 1 / 60)


def test_odd_rows_are_counted_by_kind(report):
    """Boxes beyond the image, inverted and repeated ones, and rows that can never match."""
    assert (report.outside, report.inverted, report.duplicates) == (1, 1, 1)
    assert report.never_match == {
        "class out of range": 1,
        "inverted box": 1,
        "unknown image": 1,
    }
    assert report.per_class == {1: 5, 9: 1}
    assert report.images_answered == 3


def test_text_names_every_figure(report, practice):
    """The contestant reads counts, rates, classes and reasons."""
    text = rehearsal_text(report, practice.classes)
    for words in (
        "2 of 4 fetched, 3 answered",
        "0.75 s for the referee in 2 requests",
        "cat 5, class 9 1",
        "1 reach beyond their image, 1 inverted, 1 repeated",
        "never match 3: ",
    ):
        assert words in text
