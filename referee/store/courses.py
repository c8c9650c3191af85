# SPDX-License-Identifier: Apache-2.0
"""Queries for the course of a session: one value of each step of its time, by rising seconds."""

from __future__ import annotations

import sqlite3


def accuracy_course(
    connection: sqlite3.Connection, session_id: int, step_s: float
) -> list[tuple[float, float]]:
    """Return the newest live accuracy of each step, at the second of the answer it includes."""
    rows = connection.execute(
        "select max(answers.elapsed_s), accuracy from score_snapshots"
        " join answers on answers.answer_id = upto_answer_id"
        " where score_snapshots.session_id = :session and accuracy is not null and late = 0"
        " group by cast(answers.elapsed_s / :step as integer) order by 1",
        {"session": session_id, "step": step_s},
    )
    return [(row[0], row[1]) for row in rows]


def energy_course(
    connection: sqlite3.Connection, session_id: int, step_s: float
) -> list[tuple[float, float, float | None]]:
    """Return the newest energy of each step in watt-hours, from the meter's readings.

    Before it stands when the reading came, and behind it the meter's TIME, from which
    `power.energy.moments` tells the moment of the energy.
    """
    rows = connection.execute(
        "select max(elapsed_s), energy_wh, integration_s from readings"
        " where session_id = :session and energy_wh is not null and elapsed_s >= 0"
        " group by cast(elapsed_s / :step as integer) order by 1",
        {"session": session_id, "step": step_s},
    )
    return [(row[0], row[1], row[2]) for row in rows]
