# SPDX-License-Identifier: Apache-2.0
"""A proposal as JSON for pages and programs, and as a table of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from referee.core.text_cells import isolated
from referee.service.event.columns import On, columns_json, printed_entries
from referee.service.event.proposal_ranks import ranks_of, run_of
from referee.service.event.result_entry import PublicEntry, TrackFigures
from referee.service.results.score_text import ends_of
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.proposals import (
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


def all_proposals(contest: Contest) -> list[dict[str, Any]]:
    """Return every proposal, the newest first, ready for JSON."""
    with contest.database.read() as connection:
        return [
            proposal_json(contest, connection, proposal)
            for proposal in stored_proposals(connection)
        ]


def proposal_json(
    contest: Contest, connection: Connection, proposal: ProposalRecord
) -> dict[str, Any]:
    """Return a proposal with its table, ready for JSON.

    Each row has `old` and `new` with accuracy, energy, score, verdict and rank, and `printed` has
    their cells; `columns` are those of the ranking. A session that does not count has no rank. The
    ranks of a proposal that has ended are those of that moment, as other sessions may have moved
    since; one that ended under an early version has none.
    """
    scores = proposed_scores(connection, proposal.proposal_id)
    if proposal.end:
        ranks = decided_ranks(connection, proposal.proposal_id)
    else:
        ranks = ranks_of(contest, connection, scores)
    return {
        "proposal": proposal.proposal_id,
        "state": "open" if proposal.end is None else proposal.end.kind,
        "filter": proposal.filter,
        "inputs": proposal.inputs,
        "reason": proposal.reason,
        "operator": proposal.operator,
        "utc": proposal.utc,
        "end": None if proposal.end is None else asdict(proposal.end),
        "columns": _columns(contest),
        "scores": _printed([_row(contest.track, connection, score, ranks) for score in scores]),
        "skipped": [
            {"session": number, "team": load_session(connection, number).team, "reason": why}
            for number, why in proposal_skips(connection, proposal.proposal_id).items()
        ],
    }


def proposal_text(proposal: dict[str, Any]) -> str:
    """Return a proposal from `proposal_json` as lines of text."""
    lines = [
        f"Proposal {proposal['proposal']}, {proposal['state']}: {proposal['reason']} "
        f"({proposal['operator']}, {proposal['utc']})"
    ]
    end = proposal["end"]
    if end is not None:
        lines.append(f"  {end['kind']} by {end['operator']} at {end['utc']}: {end['reason']}")
    for row in proposal["scores"]:
        lines.append(f"  session {row['session']}, {isolated(row['team'])}")
        for name in ("old", "new"):
            lines.append(f"    {name}  {_cells(row[name], proposal['columns'])}")
        if not row["changed"]:
            lines.append("    no change")
    lines += [
        f"  skipped: session {row['session']}, {isolated(row['team'])}: {row['reason']}"
        for row in proposal["skipped"]
    ]
    return "\n".join(lines)


def _row(
    track: Track[Any],
    connection: Connection,
    score: ProposedScore,
    ranks: Ranks,
) -> dict[str, Any]:
    number = score.session_id
    old = scoring_run(connection, score.old_run_id)
    before = None if old is None else _side(track, old)
    after = _side(track, run_of(score))
    old_rank, new_rank = ranks.get(number, (None, None))
    return {
        "session": number,
        "team": load_session(connection, number).team,
        "changed": before != after,
        "old": None if before is None else {**before, "rank": old_rank},
        "new": {**after, "rank": new_rank},
    }


def _side(track: Track[Any], run: ScoringRun) -> dict[str, Any]:
    low, high = ends_of(run, track)
    return {
        "mean_ap": run.accuracy,
        "energy_wh": run.detail.get("energy_wh"),
        "score": run.score,
        "score_low": low,
        "score_high": high,
        "verdict": run.detail.get("verdict"),
    }


def _columns(contest: Contest) -> list[dict[str, Any]]:
    """Return the columns of the ranking that new scores may change."""
    figures = TrackFigures(contest.track.accuracy, contest.track.score)
    columns = columns_json(On.CONSOLE, figures, ())
    return [column for column in columns if column["field"] in _COMPARED]


def _printed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the cells of each side, printed as the ranking prints them."""
    sides = [row[name] for row in rows for name in ("old", "new") if row[name] is not None]
    entries = [PublicEntry(team="", **side) for side in sides]
    for side, cells in zip(sides, printed_entries(entries), strict=True):
        side["printed"] = {field: cells[field] for field in _COMPARED}
    return rows


def _cells(side: Mapping[str, Any] | None, columns: Sequence[Mapping[str, Any]]) -> str:
    if side is None:
        return "none"
    return "  ".join(f"{one['head']} {side['printed'][one['field']]}" for one in columns)
