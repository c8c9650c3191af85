# SPDX-License-Identifier: Apache-2.0
"""What was not alike among the sessions of a season's ranking, by the rule of one event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.core.conditions import Difference
from referee.extras.season.rows import ScoredRow
from referee.service.event.conditions import compared
from referee.service.event.told_conditions import not_told_text, read_conditions


@dataclass(frozen=True)
class SessionDifference:
    """What of a session was not as in the others, and what of it its bundle does not tell."""

    differs: tuple[Difference, ...]
    not_told: str


def marks_of(rows: Sequence[ScoredRow]) -> list[SessionDifference]:
    """Return the mark of each session that counts, in the order of the rows.

    Of as many sessions on each side the one that began first is the rule.
    """
    conditions = [read_conditions(row.get("conditions")) for row in rows]
    order = sorted(
        range(len(rows)),
        key=lambda place: (rows[place]["started_utc"] or "", rows[place]["session"]),
    )
    found = compared({turn: conditions[place] for turn, place in enumerate(order)})
    differs = {place: found[turn] for turn, place in enumerate(order)}
    return [
        SessionDifference(differs[place], not_told_text(one))
        for place, one in enumerate(conditions)
    ]
