# SPDX-License-Identifier: Apache-2.0
"""The counts of a session's flagged rows, which can never match, by reason."""

from __future__ import annotations

import threading
from collections import Counter

from referee.service.setup.contest import Contest
from referee.store.watching import flagged_answers

# One call counts at most this many answers. Later calls count the rest of a flood.
_STEP = 500


class FlagCounts:
    """The flag counts of each session; each flagged answer is read only once."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._lock = threading.Lock()
        self._counted: dict[int, tuple[int, Counter[str]]] = {}

    def of(self, session_id: int) -> dict[str, int]:
        """Return the number of flagged rows by reason, the most frequent reason first."""
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
