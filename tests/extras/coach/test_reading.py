# SPDX-License-Identifier: Apache-2.0
"""A session is read as the referee scores it."""

from __future__ import annotations

import pytest

from referee.errors import Refusal
from referee.extras.coach.reading import read_session
from referee.scoring.ilsvrc import evaluate
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.session_images import order_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import load_session, record_event
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.played_sessions import SECONDS, play


@pytest.fixture
def contest(tmp_path):
    """Return a rehearsal with one session, shuffled, and with a late answer."""
    contest = make_contest(tmp_path, FakeClock(), images=8, mode="practice", seconds=SECONDS)
    play(contest)
    contest.database.close()
    contest = open_contest(load_config(tmp_path / "contest.toml"), FakeClock())
    yield contest
    contest.database.close()


def test_the_answers_have_the_score_of_the_session(contest):
    """Rows in time, in the ids of the ground truth, with mAP and energy of the scoring run."""
    played = read_session(contest, 1).played
    run = newest_scoring_run(contest.database.connection, 1)
    assert run.accuracy == evaluate(played.truth, played.detections).mean_ap
    assert run.detail["detections"] == len(played.detections)
    assert run.detail["energy_wh"] == played.energy_wh
    assert played.energy_wh == played.energy_between((0.0, played.ended_s))
    assert pytest.approx(played.energy_wh / 2, rel=0.02) == played.energy_between((0.0, 10.0))
    order = order_of(contest.image_count, load_session(contest.database.connection, 1).order_seed)
    assert order[:2].tolist() == played.answers[0].detections.image_id.tolist()
    images = [image for request in played.requests for image in request.images]
    assert order.tolist() == images
    assert images == sorted(played.numbers, key=lambda image: played.numbers[image])


def test_a_void_session_is_marked(contest):
    """Its team may learn from it, and nobody takes it for one that counts."""
    assert ("EMULATED",) == read_session(contest, 1).marks
    with contest.database.write() as connection:
        record_event(connection, 1, "voided", contest.clock.now(), actor="Kim", cause="a fault")
    assert ("EMULATED", "VOID") == read_session(contest, 1).marks


def test_an_invalid_energy_counts_for_nothing(contest):
    """Its session is refused, although the meter has counted."""
    with contest.database.write() as connection:
        connection.execute(
            "insert into energies (session_id, utc, energy_wh, uncertainty_wh, verdict, detail)"
            " values (1, 'then', 0.03, null, 'INVALID', '{\"reasons\": []}')"
        )
    with pytest.raises(Refusal, match="verdict is INVALID"):
        read_session(contest, 1)
