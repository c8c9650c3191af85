# SPDX-License-Identifier: Apache-2.0
"""A scoring run: a session's score computed from its stored rows, and kept beside earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee import __version__
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.scoring.ilsvrc import evaluate
from referee.service.results.score_report import energy_report, ilsvrc_report
from referee.service.setup.contest import Contest, order_of
from referee.store.answers import answers_after, newest_answer_id
from referee.store.readings import Energy
from referee.store.requests import count_fetched_images
from referee.store.scores import ScoringRun, insert_scoring_run
from referee.store.sessions import SessionRecord


def score_session(
    contest: Contest, truth: GroundTruth, session: SessionRecord, energy: Energy
) -> ScoringRun:
    """Score all answers in time of an ended session with its energy, store the run, return it."""
    connection = contest.database.connection
    with contest.database.read():
        upto = newest_answer_id(connection, session.session_id)
        detections = scored_detections(contest, session)
        fetched = count_fetched_images(connection, session.session_id)
    result = evaluate(truth, detections)
    report: dict[str, Any] = ilsvrc_report(result)
    # An energy that is INVALID is shown, and never divides anything.
    usable_wh = None if energy.verdict == "INVALID" else energy.energy_wh
    report |= energy_report(result, usable_wh, fetched) | {"energy_wh": energy.energy_wh}
    report |= _context(session, energy, fetched)
    run = ScoringRun(upto, energy.energy_id, result.mean_ap, report["score"], report)
    with contest.database.write() as writer:
        insert_scoring_run(writer, session.session_id, contest.clock.now(), run)
    return run


def scored_detections(contest: Contest, session: SessionRecord) -> Detections:
    """Return the detections of all answers in time, in order of storage, in manifest image ids."""
    order = order_of(contest.image_count, session.order_seed)
    posted = Detections.concatenate(
        [
            answer.detections
            for answer in answers_after(contest.database.connection, session.session_id)
            if not answer.late
        ]
    )
    return posted.with_image_ids(to_manifest_ids(posted.image_id, order))


def _context(session: SessionRecord, energy: Energy, fetched: int) -> Mapping[str, Any]:
    return {
        "session": session.session_id,
        "team": session.team,
        "images_fetched": fetched,
        "uncertainty_wh": energy.uncertainty_wh,
        "verdict": energy.verdict,
        "reasons": list(energy.detail["reasons"]),
        "emulated": bool(energy.detail.get("emulated", False)),
        "referee_version": __version__,
    }
