# SPDX-License-Identifier: Apache-2.0
"""What operators write on a session: that its result is seen, notes, and rehearsals."""

from __future__ import annotations

from referee.core.states import SessionState, state_of
from referee.errors import Refusal
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.annotations import AnnotationKind, annotations_of, insert_annotation, rehearsals
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import load_session

_OVER = (SessionState.ENDED, SessionState.SCORED, SessionState.SEALED, SessionState.VOID)


def see_result(contest: Contest, session_id: int, operator: str) -> None:
    """Record that somebody has seen how a session ended; a repeat changes nothing."""
    with contest.database.write() as connection:
        session = load_session(connection, session_id)
        state = state_of(session.facts, contest.clock.now())
        if state not in _OVER:
            raise Refusal("state_conflict", f"Session {session_id} is {state.value}: no result.")
        if any(annotation.kind == "seen" for annotation in annotations_of(connection, session_id)):
            return
        _write(contest, connection, session_id, "seen", operator, "")


def add_note(contest: Contest, session_id: int, operator: str, text: str) -> None:
    """Add a note to a session in any state; the same note once more changes nothing."""
    text = _required(text, "A note needs words. Write some.")
    with contest.database.write() as connection:
        load_session(connection, session_id)
        notes = [
            annotation
            for annotation in annotations_of(connection, session_id)
            if annotation.kind == "note"
        ]
        if notes and (notes[-1].text, notes[-1].operator) == (text, operator):
            return
        _write(contest, connection, session_id, "note", operator, text)


def set_rehearsal(contest: Contest, session_id: int, operator: str, on: bool, reason: str) -> None:
    """Mark a session as a rehearsal, or let it count again; a repeat changes nothing.

    A rehearsal is no attempt of its team and has no place in the ranking. Raises `Refusal` without
    a reason, (code `results_final`) while the results are final, and (code `state_conflict`) for a
    sealed session.
    """
    reason = _required(reason, "This needs a reason, which stays on record. Give one.")
    with contest.database.write() as connection:
        require_provisional(connection)
        session = load_session(connection, session_id)
        if state_of(session.facts, contest.clock.now()) is SessionState.SEALED:
            raise Refusal(
                "state_conflict", f"Session {session_id} is sealed: its result cannot change."
            )
        if (session_id in rehearsals(connection)) is on:
            return
        _write(contest, connection, session_id, "rehearsal" if on else "counts", operator, reason)


def _write(
    contest: Contest,
    connection: Connection,
    session_id: int,
    kind: AnnotationKind,
    operator: str,
    text: str,
) -> None:
    now = contest.clock.now()
    insert_annotation(connection, session_id, kind, now, operator=operator, text=text)
    insert_audit(connection, now, operator, _ACTIONS[kind], session_id, reason=text)


_ACTIONS: dict[AnnotationKind, str] = {
    "seen": "result seen",
    "note": "note",
    "rehearsal": "mark as rehearsal",
    "counts": "count again",
}


def _required(text: str, otherwise: str) -> str:
    if not text.strip():
        raise Refusal("reason_missing", otherwise)
    return text.strip()
