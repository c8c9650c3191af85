# SPDX-License-Identifier: Apache-2.0
"""Taking an answer: judge when it came, store it, and only then acknowledge it."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from dataclasses import dataclass

from referee.core.detections import Detections
from referee.core.flags import Flag, flag_rows
from referee.core.instant import Instant, seconds_between
from referee.core.states import SessionFacts, accepts, elapsed_s, remaining_s
from referee.errors import Refusal, Unavailable
from referee.service.setup.contest import Contest
from referee.store.answers import Answer, AnswerForm, count_late_answers, insert_answer
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.packing import pack
from referee.store.sessions import SessionRecord

LATE_S = 60.0
"""Seconds past the deadline for which late answers are still stored; later ones are refused."""

LATE_ANSWERS = 1000
"""Most late answers that are stored of one session."""

# Seconds after which an answer that is not being written is called off, and after which one that
# is being written is no longer waited for.
_COMMIT_S = 15.0
_KNOWN_S = 45.0


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
) -> TakenAnswer:
    """Have an answer stored; its receipt is given only after the commit.

    An answer whose last byte came at or after the end is stored, marked late, and never scored.
    Raises `Unavailable` when too many answers wait for the disk already.
    """
    flags = flag_rows(detections, contest.image_count, contest.class_ids)
    packed = pack(detections)

    def store(connection: Connection) -> tuple[int, float, bool]:
        # The facts are read inside the transaction (the cache reads on this thread's connection,
        # which is in it): see ControlDesk.end for why that is exact.
        facts = contest.sessions.get(session.session_id).facts
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

    committed = journal.submit(store, size_bytes=2 * len(packed))
    submitted = contest.clock.now()
    return TakenAnswer(contest, journal, session, len(detections), flags, committed, submitted)


@dataclass(frozen=True)
class TakenAnswer:
    """Stand for an answer on its way to the disk; `committed` is done when it is there."""

    contest: Contest
    journal: Journal
    session: SessionRecord
    stored: int
    flagged: tuple[Flag, ...]
    committed: Future[tuple[int, float, bool]]
    submitted: Instant

    def receipt(self) -> Receipt:
        """Return the receipt; waits for the commit until 45 s after it was submitted.

        Raises `Refusal` with code `token_invalid` before the start, long after the end, or for a
        void session, and `too_many_rows` for a session that is full; `Unavailable` when the
        answer could not be made durable.
        """
        if not self.committed.done():
            self.journal.hurry()
        number, received_s, late = self._outcome()
        now = self.contest.clock.now()
        return Receipt(
            answer=number,
            stored=self.stored,
            flagged=self.flagged,
            received_s=received_s,
            remaining_s=0.0 if late else remaining_s(self.session.facts, now),
            late=late,
        )

    def _outcome(self) -> tuple[int, float, bool]:
        """Wait for the commit; an answer that is refused must not be stored after all.

        One that is being written when the patience ends can no longer be called back, so it is
        waited for: its outcome is then known.
        """
        try:
            return self.committed.result(self._left_s(_COMMIT_S))
        except CancelledError:
            raise _not_stored() from None
        except TimeoutError:
            if self.committed.cancel():
                raise _not_stored() from None
        try:
            return self.committed.result(self._left_s(_KNOWN_S))
        except TimeoutError:
            raise Unavailable(
                "The referee's disk has stalled: GET /status will tell whether the answer is "
                "stored."
            ) from None

    def _left_s(self, patience_s: float) -> float:
        """Return what is left of a time that began with the submission."""
        waited_s = seconds_between(self.submitted, self.contest.clock.now())
        return max(0.0, patience_s - waited_s)


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
