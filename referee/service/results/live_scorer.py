# SPDX-License-Identifier: Apache-2.0
"""The live scorer: follows the answers by their numbers, and scores each session that has ended."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any

from referee.core.ground_truth import GroundTruth
from referee.core.states import SessionState, state_of
from referee.service.results.final_score import score_session
from referee.service.setup.contest import Contest, order_of
from referee.store.answers import answers_after
from referee.store.readings import energy_of
from referee.store.scores import Snapshot, insert_snapshot
from referee.store.sessions import SessionRecord, sessions_to_score
from referee.tracks.track import Scorer

# How often it looks for new answers; the live score is at most this old.
_LOOK_S = 0.5
_ANSWERS_AT_ONCE = 2000

_log = logging.getLogger(__name__)


@dataclass
class _Followed:
    """Follow one running session: the score of its answers up to one of them."""

    session: SessionRecord
    scorer: Scorer[Any]
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
            followed = _Followed(session, self._contest.track.scorer(self._truth))
            self._followed = followed
        connection = self._contest.database.connection
        track = self._contest.track
        order = order_of(self._contest.image_count, session.order_seed)
        for answer in answers_after(
            connection, session.session_id, followed.upto_answer_id, limit=_ANSWERS_AT_ONCE
        ):
            followed.upto_answer_id = answer.answer_id
            if not answer.late:
                posted = track.unpack(answer.content)
                followed.scorer.add(track.in_manifest_ids(posted, order))
        if followed.upto_answer_id == followed.snapshot_answer_id:
            return
        outcome = followed.scorer.outcome()
        followed.snapshot_answer_id = followed.upto_answer_id
        snapshot = Snapshot(followed.upto_answer_id, outcome.accuracy, outcome.rows)
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
