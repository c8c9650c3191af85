# SPDX-License-Identifier: Apache-2.0
"""Queries for proposals of new scores, which count only after they are applied."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from referee.core.instant import Instant

EndKind = Literal["applied", "cancelled"]


@dataclass(frozen=True)
class ProposedEnergy:
    """A judged energy that would replace the session's."""

    energy_wh: float | None
    uncertainty_wh: float | None
    verdict: str
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class ProposedScore:
    """What would replace a session's score; `energy` is None if its energy stays.

    `old_run_id` and `old_energy_id` were the session's newest when the proposal was made.
    """

    session_id: int
    old_run_id: int
    old_energy_id: int
    upto_answer_id: int
    accuracy: float | None
    score: float | None
    detail: Mapping[str, Any]
    energy: ProposedEnergy | None


@dataclass(frozen=True)
class ProposalEnd:
    """How a proposal ended, who decided it, and why."""

    kind: EndKind
    reason: str
    operator: str
    utc: str


Ranks = Mapping[int, tuple[int | None, int | None]]
"""The ranks by session, as they were and as a proposal makes them."""


@dataclass(frozen=True)
class ProposalRecord:
    """A stored proposal; `end` is None while nobody has decided.

    `filter` says which sessions were chosen. `inputs` has the SHA-256 of each file that the scores
    come from, by its role.
    """

    proposal_id: int
    filter: Mapping[str, object]
    inputs: Mapping[str, str]
    reason: str
    operator: str
    utc: str
    end: ProposalEnd | None


def insert_proposal(
    connection: sqlite3.Connection,
    at: Instant,
    operator: str,
    reason: str,
    *,
    chosen: Mapping[str, object],
    inputs: Mapping[str, str],
    scores: Sequence[ProposedScore],
    skips: Mapping[int, str],
) -> int:
    """Add a proposal with all its rows and return its number."""
    cursor = connection.execute(
        "insert into proposals (filter, inputs, reason, operator, utc)"
        " values (:filter, :inputs, :reason, :operator, :utc)",
        {
            "filter": json.dumps(dict(chosen)),
            "inputs": json.dumps(dict(inputs)),
            "reason": reason,
            "operator": operator,
            "utc": at.utc.isoformat(),
        },
    )
    proposal_id = int(cursor.lastrowid or 0)
    connection.executemany(
        "insert into proposed_scores (proposal_id, session_id, old_run_id, old_energy_id,"
        " upto_answer_id, accuracy, score, detail, energy) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(proposal_id, *_columns(score)) for score in scores],
    )
    connection.executemany(
        "insert into proposal_skips (proposal_id, session_id, reason) values (?, ?, ?)",
        [(proposal_id, session_id, why) for session_id, why in skips.items()],
    )
    return proposal_id


def stored_proposals(connection: sqlite3.Connection) -> list[ProposalRecord]:
    """Return all proposals, the newest first."""
    rows = connection.execute(
        "select p.proposal_id, p.filter, p.inputs, p.reason, p.operator, p.utc, e.kind,"
        " e.reason as end_reason, e.operator as end_operator, e.utc as end_utc"
        " from proposals as p left join proposal_ends as e using (proposal_id)"
        " order by p.proposal_id desc"
    )
    return [
        ProposalRecord(
            row["proposal_id"],
            json.loads(row["filter"]),
            json.loads(row["inputs"]),
            row["reason"],
            row["operator"],
            row["utc"],
            (
                None
                if row["kind"] is None
                else ProposalEnd(
                    row["kind"], row["end_reason"], row["end_operator"], row["end_utc"]
                )
            ),
        )
        for row in rows
    ]


def proposed_scores(connection: sqlite3.Connection, proposal_id: int) -> list[ProposedScore]:
    """Return what a proposal would change, in the order of the sessions."""
    rows = connection.execute(
        "select session_id, old_run_id, old_energy_id, upto_answer_id, accuracy, score, detail,"
        " energy from proposed_scores where proposal_id = :proposal order by session_id",
        {"proposal": proposal_id},
    )
    return [
        ProposedScore(
            row["session_id"],
            row["old_run_id"],
            row["old_energy_id"],
            row["upto_answer_id"],
            row["accuracy"],
            row["score"],
            json.loads(row["detail"]),
            None if row["energy"] is None else ProposedEnergy(**json.loads(row["energy"])),
        )
        for row in rows
    ]


def proposal_skips(connection: sqlite3.Connection, proposal_id: int) -> dict[int, str]:
    """Return why each skipped session has no new score in a proposal."""
    rows = connection.execute(
        "select session_id, reason from proposal_skips where proposal_id = :proposal"
        " order by session_id",
        {"proposal": proposal_id},
    )
    return {row[0]: row[1] for row in rows}


def insert_decided_ranks(connection: sqlite3.Connection, proposal_id: int, ranks: Ranks) -> None:
    """Store the ranks at the moment at which a proposal ends."""
    connection.executemany(
        "insert into decided_ranks (proposal_id, session_id, old_rank, new_rank)"
        " values (?, ?, ?, ?)",
        [(proposal_id, session_id, *pair) for session_id, pair in ranks.items()],
    )


def decided_ranks(connection: sqlite3.Connection, proposal_id: int) -> Ranks:
    """Return the ranks at the moment at which a proposal ended; a referee before stored none."""
    rows = connection.execute(
        "select session_id, old_rank, new_rank from decided_ranks where proposal_id = :proposal",
        {"proposal": proposal_id},
    )
    return {row["session_id"]: (row["old_rank"], row["new_rank"]) for row in rows}


def insert_proposal_end(connection: sqlite3.Connection, proposal_id: int, end: ProposalEnd) -> None:
    """Record the decision about a proposal; a second one is an error of the database."""
    connection.execute(
        "insert into proposal_ends (proposal_id, kind, reason, operator, utc)"
        " values (:proposal, :kind, :reason, :operator, :utc)",
        {"proposal": proposal_id, **vars(end)},
    )


def was_proposal_applied(connection: sqlite3.Connection) -> bool:
    """Tell whether any proposal was ever applied."""
    found = "select exists (select 1 from proposal_ends where kind = 'applied')"
    return bool(connection.execute(found).fetchone()[0])


def newest_score_ids(
    connection: sqlite3.Connection, session_id: int
) -> tuple[int | None, int | None]:
    """Return the numbers of the session's newest scoring run and newest energy, or None."""
    row = connection.execute(
        "select (select max(run_id) from scoring_runs where session_id = :session),"
        " (select max(energy_id) from energies where session_id = :session)",
        {"session": session_id},
    ).fetchone()
    return row[0], row[1]


def _columns(score: ProposedScore) -> tuple[object, ...]:
    energy = None if score.energy is None else json.dumps(vars(score.energy), allow_nan=False)
    return (
        score.session_id,
        score.old_run_id,
        score.old_energy_id,
        score.upto_answer_id,
        score.accuracy,
        score.score,
        json.dumps(score.detail, allow_nan=False),
        energy,
    )
