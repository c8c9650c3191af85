# SPDX-License-Identifier: Apache-2.0
"""The approval of final results, and the review of energies that are doubtful."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from referee.core.conditions import Difference, to_review
from referee.core.counts import counted
from referee.core.states import SessionState, state_of
from referee.core.written_text import one_blank_between, unfit_character
from referee.errors import Refusal
from referee.service.event.doubt import doubt_of
from referee.service.event.result_entry import Results
from referee.service.event.results import approved_results, provisional_results
from referee.service.event.standings import read_standings
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.service.teams.roster import read_roster
from referee.store.condition_reviews import insert_condition_review
from referee.store.database import Connection
from referee.store.finals import (
    insert_finalization,
    insert_reopening,
    insert_review,
    is_final,
    review_of,
)
from referee.store.notices import insert_audit
from referee.store.readings import energy_of
from referee.store.sessions import load_session

_OVER = (SessionState.ENDED, SessionState.SCORED, SessionState.SEALED)


def finalize(contest: Contest, approved_by: Sequence[str], operator: str | None = None) -> Results:
    """Make the results final and return them; a repeat changes nothing.

    `operator` did it, by default the first who approved. The results are stored as they are, and
    every surface shows exactly these from now on. Raises `Refusal` (code `results_open`) with a
    fault for each open point, and (code `practice`) in a rehearsal.
    """
    if contest.config.contest.mode == "practice":
        raise Refusal("practice", "A rehearsal has no final results.")
    names = _names(approved_by)
    with contest.database.write() as connection:
        final = approved_results(connection)
        if final is not None:
            return final
        results = provisional_results(contest, connection)
        if results.open:
            count = len(results.open)
            points = counted(count, "point is", "points are")
            raise Refusal(
                "results_open", f"The results stay provisional: {points} open.", tuple(results.open)
            )
        now = contest.clock.now()
        insert_finalization(connection, now, names, msgspec.to_builtins(results))
        approved = f"approved by {', '.join(names)}"
        insert_audit(connection, now, operator or names[0], "finalize", None, approved)
    return results


def reopen(contest: Contest, operator: str, reason: str) -> None:
    """Make final results provisional again; a repeat changes nothing."""
    _names([operator])
    _require_reason(reason)
    with contest.database.write() as connection:
        if not is_final(connection):
            return
        now = contest.clock.now()
        insert_reopening(connection, now, operator, reason)
        insert_audit(connection, now, operator, "reopen results", None, reason=reason)


def review(contest: Contest, session_id: int, operator: str, reason: str) -> None:
    """Let an ended session stand in spite of a doubt about it; a repeat changes nothing.

    Its energy is doubtful (see `doubt_of`), or it was not run as the others were. A SUSPECT or
    EMULATED energy then counts as it is. An INVALID one still gives no score. The review belongs to
    this energy and to these differences: others need another review. Raises `Refusal` without a
    reason, for a session that is not over, and where nothing is to review.
    """
    review_all(contest, [session_id], operator, reason)


def review_all(contest: Contest, session_ids: Sequence[int], operator: str, reason: str) -> None:
    """Let several sessions stand for one reason, all or none; see `review`."""
    _names([operator])
    _require_reason(reason)
    if not session_ids:
        raise Refusal("session_missing", "Say which sessions are reviewed.")
    with contest.database.write() as connection:
        require_provisional(connection)
        for session_id in dict.fromkeys(session_ids):
            _review(contest, connection, session_id, operator, reason)


def _review(
    contest: Contest, connection: Connection, session_id: int, operator: str, reason: str
) -> None:
    session = load_session(connection, session_id)
    energy = energy_of(connection, session_id)
    state = state_of(session.facts, contest.clock.now())
    if state not in _OVER or energy is None:
        raise Refusal(
            "state_conflict", f"Session {session_id} is {state.value} and has no energy to review."
        )
    doubt = doubt_of(contest.config, energy)
    differs, still_open = _differences(contest, connection, session_id)
    if not doubt and not differs:
        raise Refusal("energy_valid", f"The energy of session {session_id} is VALID.")
    now = contest.clock.now()
    if doubt and review_of(connection, energy.energy_id) is None:
        insert_review(connection, energy.energy_id, now, operator, reason)
        action = f"review {doubt}"
        insert_audit(connection, now, operator, action, session_id, reason=reason)
    if still_open:
        insert_condition_review(connection, session_id, still_open, now, operator, reason)
        action = "review conditions"
        insert_audit(connection, now, operator, action, session_id, reason=reason)


def _differences(
    contest: Contest, connection: Connection, session_id: int
) -> tuple[Sequence[Difference], Sequence[Difference]]:
    """Return what of a session's run differs from the others, and what nobody has reviewed yet."""
    for standing in read_standings(contest, connection, read_roster(contest, connection)):
        if standing.session is not None and standing.session.session_id == session_id:
            return to_review(standing.differs), standing.differs_open
    return (), ()


def _names(names: Sequence[str]) -> list[str]:
    kept = [one_blank_between(name) for name in names if not unfit_character(name) and name.strip()]
    if not kept or len(kept) < len(names):
        raise Refusal("name_missing", "This needs the name of a person. Give it.")
    return kept


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise Refusal("reason_missing", "This needs a reason, which stays on record. Give one.")
