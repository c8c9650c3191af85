# SPDX-License-Identifier: Apache-2.0
"""A scoring run: it computes a session's score from stored rows, and keeps earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from referee import __version__
from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.scoring.uncertainty import RULE, standard_uncertainty
from referee.scoring.uncertainty import Energy as Divisor
from referee.service.results.score_uncertainty import Draws, uncertainty_report
from referee.service.setup.contest import Contest
from referee.service.setup.session_images import order_of
from referee.store.answers import contents_of, images_answered_empty, newest_answer_id
from referee.store.inputs_in_force import InForce, proposal_in_force
from referee.store.readings import EnergyRecord
from referee.store.requests import count_fetched_images
from referee.store.scores import ScoringRun, insert_scoring_run
from referee.store.sessions import SessionRecord
from referee.tracks.track import Outcome

ANSWERED = "images_answered"
"""The field of a score that counts the images answered; scores of early versions lack it.

Their normalised accuracy counted the images fetched as processed.
"""

# So many draws take a full contest (20,000 images, a million boxes) two seconds at most. Five times
# as many change the width of an interval by half a percent.
_MOST_DRAWS, _LEAST_DRAWS = 100, 20
# The draws together look at so many boxes at most, that no session holds up the scores of others.
_MOST_BOXES = 200_000_000


def score_session(
    contest: Contest,
    truth: GroundTruth,
    session: SessionRecord,
    energy: EnergyRecord,
    in_force: InForce | None = None,
) -> ScoringRun | None:
    """Score an ended session from its answers in time and its energy; store and return the run.

    `in_force` are the files that `truth` was read from; None are the contest's own. If others are
    in force by now, nothing is stored, and the result is None: read those, and score again.
    """
    run = compute_run(contest, truth, session, energy)
    if in_force is not None:
        run = replace(run, detail={**run.detail, "inputs": in_force.sha256})
    with contest.database.write() as writer:
        if proposal_in_force(writer) != (None if in_force is None else in_force.proposal_id):
            return None
        insert_scoring_run(writer, session.session_id, contest.clock.now(), run)
    return run


def compute_run(
    contest: Contest,
    truth: GroundTruth,
    session: SessionRecord,
    energy: EnergyRecord,
    interval_rule: int = RULE,
) -> ScoringRun:
    """Score an ended session from its answers in time and its energy, and store nothing.

    `interval_rule` is that of its intervals; an earlier score may name an earlier one.
    """
    track = contest.track
    connection = contest.database.connection
    with contest.database.read():
        upto = newest_answer_id(connection, session.session_id)
        answer = scored_answer(contest, session)
        fetched = count_fetched_images(connection, session.session_id)
    scorer = track.scorer(truth)
    scorer.add(answer)
    outcome = scorer.outcome()
    # An INVALID energy is shown, but no score is computed from it.
    usable_wh = None if energy.verdict == "INVALID" else energy.energy_wh
    answered = _images_answered(contest, session, answer)
    report = track.report(outcome, usable_wh, fetched if answered is None else answered)
    if answered is not None:
        report |= {ANSWERED: answered}
    report |= _uncertainty(outcome, energy, interval_rule)
    report |= context_of(session, energy, fetched)
    return ScoringRun(upto, energy.energy_id, outcome.accuracy, report[track.score.field], report)


def scored_answer(contest: Contest, session: SessionRecord) -> Any:
    """Return all answers in time as one answer of the contest's track.

    Its rows are in the order in which they were stored, with the manifest's image ids.
    """
    stored = contents_of(contest.database.connection, session.session_id, late=False)
    posted = contest.track.unpack_all([content for _, content in stored])
    order = order_of(contest.image_count, session.order_seed)
    return contest.track.in_manifest_ids(posted, order)


def _images_answered(contest: Contest, session: SessionRecord, answer: Any) -> int | None:
    """Count the contest's images with an answer in time, also an empty one that names its image.

    None where the track's answers name no images.
    """
    named = contest.track.images_answered(answer)
    if named is None:
        return None
    empty = images_answered_empty(contest.database.connection, session.session_id)
    order = order_of(contest.image_count, session.order_seed)
    also = to_manifest_ids(np.array(empty, dtype=np.int64), order)
    known = np.union1d(named, also)
    return int(np.count_nonzero((known >= 1) & (known <= contest.image_count)))


def _uncertainty(
    outcome: Outcome, energy: EnergyRecord, interval_rule: int
) -> Mapping[str, object]:
    """Return the intervals of mAP and score; nothing for a track without an mAP.

    The score has an interval only where the energy has an uncertainty and divides.
    """
    if outcome.measure is None or outcome.accuracy is None:
        return {}
    affordable = _MOST_BOXES // max(outcome.rows, 1)
    draws = Draws(max(_LEAST_DRAWS, min(_MOST_DRAWS, affordable)), seed=0)
    measured = outcome.measure(draws.resamples, draws.seed)
    if measured is None:
        return {}
    return uncertainty_report(measured.by_rule(interval_rule), _divisor(energy), draws)


def _divisor(energy: EnergyRecord) -> Divisor | None:
    """Return the energy by which a score divides, with its standard uncertainty, or None."""
    wh, bound_wh = energy.energy_wh, energy.uncertainty_wh
    if wh is None or bound_wh is None or energy.verdict == "INVALID":
        return None
    try:
        return Divisor(wh, standard_uncertainty(bound_wh))
    except ValueError:  # The energy is too small for its uncertainty: a score says nothing.
        return None


def context_of(session: SessionRecord, energy: EnergyRecord, fetched: int) -> Mapping[str, object]:
    """Return what a score says beside its numbers: whose it is, and the energy that it rests on."""
    return {
        "energy_wh": energy.energy_wh,
        "session": session.session_id,
        "team": session.team,
        "images_fetched": fetched,
        "uncertainty_wh": energy.uncertainty_wh,
        "verdict": energy.verdict,
        "reasons": list(energy.detail["reasons"]),
        "emulated": energy.emulated,
        "referee_version": __version__,
    }
