# SPDX-License-Identifier: Apache-2.0
"""Taking an answer: judge when it came, store it, and only then acknowledge it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from referee.core.detections import Detections
from referee.core.flags import Flag, flag_rows
from referee.core.instant import Instant
from referee.core.states import SessionFacts, accepts, elapsed_s, remaining_s
from referee.errors import Refusal, Unavailable
from referee.service.setup.contest import Contest
from referee.store.answers import Answer, AnswerForm, count_late_answers, insert_answer
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.packing import pack
from referee.store.sessions import SessionRecord

T = TypeVar("T")

LATE_S = 60.0
"""Seconds past the deadline for which late answers are still stored; later ones are refused."""

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


def take_answer(
    contest: Contest,
    journal: Journal,
    session: SessionRecord,
    detections: Detections,
    *,
    received: Instant,
    form: AnswerForm,
    address: str,
) -> Receipt:
    """Store an answer and return its receipt, once it is on the disk.

    An answer whose last byte came at or after the end is stored, marked late, and never scored.
    Raises `Refusal` with code `token_invalid` before the start, long after the end, or for a
    void session, and `too_many_rows` for a session that is full. Raises `Unavailable` when the
    answer could not be made durable, or is not after 45 s.
    """
    flags = flag_rows(detections, contest.image_count, contest.class_ids)
    packed = pack(detections)

    def store(connection: Connection) -> tuple[int, float, bool]:
        # The facts are read inside the transaction: see ControlDesk.end for why that is exact.
        facts = contest.sessions.get(session.session_id, connection).facts
        late = not accepts(facts, received)
        received_s = _require_storable(connection, session.session_id, facts, received, late)
        contest.detection_room.require(connection, session.session_id, len(detections))
        answer = Answer(
            session_id=session.session_id,
            elapsed_s=received_s,
            utc=received.utc.isoformat(),
            late=late,
            form=form,
            address=address,
            flagged_count=len(flags),
            detections=detections,
        )
        return insert_answer(connection, answer, packed), received_s, late

    number, received_s, late = _outcome(journal.submit(store, size_bytes=2 * len(packed)))
    return Receipt(
        answer=number,
        stored=len(detections),
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
    connection: Connection,
    session_id: int,
    facts: SessionFacts,
    received: Instant,
    late: bool,
) -> float:
    elapsed = elapsed_s(facts, received)
    if elapsed is None or elapsed < 0.0 or facts.voided is not None:
        raise Refusal("token_invalid", "The session of this token does not run.")
    if late and (
        elapsed > facts.length_s + LATE_S
        or count_late_answers(connection, session_id) >= LATE_ANSWERS
    ):
        raise Refusal("token_invalid", "The session of this token is over; nothing was stored.")
    return elapsed
