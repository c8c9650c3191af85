# SPDX-License-Identifier: Apache-2.0
"""The normalised accuracy divides by the images answered, in sessions and in files alike."""

from __future__ import annotations

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.scoring.score_report import energy_report, images_with_detections
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.verify import verify_bundle
from referee.service.results.final_score import compute_run, score_session
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.session_images import order_of
from referee.store.answers import insert_empty_answer
from referee.store.readings import energy_of
from referee.store.requests import Request, insert_requests
from referee.store.scores import insert_scoring_run, newest_scoring_run
from referee.store.sessions import load_session
from tests.service.results.test_scoring_runs import IMAGES, answer, begin, end, good, judge
from tests.service.results.test_scoring_runs import contest as contest
from tests.service.results.test_scoring_runs import truth as truth
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play


def fetch(contest, session, first, count):
    """Note that so many images were sent."""
    row = (session.session_id, 1.0, "", "GET", "/zipimages", 200, first, count, 0, 9, 0.1, "::1")
    with contest.database.write() as connection:
        insert_requests(connection, [Request(*row)])


def say_nothing_in(contest, session, numbers, late=False):
    """Store an empty answer for these images."""
    answer(contest, session, Detections.from_rows([]), late)
    with contest.database.write() as connection:
        (number,) = connection.execute("select max(answer_id) from answers").fetchone()
        insert_empty_answer(connection, session.session_id, number, numbers)


@pytest.mark.parametrize("fetched", [[(1, 1), (2, 1), (3, 1)], [(1, IMAGES)], []])
@pytest.mark.parametrize("seed", [None, 2**63])
def test_how_images_were_fetched_changes_nothing(contest, truth, fetched, seed):
    """Perfect answers for three images give one figure, fetched singly, by archive, or before."""
    session = begin(contest, seed)
    for first, count in fetched:
        fetch(contest, session, first, count)
    order = order_of(IMAGES, seed)
    answer(contest, session, good([1, 2, 3], order, share=1))
    end(contest, session)
    detail = score_session(contest, truth, session, judge(contest, session)).detail
    assert (3, 3) == (detail["images_answered"], detail["images_processed"])
    assert sum(count for _, count in fetched) == detail["images_fetched"]
    assert pytest.approx(1.0) == detail["normalized_accuracy"]


def test_an_empty_answer_counts_for_the_images_that_it_names(contest, truth):
    """One that names none counts for none, a late one for none, and each image once."""
    session = begin(contest, 5)
    order = order_of(IMAGES, 5)
    answer(contest, session, good([1, 2], order, share=1))
    answer(contest, session, Detections.from_rows([]))
    say_nothing_in(contest, session, [2, 7, 8])
    say_nothing_in(contest, session, [8])
    say_nothing_in(contest, session, [9], late=True)
    end(contest, session)
    detail = score_session(contest, truth, session, judge(contest, session)).detail
    assert 4 == detail["images_answered"]
    assert pytest.approx(0.5) == detail["normalized_accuracy"]


def test_images_that_do_not_exist_are_not_answered(contest, truth):
    """A row of image 0 or of one behind the last belongs to no image."""
    session = begin(contest)
    rows = [(number, 1, 0.5, 1, 2, 10, 11) for number in (0, 1, IMAGES + 1, -1)]
    answer(contest, session, Detections.from_rows(rows))
    end(contest, session)
    detail = score_session(contest, truth, session, judge(contest, session)).detail
    assert 1 == detail["images_answered"]


def test_a_file_has_the_same_figure(contest, truth):
    """The detections of a session, scored as a file, give its normalised accuracy."""
    session = begin(contest)
    detections = good([1, 2, 3, 4], order_of(IMAGES, None), share=0.5)
    answer(contest, session, detections)
    fetch(contest, session, 1, IMAGES)
    end(contest, session)
    detail = score_session(contest, truth, session, judge(contest, session)).detail
    answered = images_with_detections(np.asarray(detections.image_id), truth)
    of_file = energy_report(detail["mean_ap"], detail["images"], 2.0, answered)
    assert of_file == {name: detail[name] for name in of_file}


def _played(folder):
    """Return a contest with a session that answered nothing in one image, and the session."""
    contest = make_contest(folder, FakeClock(), mode="event", seconds=20)
    number = play(contest, to=2)
    with contest.database.write() as connection:
        insert_empty_answer(connection, number, 3, [2])
    session = load_session(contest.database.connection, number)
    energy = energy_of(contest.database.connection, number)
    score_session(contest, read_contest_truth(contest), session, energy)
    return contest, session


def test_a_bundle_proves_its_empty_answers(tmp_path):
    """They are facts of the session, so the count comes out again."""
    contest, session = _played(tmp_path)
    write_bundle(contest, session.session_id, tmp_path / "bundle.zip")
    contest.database.close()
    assert [] == verify_bundle(tmp_path / "bundle.zip", tmp_path / "truth.json")


def test_a_score_of_an_early_version_holds(tmp_path):
    """Its normalised accuracy counts images fetched, and it does not say how many were answered."""
    contest, session = _played(tmp_path)
    energy = energy_of(contest.database.connection, session.session_id)
    run = compute_run(contest, read_contest_truth(contest), session, energy)
    early = {name: value for name, value in run.detail.items() if name != "images_answered"}
    newest = newest_scoring_run(contest.database.connection, session.session_id)
    early["inputs"] = newest.detail.get("inputs")
    for name, processed, holds in (("good", early["images_fetched"], True), ("bad", 1, False)):
        early["images_processed"] = processed
        early["normalized_accuracy"] = early["mean_ap"] * early["images"] / processed
        stored = type(run)(run.upto_answer_id, run.energy_id, run.accuracy, run.score, dict(early))
        if early["inputs"] is None:
            stored.detail.pop("inputs")
        with contest.database.write() as connection:
            insert_scoring_run(connection, session.session_id, contest.clock.now(), stored)
        write_bundle(contest, session.session_id, tmp_path / f"{name}.zip")
        found = verify_bundle(tmp_path / f"{name}.zip", tmp_path / "truth.json")
        assert holds == (not found)
    contest.database.close()
