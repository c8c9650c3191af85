# SPDX-License-Identifier: Apache-2.0
"""Scoring again: it makes a proposal of new scores and touches no score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from referee.core.ground_truth import GroundTruth
from referee.core.logins import TeamWords
from referee.core.states import SessionState, state_of
from referee.errors import InputError, Refusal
from referee.formats.hashed_reads import HashedReads
from referee.service.event.proposals import require_none_open, require_words
from referee.service.results.final_score import compute_run
from referee.service.results.finding_words import codes_of, has_words_of_ours
from referee.service.results.session_energy import judge_again
from referee.service.setup.blacklist import bytes_to_keep
from referee.service.setup.contest import Contest
from referee.service.setup.contest_truth import read_truth_with
from referee.store.database import Connection
from referee.store.images import InputFile, keep_blacklist
from referee.store.inputs_in_force import insert_proposed_inputs
from referee.store.notices import insert_audit
from referee.store.proposals import (
    ProposedEnergy,
    ProposedScore,
    insert_proposal,
    newest_score_ids,
)
from referee.store.readings import EnergyRecord, energy_of
from referee.store.sessions import SessionRecord, all_sessions, load_session
from referee.store.team_words import other_words

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Filter:
    """Which sessions a proposal scores again; an empty tuple chooses all.

    `ground_truth` and `blacklist` take the place of the files in force; None keeps those, and
    `no_blacklist` leaves the blacklist out.
    """

    sessions: tuple[int, ...] = ()
    teams: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    ground_truth: Path | None = None
    blacklist: Path | None = None
    no_blacklist: bool = False

    def misses(self, session: SessionRecord, energy: EnergyRecord | None) -> bool:
        """Tell whether the filter leaves a session out."""
        verdict = None if energy is None else energy.verdict
        return bool(
            (self.sessions and session.session_id not in self.sessions)
            or (self.teams and session.team not in self.teams)
            or (self.verdicts and verdict not in self.verdicts)
        )

    def to_json(self) -> dict[str, object]:
        """Return the filter as JSON values."""
        return {
            "sessions": list(self.sessions),
            "teams": list(self.teams),
            "verdicts": list(self.verdicts),
        }


def make_proposal(
    contest: Contest,
    chosen: Filter,
    operator: str,
    reason: str,
    progress: Progress = lambda done, total: None,
) -> int:
    """Score the chosen sessions again, store what would change, and return the proposal's number.

    No score changes. Raises `Refusal` without a reason, while another proposal is open or results
    are final, for an unknown session or team, and if nothing could be scored. Raises `InputError`
    for files that cannot be used.
    """
    require_words(operator, reason)
    connection = contest.database.connection
    require_none_open(connection)
    chosen = _with_known(connection, chosen)
    reads = HashedReads()
    _require_file_that_stays(chosen.ground_truth)
    truth, files = read_truth_with(
        contest, chosen.ground_truth, chosen.blacklist, reads, no_blacklist=chosen.no_blacklist
    )
    inputs = {name: file.sha256 for name, file in files.items()}
    blacklist = files.get("blacklist")
    listed = bytes_to_keep(None if blacklist is None else Path(blacklist.path), reads)
    candidates = [
        session
        for session in reversed(all_sessions(connection))
        if not chosen.misses(session, energy_of(connection, session.session_id))
    ]
    outcomes: dict[int, ProposedScore | str] = {}
    for done, session in enumerate(candidates):
        progress(done, len(candidates))
        outcomes[session.session_id] = _score_again(contest, truth, inputs, session)
    progress(len(candidates), len(candidates))
    scores = [outcome for outcome in outcomes.values() if not isinstance(outcome, str)]
    skips = {number: why for number, why in outcomes.items() if isinstance(why, str)}
    if not scores:
        reasons = tuple(f"Session {number}: {why}" for number, why in skips.items())
        raise Refusal("nothing_to_score", "No session could be scored again.", reasons)
    with contest.database.write() as writer:
        require_none_open(writer)
        if listed is not None:
            keep_blacklist(writer, listed)
        now = contest.clock.now()
        number = insert_proposal(
            writer,
            now,
            operator,
            reason,
            chosen=chosen.to_json(),
            inputs=inputs,
            scores=scores,
            skips=skips,
        )
        insert_proposed_inputs(writer, number, _absolute(files))
        insert_audit(writer, now, operator, f"proposal {number}", None, reason=reason)
    return number


def _score_again(
    contest: Contest, truth: GroundTruth, inputs: dict[str, str], session: SessionRecord
) -> ProposedScore | str:
    """Return what the session's score would be, or why it is skipped."""
    connection, number = contest.database.connection, session.session_id
    state = state_of(session.facts, contest.clock.now())
    if state is SessionState.VOID:
        return f"it is void: {session.void_reason}"
    if state is not SessionState.SCORED:
        return f"it is {state.value}, and only a SCORED session is scored again"
    run_id, energy_id = newest_score_ids(connection, number)
    stored = energy_of(connection, number)
    if stored is None or run_id is None or energy_id is None:
        return "it has no judged energy"
    judged = _judged_again(contest, session, stored)
    same = _same_energy(stored, judged)
    run = compute_run(contest, truth, session, stored if same else judged)
    energy = None
    if not same:
        energy = ProposedEnergy(
            judged.energy_wh, judged.uncertainty_wh, judged.verdict, judged.detail
        )
    return ProposedScore(
        number,
        run_id,
        energy_id,
        run.upto_answer_id,
        run.accuracy,
        run.score,
        {**run.detail, "inputs": inputs},
        energy,
    )


def _judged_again(contest: Contest, session: SessionRecord, stored: EnergyRecord) -> EnergyRecord:
    """Return the energy as the present judge sees it, or the stored one if it lacks the facts."""
    try:
        result, detail = judge_again(contest, session, stored)
    except ValueError:  # An earlier version of the referee judged it.
        return stored
    return replace(
        stored,
        energy_wh=result.energy_wh,
        uncertainty_wh=result.uncertainty_wh,
        verdict=result.verdict.value,
        detail=detail,
    )


def _same_energy(stored: EnergyRecord, judged: EnergyRecord) -> bool:
    """Tell whether a second judgement found the same; words count if one version has put both."""
    found, again = stored.detail, judged.detail
    if has_words_of_ours(found) and list(found["reasons"]) != list(again["reasons"]):
        return False
    return (stored.energy_wh, stored.uncertainty_wh, stored.verdict) == (
        judged.energy_wh,
        judged.uncertainty_wh,
        judged.verdict,
    ) and codes_of(found) == codes_of(again)


def _absolute(files: Mapping[str, InputFile]) -> dict[str, InputFile]:
    """Return files by their whole paths: other programs, in other folders, read them later."""
    return {
        name: InputFile(str(Path(file.path).absolute()), file.sha256)
        for name, file in files.items()
    }


def _require_file_that_stays(path: Path | None) -> None:
    """Raise `InputError` for a pipe or a device: the sessions that come need its bytes again.

    Of a blacklist the bytes are stored.
    """
    if path is not None and path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(
            f"{path} is no file that stays. Store it beside contest.toml, and name that file."
        )


def _with_known(connection: Connection, chosen: Filter) -> Filter:
    """Return the filter with the teams' names as they are stored; refuse what is unknown."""
    sessions: Sequence[SessionRecord] = all_sessions(connection)
    for number in chosen.sessions:
        load_session(connection, number)
    known = TeamWords({session.team for session in sessions}, other_words(connection))
    teams = []
    for team in chosen.teams:
        stored = known.find(team)
        if stored is None:
            raise Refusal("team_unknown", f"'{team}' has no session.")
        teams.append(stored)
    return replace(chosen, teams=tuple(teams))
