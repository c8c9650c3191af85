# SPDX-License-Identifier: Apache-2.0
"""OVIC's part of what the contest shows and asks: on the board, to the audience, at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from referee.extras.ovic.rules.entry_states import EntryState
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.entries import all_entries
from referee.extras.ovic.submission.tasks import open_tasks
from referee.extras.ovic.submission.views import leaderboard_view, line_view, standing_entries
from referee.service.setup.contest import Contest
from referee.store.database import Connection

_JUDGED = (EntryState.SCORED, EntryState.REFUSED, EntryState.VOID)


def line_now(connection: Connection) -> dict[str, Any]:
    """Return the state of the line of entries."""
    return line_view(standing_entries(connection))


def public_leaderboards(contest: Contest, connection: Connection) -> Sequence[Mapping[str, Any]]:
    """Return the leaderboard of each open task; the public sees no more than the teams."""
    if not ovic_of(contest.config).leaderboard_for_teams:
        return ()
    tasks: Sequence[Mapping[str, Any]] = leaderboard_view(connection, open_tasks(contest.config))[
        "tasks"
    ]
    return tasks


def open_points(connection: Connection, active: Collection[str]) -> Iterator[str]:
    """Yield a point for each model of these teams whose judgement is open."""
    for entry in all_entries(connection):
        if entry.team not in active or entry.state in _JUDGED:
            continue
        name = f"Entry {entry.entry_id} of '{entry.team}' ({entry.task})"
        void = f"or take it out: 'referee ovic void {entry.entry_id}'"
        if entry.state is EntryState.FAILED:
            again = f"'referee ovic again {entry.entry_id}'"
            yield f"{name} failed through the referee. Try it again: {again}, {void}."
        else:
            yield f"{name} is {entry.state.value}. Wait until it is judged, {void}."


def kept_of(connection: Connection, team: str) -> str:
    """Return the first entry of a team, which keeps the team on record, or ''."""
    entries = all_entries(connection, team=team)
    return f"entry {entries[0].entry_id} of OVIC" if entries else ""
