# SPDX-License-Identifier: Apache-2.0
"""A proposal as pages and programs get it, and as a table of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from referee.core.text_cells import isolated
from referee.service.event.columns import On, ShownColumn, printed_entries, shown_columns
from referee.service.event.proposal_ranks import ranks_of, run_of
from referee.service.event.result_entry import PublicEntry, TrackFigures
from referee.service.results.score_text import ends_of
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.proposals import (
    ProposalEnd,
    ProposalRecord,
    ProposedScore,
    Ranks,
    decided_ranks,
    proposal_skips,
    proposed_scores,
    stored_proposals,
)
from referee.store.scores import ScoringRun, scoring_run
from referee.store.sessions import load_session
from referee.tracks.track import Track

_COMPARED = ("rank", "mean_ap", "energy_wh", "score", "verdict")


class Side(Struct, frozen=True, kw_only=True):
    """A session's result before a proposal, or with it; `printed` has its cells.

    A session that does not count has no rank.
    """

    mean_ap: float | None
    energy_wh: float | None
    score: float | None
    score_low: float | None
    score_high: float | None
    verdict: str | None
    rank: int | None = None
    printed: Mapping[str, str] = {}


class ComparedScore(Struct, frozen=True, kw_only=True):
    """A session's result as it was and as a proposal makes it."""

    session: int
    team: str
    changed: bool
    old: Side | None
    new: Side


class SkippedSession(Struct, frozen=True, kw_only=True):
    """A session that a proposal leaves out, and why."""

    session: int
    team: str
    reason: str


class ShownProposal(Struct, frozen=True, kw_only=True):
    """A proposal with its table; `columns` are those of the ranking.

    The ranks of a proposal that has ended are those of that moment, as other sessions may have
    moved since; one that ended under an early version has none.
    """

    proposal: int
    state: str
    filter: Mapping[str, object]
    inputs: Mapping[str, object]
    reason: str
    operator: str
    utc: str
    end: ProposalEnd | None
    columns: Sequence[ShownColumn]
    scores: Sequence[ComparedScore]
    skipped: Sequence[SkippedSession]


def all_proposals(contest: Contest) -> list[ShownProposal]:
    """Return every proposal, the newest first."""
    with contest.database.read() as connection:
        return [
            shown_proposal(contest, connection, proposal)
            for proposal in stored_proposals(connection)
        ]


def shown_proposal(
    contest: Contest, connection: Connection, proposal: ProposalRecord
) -> ShownProposal:
    """Return a proposal with its table."""
    scores = proposed_scores(connection, proposal.proposal_id)
    if proposal.end:
        ranks = decided_ranks(connection, proposal.proposal_id)
    else:
        ranks = ranks_of(contest, connection, scores)
    return ShownProposal(
        proposal=proposal.proposal_id,
        state="open" if proposal.end is None else proposal.end.kind,
        filter=proposal.filter,
        inputs=proposal.inputs,
        reason=proposal.reason,
        operator=proposal.operator,
        utc=proposal.utc,
        end=proposal.end,
        columns=_columns(contest),
        scores=_printed([_row(contest.track, connection, score, ranks) for score in scores]),
        skipped=[
            SkippedSession(session=number, team=load_session(connection, number).team, reason=why)
            for number, why in proposal_skips(connection, proposal.proposal_id).items()
        ],
    )


def proposal_text(proposal: ShownProposal) -> str:
    """Return a proposal as lines of text."""
    lines = [
        f"Proposal {proposal.proposal}, {proposal.state}: {proposal.reason} "
        f"({proposal.operator}, {proposal.utc})"
    ]
    end = proposal.end
    if end is not None:
        lines.append(f"  {end.kind} by {end.operator} at {end.utc}: {end.reason}")
    for row in proposal.scores:
        lines.append(f"  session {row.session}, {isolated(row.team)}")
        for name, side in (("old", row.old), ("new", row.new)):
            lines.append(f"    {name}  {_cells(side, proposal.columns)}")
        if not row.changed:
            lines.append("    no change")
    lines += [
        f"  skipped: session {row.session}, {isolated(row.team)}: {row.reason}"
        for row in proposal.skipped
    ]
    return "\n".join(lines)


def _row(
    track: Track[Any],
    connection: Connection,
    score: ProposedScore,
    ranks: Ranks,
) -> ComparedScore:
    number = score.session_id
    old = scoring_run(connection, score.old_run_id)
    before = None if old is None else _side(track, old)
    after = _side(track, run_of(score))
    old_rank, new_rank = ranks.get(number, (None, None))
    return ComparedScore(
        session=number,
        team=load_session(connection, number).team,
        changed=before != after,
        old=None if before is None else replace(before, rank=old_rank),
        new=replace(after, rank=new_rank),
    )


def _side(track: Track[Any], run: ScoringRun) -> Side:
    low, high = ends_of(run, track)
    return Side(
        mean_ap=run.accuracy,
        energy_wh=run.detail.get("energy_wh"),
        score=run.score,
        score_low=low,
        score_high=high,
        verdict=run.detail.get("verdict"),
    )


def _columns(contest: Contest) -> list[ShownColumn]:
    """Return the columns of the ranking that new scores may change."""
    figures = TrackFigures(contest.track.accuracy, contest.track.score)
    columns = shown_columns(On.CONSOLE, figures, ())
    return [column for column in columns if column.field in _COMPARED]


def _printed(rows: Sequence[ComparedScore]) -> list[ComparedScore]:
    """Return rows with the cells of each side, printed as the ranking prints them."""
    sides = [side for row in rows for side in (row.old, row.new) if side is not None]
    cells = iter(printed_entries([_entry(side) for side in sides]))
    return [
        replace(
            row,
            old=None if row.old is None else _with_cells(row.old, next(cells)),
            new=_with_cells(row.new, next(cells)),
        )
        for row in rows
    ]


def _entry(side: Side) -> PublicEntry:
    return PublicEntry(
        team="",
        mean_ap=side.mean_ap,
        energy_wh=side.energy_wh,
        score=side.score,
        score_low=side.score_low,
        score_high=side.score_high,
        verdict=side.verdict,
        rank=side.rank,
    )


def _with_cells(side: Side, cells: Mapping[str, str]) -> Side:
    return replace(side, printed={field: cells[field] for field in _COMPARED})


def _cells(side: Side | None, columns: Sequence[ShownColumn]) -> str:
    if side is None:
        return "none"
    return "  ".join(f"{one.head} {side.printed[one.field]}" for one in columns)
