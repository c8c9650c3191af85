# SPDX-License-Identifier: Apache-2.0
"""Taking an answer: judge when it came, store it, and only then acknowledge it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Sized
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from referee.core.flags import Flag
from referee.core.instant import Instant
from referee.core.states import Arrival, SessionFacts, elapsed_s, remaining_s
from referee.errors import Refusal, Unavailable
from referee.formats.answer_formats import why_nothing
from referee.service.entry.admission import SessionCache, answer_arrival
from referee.service.setup.contest import Contest
from referee.store.answers import (
    Answer,
    count_stored_detections,
    insert_answer,
    insert_empty_answer,
)
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.sessions import SessionRecord
from referee.tracks.track import Track

T = TypeVar("T")

# After this time an answer whose write has not begun is cancelled.
COMMIT_S = 15.0
# After this time the server no longer waits for a write that has begun.
KNOWN_S = 45.0


@dataclass(frozen=True)
class Receipt:
    """The receipt for a stored answer; `answer` is its number, counted over all sessions.

    `received_s` is the session time at which the server read its last byte. `remarks` say why
    nothing was stored, what the referee has put in the place of something that the post lacks, and
    what of it is of no use.
    """

    answer: int
    stored: int
    flagged: tuple[Flag, ...]
    received_s: float
    remaining_s: float
    late: bool
    remarks: tuple[str, ...] = ()


class Answers:
    """The store of answers; all requests of a process share one."""

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
        answer_format: str,
        address: str,
        remarks: tuple[str, ...] = (),
        empty_for: Sequence[int] = (),
    ) -> Receipt:
        """Store an answer, wait until it is on the disk, and return its receipt.

        `posted` is the answer as the contest's track has parsed it; `remarks` are what its parser
        says. `empty_for` are the images, by the contestant's numbers, that an answer without rows
        is for. If its last byte came at or after the session's end, the answer is stored as late
        and never scored.

        Raises `Refusal` (code `token_invalid`) before the start, long after the end, and for a
        void session. Raises `Refusal` (code `too_many_rows`) for a session that is full. Raises
        `Unavailable` if the answer is not on the disk, or not yet after 45 s.
        """
        contest = self._contest
        flags = contest.track.flag(posted, contest.image_count, contest.class_ids)
        content = contest.track.pack(posted)

        def store(connection: Connection) -> tuple[int, float, bool]:
            # The facts are read inside the transaction. ControlDesk.end says why that is exact.
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
            number = insert_answer(connection, answer)
            insert_empty_answer(connection, session.session_id, number, empty_for)
            return number, answer.elapsed_s, late

        committed = self._journal.submit(store, size_bytes=2 * len(content))
        number, received_s, late = _outcome(committed, self._journal)
        said = _remarks(contest.track, posted, flags, answer_format, empty_for)
        return Receipt(
            answer=number,
            stored=len(posted),
            flagged=flags,
            received_s=received_s,
            remaining_s=0.0 if late else remaining_s(session.facts, contest.clock.now()),
            late=late,
            remarks=(*said, *remarks),
        )


def _remarks(
    track: Track[Any],
    posted: Sized,
    flags: tuple[Flag, ...],
    answer_format: str,
    empty_for: Sequence[int],
) -> tuple[str, ...]:
    """Return what the sender of a stored answer should know of it, a sentence each."""
    if empty_for:
        return (f"nothing in {len(empty_for)} {'image' if len(empty_for) == 1 else 'images'}",)
    if not len(posted):
        return (why_nothing(answer_format),)
    lacks = track.lacks(posted, answer_format)
    if len(flags) < len(posted):
        return lacks
    reasons = ", ".join(Counter(flag.reason for flag in flags))
    return (*lacks, f"no row can ever match: {reasons}")


def _outcome(committed: Future[T], journal: Journal) -> T:
    """Wait for the commit and return its result.

    After `COMMIT_S` a write that has not begun is cancelled, so a refused answer is never stored. A
    write that has begun cannot be cancelled, so its outcome is awaited until `KNOWN_S`.
    """
    try:
        return committed.result(COMMIT_S)
    except TimeoutError:
        if committed.cancel():
            raise journal.held_up("the answer is not stored, send it again.") from None
    try:
        return committed.result(KNOWN_S - COMMIT_S)
    except TimeoutError:
        raise Unavailable(
            "The referee's disk has stalled. GET /status will tell whether the answer is stored."
        ) from None


def _require_storable(
    connection: Connection, session_id: int, facts: SessionFacts, received: Instant
) -> bool:
    """Tell whether an answer is late; raise `Refusal` if it must not be stored."""
    arrival = answer_arrival(connection, session_id, facts, received)
    if arrival is Arrival.REFUSED:
        raise Refusal("token_invalid", "The session of this token takes no more answers.")
    return arrival is Arrival.LATE


MAX_DETECTIONS = 10_000_000
"""The most detections of a session, late ones included: 500 for each of 20,000 images."""

# Counting reads every answer of the session, so a process counts again only after it has stored
# this many more detections.
_COUNT_AFTER = 100_000


class DetectionLimit:
    """The limit on a session's detections; only the writing thread uses it.

    The count is exact for one process. A process sees the detections of other processes only after
    it has stored 100,000 of its own. So each process may exceed the limit by that number.
    """

    def __init__(self) -> None:
        # By session: the detections at the last count, and those that this process stored since.
        self._counted: dict[int, tuple[int, int]] = {}

    def require(self, connection: Connection, session_id: int, rows: int) -> None:
        """Add rows that the present transaction is about to store.

        Raises `Refusal` (code `too_many_rows`). The rows of an undone transaction stay in the sum
        until the next count.
        """
        counted, since = self._counted.get(session_id, (0, _COUNT_AFTER))
        # Answers are never deleted, so a full session need not be counted again.
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
