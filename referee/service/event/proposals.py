# SPDX-License-Identifier: Apache-2.0
"""Decisions about proposals of new scores: each is applied or cancelled whole, and on record."""

from __future__ import annotations

from referee.core.states import SessionState, state_of
from referee.errors import Refusal
from referee.formats.hashed_reads import HashedReads
from referee.service.event.proposal_ranks import ranks_of
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.service.setup.input_files import resolved_files
from referee.service.setup.input_rule import fault_text
from referee.store.database import Connection
from referee.store.images import load_inputs
from referee.store.inputs_in_force import proposed_files
from referee.store.notices import insert_audit
from referee.store.proposals import (
    EndKind,
    ProposalEnd,
    ProposalRecord,
    ProposedScore,
    insert_decided_ranks,
    insert_proposal_end,
    newest_score_ids,
    proposed_scores,
    stored_proposals,
)
from referee.store.readings import energy_of, insert_energy
from referee.store.scores import ScoringRun, insert_scoring_run
from referee.store.sessions import load_session


def apply_proposal(contest: Contest, number: int, operator: str, reason: str) -> None:
    """Make every score of a proposal count, in one transaction; a repeat changes nothing.

    Raises `Refusal` if it was cancelled, if the results are final, or if any of its sessions has
    changed since it was made: then none changes. The files that it scored with hold for the
    sessions that come; raises `Refusal` (code `proposal_files`) if one is gone or has changed.
    """
    require_words(operator, reason)
    lost = _lost_files(contest, number)  # Before the transaction, because a file may be large.
    with contest.database.write() as connection:
        if not _to_decide(connection, number, "applied"):
            return
        require_provisional(connection)
        if lost:
            raise Refusal(
                "proposal_files",
                f"The sessions that come could not be scored. Nothing was applied. Put the files "
                f"of proposal {number} back, or cancel it.",
                lost,
            )
        scores = proposed_scores(connection, number)
        changed = tuple(filter(None, (_change_since(contest, connection, one) for one in scores)))
        if changed:
            raise Refusal(
                "proposal_old",
                f"Proposal {number} is out of date. Nothing was applied. Cancel it and make "
                f"another. {' '.join(changed)}",
                changed,
            )
        ranks = ranks_of(contest, connection, scores)
        for score in scores:
            _replace(contest, connection, score)
        _end(contest, connection, number, "applied", operator, reason)
        insert_decided_ranks(connection, number, ranks)


def cancel_proposal(contest: Contest, number: int, operator: str, reason: str) -> None:
    """Decide that a proposal changes nothing; a repeat changes nothing either."""
    require_words(operator, reason)
    with contest.database.write() as connection:
        if _to_decide(connection, number, "cancelled"):
            ranks = ranks_of(contest, connection, proposed_scores(connection, number))
            _end(contest, connection, number, "cancelled", operator, reason)
            insert_decided_ranks(connection, number, ranks)


def find_proposal(connection: Connection, number: int) -> ProposalRecord:
    """Return a proposal; raise `Refusal` (code `proposal_unknown`) if there is none."""
    for proposal in stored_proposals(connection):
        if proposal.proposal_id == number:
            return proposal
    raise Refusal("proposal_unknown", f"There is no proposal {number}.")


def _lost_files(contest: Contest, number: int) -> tuple[str, ...]:
    """Return a sentence for each file of a proposal that is not what it was when it was made."""
    connection = contest.database.connection
    proposed = proposed_files(connection, number)
    if not proposed.inputs:  # An earlier version made it, and puts no files in force.
        return ()
    prepared = load_inputs(connection)
    faults = resolved_files(contest.config, prepared, proposed, HashedReads()).faults
    return tuple(map(fault_text, faults))


def _change_since(contest: Contest, connection: Connection, score: ProposedScore) -> str | None:
    """Return a sentence if the session has changed since the proposal was made."""
    session = load_session(connection, score.session_id)
    state = state_of(session.facts, contest.clock.now())
    if state is not SessionState.SCORED:
        return f"Session {score.session_id} is {state.value} by now."
    if newest_score_ids(connection, score.session_id) != (score.old_run_id, score.old_energy_id):
        return f"Session {score.session_id} has a newer score."
    return None


def _replace(contest: Contest, connection: Connection, score: ProposedScore) -> None:
    """Store a proposed energy and score as the session's newest."""
    now, energy_id = contest.clock.now(), score.old_energy_id
    if score.energy is not None:
        insert_energy(connection, score.session_id, utc=now.utc.isoformat(), **vars(score.energy))
        newest = energy_of(connection, score.session_id)
        energy_id = energy_id if newest is None else newest.energy_id
    run = ScoringRun(score.upto_answer_id, energy_id, score.accuracy, score.score, score.detail)
    insert_scoring_run(connection, score.session_id, now, run)


def _to_decide(connection: Connection, number: int, wanted: EndKind) -> bool:
    """Tell whether a proposal is open; a repeat of the same decision is False, another refused."""
    end = find_proposal(connection, number).end
    if end is None:
        return True
    if end.kind == wanted:
        return False
    raise Refusal(
        "proposal_ended",
        f"Proposal {number} was {end.kind} by {end.operator} ({end.reason}). Make another.",
    )


def _end(
    contest: Contest,
    connection: Connection,
    number: int,
    kind: EndKind,
    operator: str,
    reason: str,
) -> None:
    now = contest.clock.now()
    insert_proposal_end(
        connection, number, ProposalEnd(kind, reason, operator, now.utc.isoformat())
    )
    insert_audit(connection, now, operator, f"proposal {number} {kind}", None, reason=reason)


def require_words(operator: str, reason: str) -> None:
    """Raise `Refusal` unless there is a name and a reason."""
    if not operator.strip():
        raise Refusal("name_missing", "This needs the name of a person. Give it.")
    if not reason.strip():
        raise Refusal("reason_missing", "This needs a reason, which stays on record. Give one.")


def require_none_open(connection: Connection) -> None:
    """Raise `Refusal` while a proposal is open, or if the results are final."""
    require_provisional(connection)
    for proposal in stored_proposals(connection):
        if proposal.end is None:
            raise Refusal(
                "proposal_open",
                f"Proposal {proposal.proposal_id} is open. Apply it or cancel it first.",
            )
