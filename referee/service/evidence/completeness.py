# SPDX-License-Identifier: Apache-2.0
"""The completeness of a session's evidence: it needs an energy with a verdict, and a score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from referee.core.instant import seconds_between
from referee.core.states import SessionState, remaining_s, state_of
from referee.errors import Unavailable
from referee.service.setup.contest import Contest
from referee.store.readings import energy_of
from referee.store.replay import strands_of
from referee.store.sessions import (
    SessionRecord,
    all_sessions,
    load_session,
    sessions_to_score,
)

_LOOK_S = 0.5
_LINK_DIGITS = 8


@dataclass(frozen=True)
class Missing:
    """A sentence about the missing part of a session's evidence.

    `to_come_s` is the shortest time in seconds until the part can exist. None means that waiting
    does not help.
    """

    text: str
    to_come_s: float | None


def bundle_name(session_id: int) -> str:
    """Return the name that a session's bundle has among those of its event."""
    return f"session{session_id}.zip"


def bundle_path(contest: Contest, session_id: int, folder: Path) -> Path:
    """Return where a session's bundle lies in a folder, or shall lie.

    Where its name belongs to another session's bundle, it has one of its own (`own_name`).
    Raises `Refusal` (code `session_unknown`).
    """
    path = folder / own_name(contest, session_id)
    return path if path.exists() else folder / bundle_name(session_id)


def own_name(contest: Contest, session_id: int) -> str:
    """Return a name that no other session of this number gives its bundle.

    It has the first digits of the session's first link, so it stays the same.
    """
    with contest.database.read() as connection:
        load_session(connection, session_id)
        first = strands_of(connection, session_id)[0]
    return f"session{session_id}-{first[:_LINK_DIGITS]}.zip"


def all_numbers(contest: Contest) -> list[int]:
    """Return the numbers of all sessions, from the first one on."""
    with contest.database.read() as connection:
        return sorted(session.session_id for session in all_sessions(connection))


def judged_numbers(contest: Contest) -> list[int]:
    """Return the numbers of the sessions with a verdict, from the first one on."""
    with contest.database.read() as connection:
        numbers = sorted(session.session_id for session in all_sessions(connection))
        return [number for number in numbers if energy_of(connection, number) is not None]


def has_verdict(contest: Contest, session_id: int) -> bool:
    """Tell whether a session's energy is judged; it may be VOID."""
    with contest.database.read() as connection:
        return energy_of(connection, session_id) is not None


def missing_from(contest: Contest, session_id: int) -> Missing | None:
    """Return what is missing now, or None if energy, verdict and score exist.

    Raises `Refusal` (code `session_unknown`).
    """
    with contest.database.read() as connection:
        session = load_session(connection, session_id)
        state = state_of(session.facts, contest.clock.now())
        name = f"Session {session_id} of '{session.team}'"
        if state is SessionState.VOID:
            return Missing(
                f"{name} is VOID ({session.void_reason}): it has no score that counts.", None
            )
        if state in (SessionState.READY, SessionState.ARMED):
            return Missing(f"{name} is {state.value}: it has not run yet.", None)
        if state is SessionState.RUNNING:
            return _running(contest, session, name)
        if energy_of(connection, session_id) is None:
            return Missing(f"{name} has no energy and no score yet.", 0.0)
        if session_id in {one.session_id for one in sessions_to_score(connection)}:
            return Missing(f"{name} has an energy, and no score of it yet.", 0.0)
        return None


def _running(contest: Contest, session: SessionRecord, name: str) -> Missing:
    left_s = remaining_s(session.facts, contest.clock.now())
    return Missing(f"{name} runs for another {left_s:.0f} s.", left_s)


def wait_until_complete(
    contest: Contest,
    session_id: int,
    *,
    wait_s: float,
    is_hosted: Callable[[], bool],
    pause: Callable[[float], object],
    tell: Callable[[str], object],
) -> None:
    """Wait until nothing is missing from a session's evidence.

    `is_hosted` tells whether the referee's servers run; without them no session is scored. `tell`
    gets sentences about the progress. Raises `Unavailable` with the missing part after `wait_s`
    seconds, or earlier if waiting cannot help.
    """
    begun = contest.clock.now()
    while (missing := missing_from(contest, session_id)) is not None:
        if missing.to_come_s is None:
            raise Unavailable(missing.text)
        if not is_hosted():
            raise Unavailable(
                f"{missing.text} Nobody is scoring: the referee's servers do not run on this "
                "folder. Start them as before, and they finish the work."
            )
        waited_s = seconds_between(begun, contest.clock.now())
        if waited_s + missing.to_come_s > wait_s:
            raise Unavailable(
                f"{missing.text} Waited {waited_s:.0f} s. Export it later, or give a longer --wait."
            )
        tell(f"{missing.text} Waiting, {waited_s:.0f} of at most {wait_s:.0f} s.")
        pause(_LOOK_S)
