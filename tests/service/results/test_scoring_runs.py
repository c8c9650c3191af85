# SPDX-License-Identifier: Apache-2.0
"""The live score and the scoring runs use the same code and rows, and give the same number."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from referee.core.detections import Detections, pack
from referee.core.instant import shifted
from referee.errors import Unavailable
from referee.scoring.ilsvrc import evaluate
from referee.service.results import final_score
from referee.service.results.final_score import score_session, scored_answer
from referee.service.results.live_scorer import LiveScorer
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.session_images import order_of
from referee.store.answers import Answer, insert_answer
from referee.store.readings import energy_of, insert_energy
from referee.store.scores import newest_scoring_run, newest_snapshot
from referee.store.sessions import create_session, load_session, record_event
from tests.support.contests import make_contest
from tests.support.fakes import eventually

IMAGES = 12


@pytest.fixture
def contest(tmp_path, clock):
    """Return a contest of twelve images."""
    contest = make_contest(tmp_path, clock, images=IMAGES, mode="event", seconds=600)
    yield contest
    contest.database.close()


@pytest.fixture
def truth(contest):
    """Return the contest's ground truth: image k has one box at xmin = k."""
    return read_contest_truth(contest)


def begin(contest, seed=None, lane=1):
    """Make a running session with this order, started now."""
    now = contest.clock.now()
    with contest.database.write() as connection:
        session_id = create_session(
            connection, team="ants", length_s=600.0, order_seed=seed, now=now, lane=lane
        )
        for kind in ("armed", "started"):
            record_event(connection, session_id, kind, now, actor="x")
    return load_session(contest.database.connection, session_id)


def end(contest, session):
    """End the session now."""
    with contest.database.write() as connection:
        record_event(
            connection,
            session.session_id,
            "ended",
            contest.clock.now(),
            actor="x",
            cause="stop",
        )


def answer(contest, session, detections, late=False):
    """Store one answer."""
    with contest.database.write() as connection:
        row = Answer(
            session.session_id, 1.0, "", late, "form", "", len(detections), 0, pack(detections)
        )
        insert_answer(connection, row)


def judge(contest, session, energy_wh=2.0, verdict="VALID", **detail):
    """Store an energy, and return it."""
    with contest.database.write() as connection:
        insert_energy(
            connection,
            session.session_id,
            utc="",
            energy_wh=energy_wh,
            uncertainty_wh=0.01,
            verdict=verdict,
            detail={"reasons": ["because"]} | detail,
        )
    return energy_of(contest.database.connection, session.session_id)


def run_of(contest, session):
    """Return the newest scoring run."""
    return newest_scoring_run(contest.database.connection, session.session_id)


def rows_of_runs(contest):
    """Count the scoring runs."""
    return contest.database.connection.execute("select count(*) from scoring_runs").fetchone()[0]


def good(numbers, order, share=0.5):
    """Return detections of these shown numbers; a given share of them is right."""
    rows = []
    for place, number in enumerate(numbers):
        image_id = int(order[number - 1])
        right = place % 10 < 10 * share
        # COCO's [x, 2, 10, 10] with inclusive corners; annotation k belongs to image k.
        box = (image_id, 2, image_id + 9, 11) if right else (20, 15, 25, 20)
        rows.append((number, 1, 1.0 - place / 100, *box))
    return Detections.from_rows(rows)


@pytest.mark.parametrize(
    ("detail", "emulated"), [({}, False), ({"emulated": False}, False), ({"emulated": True}, True)]
)
def test_score_of_an_emulated_meter_says_so(contest, truth, detail, emulated):
    """A score says whether an emulator measured its energy, as its bundle and report do."""
    session = begin(contest)
    end(contest, session)
    run = score_session(contest, truth, session, judge(contest, session, **detail))
    assert emulated is run.detail["emulated"]


@pytest.mark.parametrize("seed", [None, 99])
@pytest.mark.parametrize("split", [1, 2, 5, 12])
def test_run_equals_evaluating_everything(contest, truth, seed, split):
    """The score covers all rows, in any order of answers and images."""
    session = begin(contest, seed)
    order = order_of(IMAGES, seed)
    posted = good(range(1, IMAGES + 1), order)
    for part in np.array_split(np.arange(IMAGES), split):
        answer(contest, session, posted.select(part))
    end(contest, session)
    run = score_session(contest, truth, session, judge(contest, session))
    expected = evaluate(truth, posted.with_image_ids(order[posted.image_id - 1])).mean_ap
    assert expected == run.accuracy
    assert 0 < expected < 1
    assert expected / 2.0 == run.score
    assert run == run_of(contest, session)


def test_live_score_is_the_final_score(contest, truth):
    """After each answer the snapshot equals the score of the answers so far, bit for bit."""
    session = begin(contest, 99)
    scorer = LiveScorer(contest)
    order = order_of(IMAGES, 99)
    everything = []
    for number in range(1, IMAGES + 1):
        part = good([number], order, share=number % 2)
        everything.append(part)
        answer(contest, session, part)
        scorer.look()
        snapshot = newest_snapshot(contest.database.connection, session.session_id)
        posted = Detections.concatenate(everything)
        expected = evaluate(truth, posted.with_image_ids(order[posted.image_id - 1]))
        assert (expected.mean_ap, number) == (snapshot.accuracy, snapshot.detection_count)
    end(contest, session)
    judge(contest, session)
    scorer.look()
    assert snapshot.accuracy == run_of(contest, session).accuracy


def test_scorer_that_was_restarted_goes_on(contest, truth):
    """A restarted scorer reads the stored answers and reaches the same snapshot."""
    session = begin(contest)
    order = order_of(IMAGES, None)
    first = LiveScorer(contest)
    answer(contest, session, good([1, 2, 3], order))
    first.look()
    answer(contest, session, good([4, 5], order))
    LiveScorer(contest).look()
    restarted = newest_snapshot(contest.database.connection, session.session_id)
    first.look()
    assert restarted == newest_snapshot(contest.database.connection, session.session_id)
    assert 5 == restarted.detection_count


def test_sessions_of_two_lanes_are_followed_at_the_same_time(contest, truth):
    """Each running session keeps its own score, and a look only adds new answers."""
    sessions = [begin(contest, lane=lane) for lane in (1, 2)]
    scorer = LiveScorer(contest)
    order = order_of(IMAGES, None)
    for number in (1, 2, 3):
        for session in sessions:
            answer(contest, session, good([number], order, share=session.lane - 1))
        scorer.look()
        scorer.look()
    connection = contest.database.connection
    wrong, right = (newest_snapshot(connection, session.session_id) for session in sessions)
    assert (3, 3) == (wrong.detection_count, right.detection_count)
    assert 0.0 == wrong.accuracy < right.accuracy
    count = connection.execute("select count(*) from score_snapshots").fetchone()[0]
    assert 6 == count


def test_a_snapshot_that_could_not_be_stored_is_stored_later(contest, truth, monkeypatch):
    """A full disk loses no live score: the next look stores it without a new answer."""
    session = begin(contest)
    scorer = LiveScorer(contest)
    answer(contest, session, good([1], order_of(IMAGES, None)))
    with monkeypatch.context() as broken:
        broken.setattr(contest.database, "write", full)
        with pytest.raises(Unavailable):
            scorer.look()
    scorer.look()
    assert 1 == newest_snapshot(contest.database.connection, session.session_id).detection_count


def full():
    """Refuse to write."""
    raise Unavailable("The disk is full.")


def test_nothing_new_makes_no_snapshot(contest, truth):
    """A look without a new answer adds no row."""
    session = begin(contest)
    scorer = LiveScorer(contest)
    answer(contest, session, good([1], order_of(IMAGES, None)))
    for _ in range(3):
        scorer.look()
    count = "select count(*) from score_snapshots"
    assert 1 == contest.database.connection.execute(count).fetchone()[0]


def test_late_answers_are_never_scored(contest, truth):
    """A late answer changes neither the snapshot nor the run, and makes no new run."""
    session = begin(contest)
    scorer = LiveScorer(contest)
    order = order_of(IMAGES, None)
    answer(contest, session, good([1], order, share=1))
    scorer.look()
    before = newest_snapshot(contest.database.connection, session.session_id).accuracy
    answer(contest, session, good([2, 3], order, share=1), late=True)
    scorer.look()
    assert before == newest_snapshot(contest.database.connection, session.session_id).accuracy
    end(contest, session)
    judge(contest, session)
    scorer.look()
    run = run_of(contest, session)
    assert (before, 1) == (run.accuracy, run.detail["detections"])
    answer(contest, session, good([4], order, share=1), late=True)
    scorer.look()
    assert 1 == rows_of_runs(contest)


def test_an_ended_session_waits_for_its_energy(contest, truth):
    """A session gets a single run, and only once its energy is judged."""
    session = begin(contest)
    scorer = LiveScorer(contest)
    answer(contest, session, good([1], order_of(IMAGES, None)))
    end(contest, session)
    scorer.look()
    assert run_of(contest, session) is None
    judge(contest, session)
    scorer.look()
    scorer.look()
    assert 1 == rows_of_runs(contest)
    assert load_session(contest.database.connection, session.session_id).facts.scored


@pytest.mark.parametrize("what", ["answer", "energy"])
def test_a_fact_that_came_later_makes_a_new_run(contest, truth, what):
    """A new energy, or a late-stored answer in time, makes another run."""
    session = begin(contest)
    scorer = LiveScorer(contest)
    order = order_of(IMAGES, None)
    answer(contest, session, good([1], order, share=1))
    end(contest, session)
    judge(contest, session)
    scorer.look()
    first = run_of(contest, session)
    if what == "answer":
        answer(contest, session, good([2], order, share=1))
    else:
        judge(contest, session, energy_wh=4.0)
    scorer.look()
    scorer.look()
    second = run_of(contest, session)
    assert 2 == rows_of_runs(contest)
    if what == "answer":
        assert second.accuracy > first.accuracy
    else:
        assert (first.accuracy, first.score / 2) == (second.accuracy, second.score)


@pytest.mark.parametrize("energy_wh", [None, 3.0])
def test_invalid_energy_gives_no_score(contest, truth, energy_wh):
    """An INVALID energy is shown with its reasons, and gives no score."""
    session = begin(contest)
    answer(contest, session, good([1], order_of(IMAGES, None), share=1))
    end(contest, session)
    run = score_session(contest, truth, session, judge(contest, session, energy_wh, "INVALID"))
    assert run.accuracy > 0
    assert (None, None, energy_wh) == (run.score, run.detail["score"], run.detail["energy_wh"])
    assert ("INVALID", ["because"]) == (run.detail["verdict"], run.detail["reasons"])


def test_report_names_its_session(contest, truth):
    """A score tells its session, its team, and every figure of the contract."""
    session = begin(contest)
    end(contest, session)
    detail = score_session(contest, truth, session, judge(contest, session)).detail
    wanted = {"metric", "mean_ap", "ap", "classes_with_ground_truth", "images", "detections"}
    wanted |= {"ignored", "energy_wh", "score", "normalized_accuracy", "verdict", "reasons"}
    assert set() == wanted - detail.keys()
    assert (session.session_id, "ants", 0) == (
        detail["session"],
        detail["team"],
        detail["images_fetched"],
    )


@pytest.mark.parametrize(
    ("energy_wh", "uncertainty_wh", "verdict", "told"),
    [
        (2.0, 0.02, "VALID", True),
        (2.0, 0.02, "INVALID", False),
        (2.0, None, "VALID", False),
        (0.02, 0.02, "VALID", False),
        (None, None, "INVALID", False),
    ],
)
def test_run_tells_the_intervals_of_mean_ap_and_score(
    contest, truth, energy_wh, uncertainty_wh, verdict, told
):
    """mAP has an interval; the score has one, with its parts, if its energy can carry one."""
    session = begin(contest)
    answer(contest, session, good(range(1, IMAGES + 1), order_of(IMAGES, None)))
    end(contest, session)
    energy = replace(judge(contest, session, energy_wh, verdict), uncertainty_wh=uncertainty_wh)
    run = score_session(contest, truth, session, energy)
    told_of = run.detail["uncertainty"]
    assert told_of["mean_ap"][0] < run.accuracy < told_of["mean_ap"][1]
    assert told == ("score" in told_of)
    if told:
        whole, images, energy_alone = (
            told_of[name] for name in ("score", "score_from_images", "score_from_energy")
        )
        assert whole[0] < images[0] < energy_alone[0] < run.score
        assert run.score < energy_alone[1] < images[1] < whole[1]
        # The meter's limit of error counts as a rectangular distribution (GUM 4.3.7).
        assert 0.02 / 3**0.5 == told_of["energy_uncertainty_wh"]
    assert run == run_of(contest, session)


@pytest.mark.parametrize(("boxes", "draws"), [(200_000_000, 100), (540, 45), (12, 20)])
def test_very_many_boxes_get_fewer_draws(contest, truth, monkeypatch, boxes, draws):
    """The draws look at a bounded number of boxes, so one session holds up no other's score."""
    monkeypatch.setattr(final_score, "_MOST_BOXES", boxes)
    session = begin(contest)
    answer(contest, session, good(range(1, IMAGES + 1), order_of(IMAGES, None)))
    end(contest, session)
    run = score_session(contest, truth, session, judge(contest, session))
    assert draws == run.detail["uncertainty"]["resamples"]


def test_session_without_answers(contest, truth):
    """A session without an answer has an mAP of 0, and no error."""
    session = begin(contest)
    scorer = LiveScorer(contest)
    scorer.look()
    assert 0.0 == newest_snapshot(contest.database.connection, session.session_id).accuracy
    end(contest, session)
    judge(contest, session)
    scorer.look()
    assert (0.0, 0.0) == (run_of(contest, session).accuracy, run_of(contest, session).score)


def test_unknown_numbers_are_counted_and_harmless(contest, truth):
    """Rows of images 0 and N+1 are counted, and lower nobody's score."""
    session = begin(contest, 5)
    order = order_of(IMAGES, 5)
    answer(contest, session, good([1, 2], order, share=1))
    before = evaluate(truth, scored_answer(contest, session)).mean_ap
    stray = [(0, 1, 1.0, 0, 0, 9, 9), (IMAGES + 1, 1, 1.0, 0, 0, 9, 9), (-1, 1, 1.0, 0, 0, 9, 9)]
    answer(contest, session, Detections.from_rows(stray))
    result = evaluate(truth, scored_answer(contest, session))
    assert (before, 5, 3) == (result.mean_ap, result.detections, sum(result.ignored.values()))


def test_void_and_ready_sessions_are_not_scored(contest, truth):
    """Voided sessions and sessions that never ran get no score."""
    session = begin(contest)
    with contest.database.write() as connection:
        record_event(
            connection, session.session_id, "voided", contest.clock.now(), actor="x", cause="why"
        )
        create_session(
            connection, team="bees", length_s=1.0, order_seed=None, now=contest.clock.now()
        )
    judge(contest, session)
    LiveScorer(contest).look()
    assert 0 == rows_of_runs(contest)


def test_deadline_alone_ends_the_following(contest, truth, clock):
    """A session is scored after its deadline, even if nobody recorded its end."""
    session = begin(contest)
    clock.advance(600)
    judge(contest, session)
    LiveScorer(contest).look()
    assert 1 == rows_of_runs(contest)
    assert shifted(session.facts.started, 600) == clock.now()


@pytest.mark.slow
def test_scorer_survives_a_database_that_fails(contest, truth, monkeypatch):
    """The scorer survives a failed look and looks again."""
    session = begin(contest)
    scorer = LiveScorer(contest)
    answer(contest, session, good([1], order_of(IMAGES, None)))
    looks = []
    real = scorer.look

    def look():
        looks.append(1)
        if len(looks) == 1:
            raise Unavailable("no disk")
        real()

    monkeypatch.setattr(scorer, "look", look)
    stopping = threading.Event()
    thread = threading.Thread(target=scorer.run, args=(stopping.wait,))
    thread.start()
    eventually(lambda: newest_snapshot(contest.database.connection, session.session_id))
    stopping.set()
    thread.join(180)
    assert not thread.is_alive()
