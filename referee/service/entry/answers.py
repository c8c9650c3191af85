# SPDX-License-Identifier: Apache-2.0
"""Taking an answer: judge when it came, store it, and only then acknowledge it."""

from __future__ import annotations

from collections.abc import Sized
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from referee.core.flags import Flag
from referee.core.instant import Instant
from referee.core.states import Arrival, SessionFacts, arrival_of, elapsed_s, remaining_s
from referee.errors import Refusal, Unavailable
from referee.formats.answers import AnswerFormat
from referee.service.entry.session_cache import SessionCache
from referee.service.setup.contest import Contest
from referee.store.answers import (
    Answer,
    count_late_answers,
    count_stored_detections,
    insert_answer,
)
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.sessions import SessionRecord

T = TypeVar("T")

LATE_ANSWERS = 1000
"""Most late answers that are stored of one session."""

# Seconds after which an answer that is not being written is called off, and after which one that
# is being written is no longer waited for.
COMMIT_S = 15.0
KNOWN_S = 45.0


@dataclass(frozen=True)
class Receipt:
    """Acknowledge a stored answer; `answer` is its number, counted over all sessions.

    `received_s` is the second of the session at which its last byte was read.
    """

    answer: int
    stored: int
    flagged: tuple[Flag, ...]
    received_s: float
    remaining_s: float
    late: bool


class Answers:
    """Store answers to sessions; every request of a process uses the same one."""

    def __init__(self, contest: Contest, sessions: SessionCache, journal: Journal) -> None:
        self._contest = contest
        self._sessions = sessions
        self._journal = journal
        self._limit = DetectionLimit()

    def take(
        self,
        session: SessionRecord,
        posted: Sized,
        *,
        received: Instant,
        answer_format: AnswerFormat,
        address: str,
    ) -> Receipt:
        """Store an answer and return its receipt, once it is on the disk.

        `posted` is what the contest's track parsed.

        An answer whose last byte came at or after the end is stored, marked late, and never
        scored. Raises `Refusal` with code `token_invalid` before the start, long after the end,
        or for a void session, and `too_many_rows` for a session that is full. Raises
        `Unavailable` when the answer could not be made durable, or is not after 45 s.
        """
        contest = self._contest
        flags = contest.track.flag(posted, contest.image_count, contest.class_ids)
        content = contest.track.pack(posted)

        def store(connection: Connection) -> tuple[int, float, bool]:
            # The facts are read inside the transaction: see ControlDesk.end for why that is exact.
            facts = self._sessions.get(session.session_id, connection).facts
            late = _require_storable(connection, session.session_id, facts, received)
            self._limit.require(connection, session.session_id, len(posted))
            answer = Answer(
                session_id=session.session_id,
                elapsed_s=elapsed_s(facts, received) or 0.0,
                utc=received.utc.isoformat(),
                late=late,
                format=answer_format,
                address=address,
                row_count=len(posted),
                flagged_count=len(flags),
                content=content,
            )
            return insert_answer(connection, answer), answer.elapsed_s, late

        committed = self._journal.submit(store, size_bytes=2 * len(content))
        number, received_s, late = _outcome(committed)
        return Receipt(
            answer=number,
            stored=len(posted),
            flagged=flags,
            received_s=received_s,
            remaining_s=0.0 if late else remaining_s(session.facts, contest.clock.now()),
            late=late,
        )


def _outcome(committed: Future[T]) -> T:
    """Wait for the commit; an answer that is refused must not be stored after all.

    A commit that has begun when the patience ends can no longer be called off. It is waited for,
    since its outcome is then known.
    """
    try:
        return committed.result(COMMIT_S)
    except TimeoutError:
        if committed.cancel():
            raise _not_stored() from None
    try:
        return committed.result(KNOWN_S - COMMIT_S)
    except TimeoutError:
        raise Unavailable(
            "The referee's disk has stalled: GET /status will tell whether the answer is stored."
        ) from None


def _not_stored() -> Unavailable:
    return Unavailable("The referee's disk is too slow: the answer is not stored, send it again.")


def _require_storable(
    connection: Connection, session_id: int, facts: SessionFacts, received: Instant
) -> bool:
    """Tell whether an answer is late; raises `Refusal` where it is not stored at all."""
    arrival = arrival_of(facts, received)
    late = arrival is Arrival.LATE
    if arrival is Arrival.REFUSED or (
        late and count_late_answers(connection, session_id) >= LATE_ANSWERS
    ):
        raise Refusal("token_invalid", "The session of this token takes no more answers.")
    return late


MAX_DETECTIONS = 10_000_000
"""Most detections of a session, late ones too: 500 for each of 20,000 images."""

# Counting takes a look at every answer of the session: only after so many more of one's own.
_COUNT_AFTER = 100_000


class DetectionLimit:
    """Refuse answers beyond the limit; belongs to the thread that writes at the time.

    The count is exact for one process. Of what other processes store it learns after 100,000
    detections of its own, so several may go beyond the limit by that much each.
    """

    def __init__(self) -> None:
        # Session → detections when last counted, and those stored here since then.
        self._counted: dict[int, tuple[int, int]] = {}

    def require(self, connection: Connection, session_id: int, rows: int) -> None:
        """Take note of rows that are about to be stored in the present transaction.

        Raises `Refusal` with code `too_many_rows`. A transaction that is undone counts all the
        same until the next count.
        """
        counted, since = self._counted.get(session_id, (0, _COUNT_AFTER))
        # Nothing is ever deleted, so a session that was full once need not be counted again.
        if counted + rows <= MAX_DETECTIONS and (
            since + rows > _COUNT_AFTER or counted + since + rows > MAX_DETECTIONS
        ):
            counted, since = count_stored_detections(connection, session_id), 0
        if counted + rows > MAX_DETECTIONS:
            self._counted[session_id] = counted, since
            raise Refusal(
                "too_many_rows",
                f"Nothing was stored: the session has {counted} detections, and at most "
                f"{MAX_DETECTIONS} are taken.",
            )
        self._counted[session_id] = counted, since + rows
