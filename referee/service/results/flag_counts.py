# SPDX-License-Identifier: Apache-2.0
"""Boxes of a session that can never match, counted by reason."""

from __future__ import annotations

import threading
from collections import Counter

from referee.service.setup.contest import Contest
from referee.store.watching import flagged_answers

# So many answers are looked at in one go: a flood of them takes several.
_STEP = 500


class FlagCounts:
    """The counts of each session, kept up to date: an answer is looked at once, if it has flags."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._lock = threading.Lock()
        self._counted: dict[int, tuple[int, Counter[str]]] = {}

    def of(self, session_id: int) -> dict[str, int]:
        """Return the number of boxes by reason, the most frequent first."""
        contest = self._contest
        with self._lock:
            upto, counts = self._counted.get(session_id, (0, Counter()))
            connection = contest.database.connection
            for answer_id, content in flagged_answers(connection, session_id, upto, _STEP):
                answer = contest.track.unpack(content)
                flags = contest.track.flag(answer, contest.image_count, contest.class_ids)
                counts.update(flag.reason for flag in flags)
                upto = answer_id
            self._counted[session_id] = (upto, counts)
            return dict(counts.most_common())
