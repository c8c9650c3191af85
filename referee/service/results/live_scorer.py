# SPDX-License-Identifier: Apache-2.0
"""The live scorer follows the answers by their numbers, and scores each session that has ended."""

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

# It looks this often for new answers, so the live score is at most this old.
_LOOK_S = 0.5
_ANSWERS_AT_ONCE = 2000

_log = logging.getLogger(__name__)


@dataclass
class _Followed:
    """A running session's score up to one of its answers, and the answer of its last snapshot."""

    scorer: Scorer[Any]
    upto_answer_id: int = 0
    snapshot_answer_id: int = -1


class LiveScorer:
    """The scorer of a contest: live scores of the running sessions, final ones of the ended.

    It only adds rows. At each start it begins with the stored answers, so its death costs nothing
    but the restart.
    """

    def __init__(self, contest: Contest, truth: GroundTruth) -> None:
        self._contest = contest
        self._truth = truth
        # The running sessions by number; each lane may have one.
        self._followed: dict[int, _Followed] = {}

    def run(self, stopping: threading.Event) -> None:
        """Look for answers and ended sessions until told to stop."""
        while not stopping.is_set():
            try:
                self.look()
            except Exception:
                # The disk is full or the database busy: the next look tries again.
                _log.exception("nothing could be scored this time")
            stopping.wait(_LOOK_S)

    def look(self) -> None:
        """Score once what is new.

        Trouble with one session keeps no other waiting: it is raised in the end, the last one only.
        """
        now = self._contest.clock.now()
        trouble: Exception | None = None
        running: set[int] = set()
        for session in sessions_to_score(self._contest.database.connection):
            try:
                if state_of(session.facts, now) is SessionState.RUNNING:
                    running.add(session.session_id)
                    self._follow(session)
                else:
                    self._score(session)
            except Exception as error:
                trouble = error
        self._followed = {n: one for n, one in self._followed.items() if n in running}
        if trouble is not None:
            raise trouble

    def _follow(self, session: SessionRecord) -> None:
        """Add the answers since the last look, and store a snapshot if there are any."""
        connection, track = self._contest.database.connection, self._contest.track
        if session.session_id not in self._followed:
            self._followed[session.session_id] = _Followed(track.scorer(self._truth))
        followed = self._followed[session.session_id]
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
        snapshot = Snapshot(followed.upto_answer_id, outcome.accuracy, outcome.rows)
        with self._contest.database.write() as writer:
            utc = self._contest.clock.now().utc.isoformat()
            insert_snapshot(writer, session.session_id, utc, snapshot)
        followed.snapshot_answer_id = followed.upto_answer_id

    def _score(self, session: SessionRecord) -> None:
        """Score an ended session whose energy is known, and again if a fact came later."""
        energy = energy_of(self._contest.database.connection, session.session_id)
        if energy is not None:
            score_session(self._contest, self._truth, session, energy)
