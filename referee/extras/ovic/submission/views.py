# SPDX-License-Identifier: Apache-2.0
"""What teams and operators see of the entries: each entry, the line, and the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from referee.extras.ovic.judging.figures import score_fields
from referee.extras.ovic.rules.entry_states import BUSY, EntryState, line
from referee.extras.ovic.rules.leaderboard import Row, ScoredEntry, leaderboard
from referee.extras.ovic.rules.score import ovic_score
from referee.extras.ovic.submission.entries import EntryRecord, all_entries, events_of_entry
from referee.extras.ovic.submission.tasks import Task
from referee.store.database import Connection
from referee.store.finals import is_final
from referee.store.teams import withdrawn_teams

_STANDING = (EntryState.RECEIVED, EntryState.WAITING, *BUSY)


def places_of(standing: Sequence[EntryRecord]) -> dict[int, int]:
    """Return the place of each entry in its line, from 1: one line validates, one measures."""
    return {
        entry.entry_id: place
        for state in (EntryState.RECEIVED, EntryState.WAITING)
        for place, entry in enumerate(line(standing, state), 1)
    }


def standing_entries(connection: Connection) -> list[EntryRecord]:
    """Return the entries that are not over."""
    return all_entries(connection, states=_STANDING)


def entry_view(
    entry: EntryRecord, tasks: Mapping[str, Task], places: Mapping[int, int]
) -> dict[str, Any]:
    """Return an entry as its team sees it, ready for JSON.

    `place` is its place in the line, or None. `metric` is None unless the entry is scored and
    valid; `reasons` then says why not, and also why a model was refused.
    """
    view: dict[str, Any] = {
        "entry": entry.entry_id,
        "team": entry.team,
        "task": entry.task,
        "file": entry.file_name,
        "bytes": entry.size_bytes,
        "model_sha256": entry.model_sha256,
        "received_utc": entry.utc,
        "state": entry.state.value,
        "since_utc": entry.state_utc,
        "place": places.get(entry.entry_id),
        "tries": entry.tries,
        "text": entry.text,
        **dict.fromkeys(("accuracy", "latency_ms", "clamped_ms", "frontier", "metric", "valid")),
        "reasons": [entry.text] if entry.state is EntryState.REFUSED else [],
    }
    task = tasks.get(entry.task)
    if task is not None and entry.accuracy is not None and entry.latency_ms is not None:
        view |= score_fields(ovic_score(task.scoring, entry.accuracy, entry.latency_ms))
    return view


def entry_detail(
    connection: Connection,
    entry: EntryRecord,
    tasks: Mapping[str, Task],
    *,
    for_operators: bool = False,
) -> dict[str, Any]:
    """Return an entry with what happened to it; `for_operators` adds what teams must not see."""
    events = events_of_entry(connection, entry.entry_id)
    view = entry_view(entry, tasks, places_of(standing_entries(connection)))
    if entry.state is EntryState.REFUSED and events:
        view["failures"] = events[-1].detail.get("failures", [])
    view["events"] = [
        {"kind": it.kind, "state": it.state.value, "utc": it.utc, "text": it.text}
        | ({"actor": it.actor, "detail": it.detail} if for_operators else {})
        for it in events
    ]
    return view


def leaderboard_view(
    connection: Connection, tasks: Mapping[str, Task], names: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the leaderboard of some or all tasks, without teams that withdrew, ready for JSON.

    `final` says whether the event's results are approved: then no entry comes or changes.
    """
    gone = withdrawn_teams(connection)
    scored = all_entries(connection, states=(EntryState.SCORED,))
    scored = [entry for entry in scored if entry.team not in gone]
    standing = standing_entries(connection)
    return {
        "final": is_final(connection),
        "tasks": [_task_view(tasks[name], scored) for name in names or tasks],
        "line": line_view(standing),
    }


def line_view(standing: Sequence[EntryRecord]) -> dict[str, Any]:
    """Return how many entries stand in each line, and the entry whose model runs now."""
    busy = next((entry for entry in standing if entry.state in BUSY), None)
    count = {state: sum(it.state is state for it in standing) for state in _STANDING}
    return {
        "received": count[EntryState.RECEIVED],
        "waiting": count[EntryState.WAITING],
        "now": (
            None
            if busy is None
            else {
                "entry": busy.entry_id,
                "team": busy.team,
                "task": busy.task,
                "state": busy.state.value,
                "since_utc": busy.state_utc,
            }
        ),
    }


def _task_view(task: Task, scored: Sequence[EntryRecord]) -> dict[str, Any]:
    rules = task.scoring
    entries = [
        ScoredEntry(it.entry_id, it.team, it.accuracy, it.latency_ms)
        for it in scored
        if it.task == task.name and it.accuracy is not None and it.latency_ms is not None
    ]
    names = {it.entry_id: it.file_name for it in scored}
    return {
        "task": task.name,
        "accuracy": rules.accuracy,
        "target_ms": rules.target_ms,
        "fastest_ms": rules.fastest_ms,
        "slowest_ms": rules.slowest_ms,
        "rules": rules.name,
        "note": rules.note or None,
        "rows": [_row_view(row, names) for row in leaderboard(rules, entries)],
    }


def _row_view(row: Row, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "team": row.entry.team,
        "entry": row.entry.entry_id,
        "file": names[row.entry.entry_id],
        "entries": row.entries,
        **score_fields(row.score),
    }
