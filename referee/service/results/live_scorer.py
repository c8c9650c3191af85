# SPDX-License-Identifier: Apache-2.0
"""The live scorer: it scores new answers of running sessions, and each session that has ended."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from power.signal_flag import SignalFlag
from referee.core.ground_truth import GroundTruth
from referee.core.states import SessionState, state_of
from referee.service.results.final_score import score_session
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest, open_contest
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.program import Launch
from referee.service.setup.session_images import order_of
from referee.store.answers import answers_after
from referee.store.inputs_in_force import InForce, inputs_in_force, proposal_in_force
from referee.store.readings import energy_of
from referee.store.scores import Snapshot, insert_snapshot
from referee.store.sessions import SessionRecord, sessions_to_score
from referee.tracks.track import Scorer

# The scorer looks for new answers this often.
_LOOK_S = 0.5
_ANSWERS_AT_ONCE = 2000

_log = logging.getLogger(__name__)


@dataclass
class _Followed:
    """A running session: its scorer, its last scored answer, and its last snapshot's answer."""

    scorer: Scorer[Any]
    upto_answer_id: int = 0
    snapshot_answer_id: int = -1


class LiveScorer:
    """The scorer of a contest: live scores for running sessions, final scores for ended ones.

    It only adds rows to the database. At each start it reads the stored answers from the
    beginning, so its death loses nothing.
    """

    def __init__(self, contest: Contest) -> None:
        """Read the ground truth in force; raise `InputError` if its files are not there."""
        self._contest = contest
        self._in_force, self._truth = self._read()
        # The running sessions by session number; each lane may have one.
        self._followed: dict[int, _Followed] = {}

    def run(self, stopped: Callable[[float], bool]) -> None:
        """Score new answers and ended sessions until `stopped`, which waits so many seconds."""
        while not stopped(_LOOK_S):
            try:
                self.look()
            except Exception:
                # The disk is full, or the database is busy. The next look tries again.
                _log.exception("nothing could be scored this time")

    def look(self) -> None:
        """Score everything that is new, once.

        An error in one session does not stop the others. The last error is raised at the end.
        """
        self._take_corrections()
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

    def _read(self) -> tuple[InForce | None, GroundTruth]:
        """Return the files in force and their ground truth.

        Should a proposal be applied in between, the next look reads again, and no score is stored.
        """
        return inputs_in_force(self._contest.database.connection), read_contest_truth(self._contest)

    def _take_corrections(self) -> None:
        """Read the ground truth again when an applied proposal has put another one in force.

        A running session's answers are then scored anew from the first one on.
        """
        before = None if self._in_force is None else self._in_force.proposal_id
        if proposal_in_force(self._contest.database.connection) != before:
            self._in_force, self._truth = self._read()
            self._followed.clear()

    def _follow(self, session: SessionRecord) -> None:
        """Add the answers since the last look, and store a snapshot if there are new ones."""
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
        """Score an ended session whose energy is known."""
        energy = energy_of(self._contest.database.connection, session.session_id)
        if energy is not None:
            score_session(self._contest, self._truth, session, energy, self._in_force)


def run_live_scorer(config: Config, launch: Launch) -> None:
    """Score sessions until SIGTERM or SIGINT."""
    stopping = SignalFlag()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    contest = open_contest(config)
    LiveScorer(contest).run(stopping.wait)
    contest.database.close()
