# SPDX-License-Identifier: Apache-2.0
"""The report of a rehearsal counts the actions of the contestant's program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.core.detections import Detections, pack
from referee.formats.answer_formats import all_formats
from referee.service.results.final_score import score_session
from referee.service.results.rehearsal import rehearsal_report
from referee.service.results.rehearsal_text import rehearsal_text
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.session_images import order_of
from referee.store.answers import Answer, insert_answer
from referee.store.readings import energy_of, insert_energy
from referee.store.requests import Request, insert_refused_answers, insert_requests
from referee.store.sessions import create_session, load_session, record_event
from referee.store.unused_fields import insert_unused_fields
from referee.tracks.track import Remarks
from tests.support.contests import make_contest

ROWS = [
    (1, 1, 0.9, 1, 2, 10, 11),
    (1, 1, 0.8, 1, 2, 10, 11),
    (2, 1, 0.7, -3, 2, 11, 11),
    (2, 9, 0.6, 1, 2, 10, 11),
    (3, 1, 0.5, 40, 2, 10, 11),
    (99, 1, 0.4, 1, 2, 10, 11),
]


IMAGES = 20
RIGHT = Detections.from_rows([(n, 1, 0.9 - n / 100, n, 2, n + 9, 11) for n in range(1, IMAGES + 1)])


@pytest.fixture
def larger(tmp_path, clock):
    """Return a rehearsal with so many images that answers in another order are wrong."""
    contest = make_contest(tmp_path, clock, images=IMAGES, mode="practice", seconds=600)
    yield contest
    contest.database.close()


def begin(contest, seed=None):
    """Make a session that runs from now on."""
    now = contest.clock.now()
    with contest.database.write() as connection:
        session_id = create_session(connection, team="me", length_s=600.0, order_seed=seed, now=now)
        for kind in ("armed", "started"):
            record_event(connection, session_id, kind, now, actor="me")
    return session_id


def fetch(contest, session_id, *moments):
    """Store a request for an image at each of (second, how long it took)."""
    requests = [
        Request(
            *(session_id, at_s, "then", "GET", "/image", 200),
            *(number, 1 if number else 0, 0, 1000, took_s, "10.0.0.2"),
        )
        for number, (at_s, took_s) in enumerate(moments)
    ]
    with contest.database.write() as connection:
        insert_requests(connection, requests)


def answer(contest, session_id, detections, form="csv", late=False):
    """Store an answer."""
    row = Answer(session_id, 6.0, "then", late, form, "", len(detections), 0, pack(detections))
    with contest.database.write() as connection:
        insert_answer(connection, row)


def score(contest, session_id):
    """Judge an energy and score the session with it."""
    connection = contest.database.connection
    with contest.database.write() as writer:
        insert_energy(
            writer,
            session_id,
            utc="",
            energy_wh=1.0,
            uncertainty_wh=None,
            verdict="VALID",
            detail={"reasons": []},
        )
    session, energy = load_session(connection, session_id), energy_of(connection, session_id)
    score_session(contest, read_contest_truth(contest), session, energy)


def log_out(contest, session_id, after_s):
    """End the session this many seconds later."""
    contest.clock.advance(after_s)
    with contest.database.write() as connection:
        record_event(
            connection, session_id, "ended", contest.clock.now(), actor="me", cause="logout"
        )


def report_of(contest, session_id):
    """Return the session's report."""
    return rehearsal_report(contest, read_contest_truth(contest), session_id)


@pytest.fixture
def report(practice):
    """Return the report of a session with a few requests and odd rows."""
    session_id = begin(practice)
    fetch(practice, session_id, (-1.0, 3.0), (5.0, 0.25), (599.0, 0.5))
    answer(practice, session_id, Detections.from_rows(ROWS))
    return report_of(practice, session_id)


def test_requests_are_counted_from_the_start(report):
    """The wait between login and start does not count as lost time."""
    assert (report.requests, report.waited_s, report.slowest_s) == (2, 0.75, 0.5)
    assert report.images_fetched == 2


def test_rates_are_of_each_tenth(report):
    """The report gives images per second in each tenth of the session."""
    assert report.rates == (1 / 60, *[0.0] * 8, 1 / 60)


def test_an_early_logout_shortens_the_session(practice):
    """Rates and shares refer to the actual length of the session, not its full length."""
    session_id = begin(practice)
    fetch(practice, session_id, (-1.0, 3.0), (0.5, 0.5), (3.5, 0.5))
    log_out(practice, session_id, 4.0)
    answer(practice, session_id, Detections.from_rows(ROWS), late=True)
    report = report_of(practice, session_id)
    assert report.session_s == 4.0
    assert (0,) * 10 == report.row_rates, "what came after the end is no rate of it"
    assert report.rates == (0, 1 / 0.4, 0, 0, 0, 0, 0, 0, 1 / 0.4, 0)
    text = rehearsal_text(report)
    assert "for 'me', 4.0 s long" in text
    assert "1.00 s for the referee in 2 requests (25.0 % of the session)" in text


@pytest.mark.parametrize(("after_s", "session_s"), [(0.0, 0.001), (600.0, 600.0), (601.5, 600.0)])
def test_length_of_a_session_at_its_edges(practice, after_s, session_s):
    """A late record of the end adds no time, and an immediate end divides nothing by zero."""
    session_id = begin(practice)
    log_out(practice, session_id, after_s)
    assert report_of(practice, session_id).session_s == session_s


@pytest.mark.parametrize("name", [one.name for one in all_formats() if one.coco_boxes])
def test_a_mistake_is_told_with_the_score_without_it(larger, name):
    """The report recognises fractions in COCO boxes, because it knows the form of the boxes."""
    session_id = begin(larger)
    corner = RIGHT.box[:, :2] / [32, 24]
    size = np.broadcast_to([10 / 32, 10 / 24], corner.shape)
    box = np.concatenate([corner, corner + size - 1], axis=1)
    answer(larger, session_id, replace(RIGHT, box=box), name)
    log_out(larger, session_id, 5.0)
    score(larger, session_id)
    text = rehearsal_text(report_of(larger, session_id))
    assert "  WARNING     The boxes are fractions of the image. Multiply x by its width" in text
    assert "  WARNING     Repaired, the mAP is 1.0000, not 0.0000." in text
    assert text.count("WARNING") == 2


def test_numbers_are_those_that_the_session_showed(larger):
    """The report accepts answers under a shuffled session's numbers, and recognises stored ones."""
    order = order_of(IMAGES, 7)
    straight = begin(larger, 7)
    answer(larger, straight, RIGHT)
    log_out(larger, straight, 1.0)
    shown = begin(larger, 7)
    answer(larger, shown, RIGHT.with_image_ids(np.argsort(order)[RIGHT.image_id - 1] + 1))
    (warning,) = report_of(larger, straight).remarks.warnings
    assert warning.startswith("The answers follow the order of the ground truth")
    assert () == report_of(larger, shown).remarks.warnings


def test_late_answers_are_no_evidence(practice):
    """A late answer counts as late, and supports no other conclusion."""
    session_id = begin(practice)
    answer(practice, session_id, Detections.from_rows(ROWS), late=True)
    report = report_of(practice, session_id)
    assert (report.answers.late_answers, report.never_match) == (1, {})
    assert report.remarks.images_answered == 0
    assert report.remarks.warnings == ()


def test_rows_that_never_match_are_counted_by_reason(report):
    """Rows that can never match are counted under the receipt's reason."""
    assert report.never_match == {
        "class out of range": 1,
        "inverted box": 1,
        "unknown image": 1,
    }


def test_a_track_without_remarks(report):
    """The general lines remain for a track without remarks on its answers."""
    text = rehearsal_text(replace(report, remarks=Remarks()))
    assert "  images      2 of 4 fetched\n" in text
    assert "boxes" not in text


def test_text_names_every_figure(report):
    """The text shows the contestant counts, rates, classes and reasons."""
    text = rehearsal_text(report)
    for words in (
        "2 of 4 fetched, 3 answered",
        "0.75 s for the referee in 2 requests",
        "cat 5, class 9 1",
        "1 reach beyond their image, 1 inverted, 1 repeated",
        "answers     1, late 0, refused 0",
        "never match 3: ",
    ):
        assert words in text


def refuse(contest, session_id, *reasons):
    """Store answers that were refused in these words."""
    with contest.database.write() as connection:
        insert_refused_answers(connection, [(session_id, reason) for reason in reasons])


def test_refused_answers_are_counted_with_the_commonest_reason(practice):
    """Refusals with the same status are told apart, and numbers and cells make no other reason."""
    session_id = begin(practice)
    fetch(practice, session_id, (0.5, 0.1))
    refuse(
        practice,
        session_id,
        *[f"Nothing was stored: row {n}: xmin 'x;{n}' is not a number." for n in range(1, 31)],
        *[f"Nothing was stored: xmax has {n} values and image_name has 4; more" for n in range(40)],
        *[f'Nothing was stored: row {n}, image_id: "{n}" is not a whole number.' for n in "123"],
    )
    text = rehearsal_text(report_of(practice, session_id))
    assert "  answers     0, late 0, refused 73\n" in text
    assert (
        "WARNING     Refused: 73 answers for 3 reasons, 40 of them for this: xmax has 0 values and "
        "image_name has 4; more. Nothing of refused answers was stored."
    ) in text
    assert "no detection was sent" not in text


def test_one_refused_answer_is_told_with_its_reason(practice):
    """A reason that stands alone is told without a count."""
    session_id = begin(practice)
    refuse(practice, session_id, "Nothing was stored: row 1 is not an object.")
    text = rehearsal_text(report_of(practice, session_id))
    assert "WARNING     Refused: 1 answer: row 1 is not an object. Nothing of" in text


def test_fields_of_refused_forms_are_named(practice):
    """The report counts the forms of which nothing was used, and names each field once."""
    session_id = begin(practice)
    fetch(practice, session_id, (0.5, 0.1))
    refuse(practice, session_id, *["Nothing was stored: 'image_name' is missing."] * 3)
    posts = [[("image_name[]", "brackets"), ("file", "file")], [("image_name[]", "brackets")]]
    many = [(f"f{n}", "unknown") for n in range(9)]
    with practice.database.write() as connection:
        insert_unused_fields(connection, [(session_id, fields) for fields in (*posts, many)])
    text = rehearsal_text(report_of(practice, session_id))
    assert (
        "WARNING     Fields that are not an answer's came in 3 answers: 'image_name[]', 'file' "
        "(a file part), 'f0', 'f1', 'f2', 'f3', 'f4', 'f5' and 3 more. A form's fields are image_"
    ) in text
    assert "no detection was sent" not in text


def test_answers_without_a_row_are_told(practice):
    """A program that posts nothing but its token is told so, unless other answers have rows."""
    session_id = begin(practice)
    fetch(practice, session_id, (0.5, 0.1))
    for _ in range(2):
        answer(practice, session_id, Detections.empty(), "form")
    text = rehearsal_text(report_of(practice, session_id))
    assert "WARNING     2 answers have no row, and no detection was stored." in text
    answer(practice, session_id, RIGHT)
    assert "no row" not in rehearsal_text(report_of(practice, session_id))


def test_late_answers_are_warned_of_and_are_not_refused(practice):
    """A late answer is stored: the report counts it as late, and says that it does not count."""
    session_id = begin(practice)
    answer(practice, session_id, Detections.from_rows(ROWS), late=True)
    text = rehearsal_text(report_of(practice, session_id))
    assert "late 1, refused 0" in text
    assert "WARNING     1 answer came after the session's end and does not count." in text


def test_requests_at_the_same_time_are_waited_for_once(practice):
    """Connections that wait together wait no longer than the session lasts."""
    session_id = begin(practice)
    fetch(practice, session_id, *[(1.0, 2.0)] * 5, (2.0, 2.0), (9.0, 5.0))
    log_out(practice, session_id, 10.0)
    text = rehearsal_text(report_of(practice, session_id))
    assert "4.00 s for the referee in 7 requests (40.0 % of the session), 5000 ms at most" in text


def test_rates_are_plain_numbers(practice):
    """Images are counted where they were fetched, rows where they were answered, both plainly."""
    session_id = begin(practice)
    fetch(practice, session_id, *[(0.001, 0.0)] * 1051)
    log_out(practice, session_id, 10.0)
    answer(practice, session_id, Detections.from_rows(ROWS))
    text = rehearsal_text(report_of(practice, session_id))
    assert "images/s    1050 0 0 0 0 0 0 0 0 0  (fetched" in text
    assert "rows/s      0 0 0 0 0 0 6 0 0 0  (answered" in text
