# SPDX-License-Identifier: Apache-2.0
"""Queries for scores: snapshots during a session, and scoring runs after it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.core.instant import Instant
from referee.store.images import load_inputs


@dataclass(frozen=True)
class Snapshot:
    """The live accuracy of all answers up to `upto_answer_id`, as the track defines it."""

    upto_answer_id: int
    accuracy: float | None
    detection_count: int


@dataclass(frozen=True)
class ScoringRun:
    """One scoring of a session from its stored rows; `detail` is the content of score.json."""

    upto_answer_id: int
    energy_id: int
    accuracy: float | None
    score: float | None
    detail: Mapping[str, Any]


def insert_snapshot(
    connection: sqlite3.Connection, session_id: int, utc: str, snapshot: Snapshot
) -> None:
    """Add a snapshot."""
    connection.execute(
        "insert into score_snapshots (session_id, upto_answer_id, utc, accuracy, detection_count)"
        " values (:session, :upto, :utc, :accuracy, :count)",
        {
            "session": session_id,
            "upto": snapshot.upto_answer_id,
            "utc": utc,
            "accuracy": snapshot.accuracy,
            "count": snapshot.detection_count,
        },
    )


def newest_snapshot(connection: sqlite3.Connection, session_id: int) -> Snapshot | None:
    """Return the session's newest snapshot, or None."""
    row = connection.execute(
        "select upto_answer_id, accuracy, detection_count from score_snapshots"
        " where session_id = :session order by snapshot_id desc limit 1",
        {"session": session_id},
    ).fetchone()
    return None if row is None else Snapshot(*row)


def insert_scoring_run(
    connection: sqlite3.Connection, session_id: int, at: Instant, run: ScoringRun
) -> None:
    """Add a scoring run; the newest scoring run of a session counts."""
    connection.execute(
        "insert into scoring_runs (session_id, upto_answer_id, energy_id, monotonic_s, utc,"
        " boot_id, accuracy, score, detail) values (:session, :upto, :energy, :monotonic_s, :utc,"
        " :boot_id, :accuracy, :score, :detail)",
        {
            "session": session_id,
            "upto": run.upto_answer_id,
            "energy": run.energy_id,
            "monotonic_s": at.monotonic_s,
            "utc": at.utc.isoformat(),
            "boot_id": at.boot_id,
            "accuracy": run.accuracy,
            "score": run.score,
            "detail": json.dumps(run.detail, allow_nan=False),
        },
    )


def newest_scoring_run(connection: sqlite3.Connection, session_id: int) -> ScoringRun | None:
    """Return the session's newest scoring run, or None."""
    return _run(
        connection.execute(
            "select upto_answer_id, energy_id, accuracy, score, detail from scoring_runs"
            " where session_id = :session order by run_id desc limit 1",
            {"session": session_id},
        ).fetchone()
    )


def scoring_run(connection: sqlite3.Connection, run_id: int) -> ScoringRun | None:
    """Return the scoring run with this number, or None."""
    return _run(
        connection.execute(
            "select upto_answer_id, energy_id, accuracy, score, detail from scoring_runs"
            " where run_id = :run",
            {"run": run_id},
        ).fetchone()
    )


def inputs_of(connection: sqlite3.Connection, run: ScoringRun | None) -> dict[str, str]:
    """Return the SHA-256 of each file that a session was scored with, by its role.

    They are those of the contest. A score by other files names them itself.
    """
    inputs = None if run is None else run.detail.get("inputs")
    if inputs is None:
        return {name: file.sha256 for name, file in load_inputs(connection).items()}
    return {str(name): str(digest) for name, digest in inputs.items()}


def _run(row: sqlite3.Row | None) -> ScoringRun | None:
    if row is None:
        return None
    return ScoringRun(row[0], row[1], row[2], row[3], json.loads(row[4]))
