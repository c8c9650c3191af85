# SPDX-License-Identifier: Apache-2.0
"""The live scorer: follows the answers by their numbers, and scores each session that has ended."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.core.states import SessionState, state_of
from referee.scoring.live import LiveScore
from referee.service.results.final_score import score_session
from referee.service.setup.contest import Contest, order_of
from referee.store.answers import answers_after
from referee.store.readings import energy_of
from referee.store.scores import Snapshot, insert_snapshot
from referee.store.sessions import SessionRecord, sessions_to_score

# How often it looks for new answers; the live score is at most this old.
_LOOK_S = 0.5
_ANSWERS_AT_ONCE = 2000

_log = logging.getLogger(__name__)


@dataclass
class _Followed:
    """Follow one running session: the score of its answers up to one of them."""

    session: SessionRecord
    live: LiveScore
    upto_answer_id: int = 0
    snapshot_answer_id: int = -1


class LiveScorer:
    """Keep the live score of the running session, and score sessions when they have ended.

    It only adds rows, and begins anew from the stored answers whenever it is started: its death
    costs nothing but the restart.
    """

    def __init__(self, contest: Contest, truth: GroundTruth) -> None:
        self._contest = contest
        self._truth = truth
        self._followed: _Followed | None = None

    def run(self, stopping: threading.Event) -> None:
        """Look for answers and ended sessions until told to stop."""
        while not stopping.is_set():
            try:
                self.look()
            except Exception:
                # A full disk or a busy database; the next look tries again.
                _log.exception("nothing could be scored this time")
            stopping.wait(_LOOK_S)

    def look(self) -> None:
        """Do once what there is to do; trouble with one session does not keep the others waiting.

        Raises the last such trouble, in the end.
        """
        now = self._contest.clock.now()
        trouble: Exception | None = None
        for session in sessions_to_score(self._contest.database.connection):
            try:
                if state_of(session.facts, now) is SessionState.RUNNING:
                    self._follow(session)
                else:
                    self._score(session)
            except Exception as error:
                trouble = error
        if trouble is not None:
            raise trouble

    def _follow(self, session: SessionRecord) -> None:
        followed = self._followed
        if followed is None or followed.session.session_id != session.session_id:
            followed = _Followed(session, LiveScore(self._truth))
            self._followed = followed
        connection = self._contest.database.connection
        order = order_of(self._contest.image_count, session.order_seed)
        for answer in answers_after(
            connection, session.session_id, followed.upto_answer_id, limit=_ANSWERS_AT_ONCE
        ):
            followed.upto_answer_id = answer.answer_id
            if not answer.late:
                detections = answer.detections
                numbers = to_manifest_ids(detections.image_id, order)
                followed.live.add(detections.with_image_ids(numbers))
        if followed.upto_answer_id == followed.snapshot_answer_id:
            return
        result = followed.live.result()
        followed.snapshot_answer_id = followed.upto_answer_id
        snapshot = Snapshot(followed.upto_answer_id, result.mean_ap, result.detections)
        with self._contest.database.write() as writer:
            utc = self._contest.clock.now().utc.isoformat()
            insert_snapshot(writer, session.session_id, utc, snapshot)

    def _score(self, session: SessionRecord) -> None:
        """Score an ended session whose energy is known, and again if a fact came later."""
        energy = energy_of(self._contest.database.connection, session.session_id)
        if energy is None:
            return
        score_session(self._contest, self._truth, session, energy)
        if self._followed is not None and self._followed.session.session_id == session.session_id:
            self._followed = None
