# SPDX-License-Identifier: Apache-2.0
"""The states of a session, computed from stored facts and `now`; no timer changes them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from referee.core.instant import Instant, seconds_between, shifted
from referee.errors import Refusal


class SessionState(Enum):
    """The states of a session."""

    READY = "READY"
    ARMED = "ARMED"
    RUNNING = "RUNNING"
    ENDED = "ENDED"
    SCORED = "SCORED"
    SEALED = "SEALED"
    VOID = "VOID"


class SessionEvent(Enum):
    """The events that can change a session's state."""

    ARM = "arm"
    LOGIN = "login"
    END = "end"
    ABORT = "abort"
    SCORE = "score"
    SEAL = "seal"
    EXTEND = "extra time"


class EndCause(Enum):
    """Why a session ended. Every cause is the event END."""

    DEADLINE = "deadline"
    LOGOUT = "logout"
    STOP = "stop"


@dataclass(frozen=True)
class SessionFacts:
    """The recorded moments of one session; None means that it has not happened.

    `length_s` is the time allowed: the session's length in seconds, with the extra time that it was
    given. `started` is the moment when the meter began to integrate; the deadline is `length_s`
    later. The time run (`ran_s`) is shorter where a session ended early. How long the meter itself
    has integrated is another thing again: `integration_s` of its readings and of the energy.
    """

    length_s: float
    armed: Instant | None = None
    started: Instant | None = None
    ended: Instant | None = None
    end_cause: EndCause | None = None
    voided: Instant | None = None
    scored: Instant | None = None
    sealed: Instant | None = None


def elapsed_s(facts: SessionFacts, now: Instant) -> float | None:
    """Return the seconds since the start, also after the end; None for a session not started."""
    return None if facts.started is None else seconds_between(facts.started, now)


def ran_s(facts: SessionFacts, now: Instant | None = None) -> float | None:
    """Return the time run, from the start to the end, in seconds.

    A session without an end has run until `now`. None: it has not started, or has no end and `now`
    is not given.
    """
    until = facts.ended or now
    if facts.started is None or until is None:
        return None
    return seconds_between(facts.started, until)


def remaining_s(facts: SessionFacts, now: Instant) -> float:
    """Return the seconds that the contestant has left.

    Before the start that is the whole length. From the end on it is 0; the end is the deadline,
    or an earlier recorded end.
    """
    elapsed = elapsed_s(facts, now)
    if elapsed is None:
        return facts.length_s
    if not accepts(facts, now):
        return 0.0
    return facts.length_s - elapsed


def accepts(facts: SessionFacts, received: Instant) -> bool:
    """Tell whether an answer counts; `received` is the instant of its last byte.

    The window is half-open, `[start, end)`. The end is the deadline, or an earlier logout or stop.
    A last byte exactly at the deadline is late.
    """
    elapsed = elapsed_s(facts, received)
    if elapsed is None or elapsed < 0.0 or facts.voided is not None:
        return False
    if _deadline_passed(facts, received):
        return False
    return facts.ended is None or seconds_between(received, facts.ended) > 0.0


def _deadline_passed(facts: SessionFacts, now: Instant) -> bool:
    """Tell whether the deadline is reached: at the deadline itself this is true."""
    elapsed = elapsed_s(facts, now)
    return elapsed is not None and elapsed >= facts.length_s


def end_to_record(facts: SessionFacts, now: Instant, cause: EndCause) -> tuple[Instant, EndCause]:
    """Return the moment and the cause to record for a session that ends `now`.

    After the deadline both are the deadline's: a late stop does not lengthen the session.
    """
    if facts.started is not None and _deadline_passed(facts, now):
        return shifted(facts.started, facts.length_s), EndCause.DEADLINE
    return now, cause


def state_of(facts: SessionFacts, now: Instant) -> SessionState:
    """Return the state at `now`; the deadline alone turns RUNNING into ENDED."""
    if facts.voided is not None:
        return SessionState.VOID
    if facts.sealed is not None:
        return SessionState.SEALED
    if facts.scored is not None:
        return SessionState.SCORED
    if facts.started is not None:
        return SessionState.RUNNING if remaining_s(facts, now) > 0.0 else SessionState.ENDED
    return SessionState.READY if facts.armed is None else SessionState.ARMED


_S, _E = SessionState, SessionEvent

# The events that each state allows, and the state that follows. A harmless repeat keeps the state.
_MOVES: dict[tuple[SessionState, SessionEvent], SessionState] = {
    (_S.READY, _E.ARM): _S.ARMED,
    (_S.READY, _E.ABORT): _S.VOID,
    (_S.READY, _E.EXTEND): _S.READY,
    (_S.ARMED, _E.ARM): _S.ARMED,
    (_S.ARMED, _E.LOGIN): _S.RUNNING,
    (_S.ARMED, _E.ABORT): _S.VOID,
    (_S.ARMED, _E.EXTEND): _S.ARMED,
    (_S.RUNNING, _E.LOGIN): _S.RUNNING,
    (_S.RUNNING, _E.END): _S.ENDED,
    (_S.RUNNING, _E.ABORT): _S.VOID,
    (_S.RUNNING, _E.EXTEND): _S.RUNNING,
    (_S.ENDED, _E.END): _S.ENDED,
    (_S.ENDED, _E.ABORT): _S.VOID,
    (_S.ENDED, _E.SCORE): _S.SCORED,
    (_S.SCORED, _E.ABORT): _S.VOID,
    (_S.SCORED, _E.SCORE): _S.SCORED,
    (_S.SCORED, _E.SEAL): _S.SEALED,
}

_ADVICE: dict[SessionState, str] = {
    _S.READY: "it has to be armed first",
    _S.ARMED: "it waits for its team to log in",
    _S.RUNNING: "it is running",
    _S.ENDED: "its time is over and its score is not yet computed",
    _S.SCORED: "it is over and scored",
    _S.SEALED: "its result is sealed and cannot change",
    _S.VOID: "it was voided; make a new session for the team",
}


def require(state: SessionState, event: SessionEvent) -> SessionState:
    """Return the state after the event; a harmless repeat returns `state` itself.

    Raises `Refusal` (code `state_conflict`) when the state does not allow the event.
    """
    following = _MOVES.get((state, event))
    if following is None:
        raise Refusal(
            "state_conflict",
            f"A session that is {state.value} cannot take '{event.value}': {_ADVICE[state]}.",
        )
    return following


LATE_S = 60.0
"""Seconds past the deadline for which late answers are still stored; later ones are refused."""


def takes_no_more(facts: SessionFacts, now: Instant) -> bool:
    """Tell whether a session takes no answers any more, late ones included."""
    elapsed = elapsed_s(facts, now)
    return elapsed is not None and elapsed > facts.length_s + LATE_S


class Arrival(Enum):
    """Name what an answer's moment means for it."""

    IN_TIME = "it is stored and scored"
    LATE = "it is stored, marked late, and never scored"
    REFUSED = "it is not stored"


def arrival_of(facts: SessionFacts, received: Instant) -> Arrival:
    """Judge an answer by the moment at which its last byte was read.

    A session takes late answers from its end, which may be early, until `LATE_S` after its
    deadline. It takes none before its start, and none when it is void.
    """
    if accepts(facts, received):
        return Arrival.IN_TIME
    elapsed = elapsed_s(facts, received)
    if elapsed is None or elapsed < 0.0 or facts.voided is not None:
        return Arrival.REFUSED
    return Arrival.REFUSED if takes_no_more(facts, received) else Arrival.LATE
