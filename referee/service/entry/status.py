# SPDX-License-Identifier: Apache-2.0
"""The status of a session, which its team may ask for at any time."""

from __future__ import annotations

from dataclasses import dataclass

from referee.core.states import SessionState, remaining_s, state_of
from referee.service.setup.contest import Contest
from referee.store.answers import count_answers
from referee.store.requests import count_fetched_images
from referee.store.sessions import SessionRecord


@dataclass(frozen=True)
class SessionStatus:
    """The state and counts of a session; `answers` and `detections` leave out late answers."""

    state: SessionState
    remaining_s: float
    images: int
    images_fetched: int
    answers: int
    detections: int
    late_answers: int
    flagged: int


def status_of(contest: Contest, session: SessionRecord) -> SessionStatus:
    """Return the session's present status."""
    now = contest.clock.now()
    connection = contest.database.connection
    counts = count_answers(connection, session.session_id)
    return SessionStatus(
        state=state_of(session.facts, now),
        remaining_s=remaining_s(session.facts, now),
        images=contest.image_count,
        images_fetched=count_fetched_images(connection, session.session_id),
        answers=counts.answers,
        detections=counts.detections,
        late_answers=counts.late_answers,
        flagged=counts.flagged,
    )
