# SPDX-License-Identifier: Apache-2.0
"""What teams and operators see of the entries: each entry, the line, and the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from referee.extras.ovic.judging.figures import score_fields
from referee.extras.ovic.rules.builds import Build, builds_of, counting
from referee.extras.ovic.rules.documents import (
    NO_SCORE,
    BuildView,
    EntryDetail,
    EntryView,
    EventView,
    LeaderboardView,
    LineView,
    MeasuredFields,
    RowView,
    TaskView,
)
from referee.extras.ovic.rules.entry_states import (
    BUSY,
    HAS_SCORE,
    STANDING,
    EntryState,
    measurement_line,
    validation_line,
)
from referee.extras.ovic.rules.frontier import Baseline
from referee.extras.ovic.rules.leaderboard import Row, ScoredEntry, leaderboard
from referee.extras.ovic.submission.entries import (
    EntryEvent,
    EntryRecord,
    all_entries,
    events_of_entry,
)
from referee.extras.ovic.submission.tasks import Task
from referee.store.database import Connection
from referee.store.finals import is_final
from referee.store.teams import withdrawn_teams


def places_of(standing: Sequence[EntryRecord]) -> dict[int, int]:
    """Return the place of each entry in its line, from 1: one line validates, one measures."""
    return {
        entry.entry_id: place
        for waiting in (validation_line(standing), measurement_line(standing))
        for place, entry in enumerate(waiting, 1)
    }


def standing_entries(connection: Connection) -> list[EntryRecord]:
    """Return the entries that are not over."""
    return all_entries(connection, states=STANDING)


def entry_view(
    entry: EntryRecord, tasks: Mapping[str, Task], places: Mapping[int, int]
) -> EntryView:
    """Return an entry as its team sees it."""
    # The figures stand behind what is known of every entry, and there while there are none.
    return {
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
        **_figures(entry, tasks),
    }


def _figures(entry: EntryRecord, tasks: Mapping[str, Task]) -> MeasuredFields:
    """Return what the measurements of an entry say, as long as one of them counts."""
    builds = _builds(entry, tasks)
    if not builds:
        reasons = [entry.text] if entry.state is EntryState.REFUSED else []
        return {**NO_SCORE, "reasons": reasons, "build": None, "builds": []}
    best = counting(builds)
    views = [build_view(build) for build in builds]
    return {**score_fields(best.score), "build": best.measured.build, "builds": views}


def _builds(entry: EntryRecord, tasks: Mapping[str, Task]) -> list[Build]:
    """Return the builds of an entry with a score; none of a closed task's, whose rules are gone."""
    if entry.state not in HAS_SCORE or entry.task not in tasks:
        return []
    return builds_of(tasks[entry.task].scoring, entry.measured)


def build_view(build: Build) -> BuildView:
    """Return one measurement of an entry."""
    return {
        "build": build.measured.build,
        "utc": build.measured.utc,
        "round": build.measured.round,
        "accuracy": build.score.accuracy,
        "latency_ms": build.score.latency_ms,
        "metric": build.score.metric,
        "valid": build.score.valid,
        "comparable": build.comparable,
        "struck": build.measured.struck or None,
        "counts": build.counts,
    }


def entry_detail(
    connection: Connection,
    entry: EntryRecord,
    tasks: Mapping[str, Task],
    *,
    for_operators: bool = False,
) -> EntryDetail:
    """Return an entry with what happened to it; `for_operators` adds what teams must not see."""
    events = events_of_entry(connection, entry.entry_id)
    view = entry_view(entry, tasks, places_of(standing_entries(connection)))
    event_views = [_event_view(event, for_operators) for event in events]
    detail = cast(EntryDetail, dict(view))
    if entry.state is EntryState.REFUSED and events:
        detail["failures"] = events[-1].detail.get("failures", [])
    detail["events"] = event_views
    return detail


def _event_view(event: EntryEvent, for_operators: bool) -> EventView:
    view: EventView = {
        "kind": event.kind,
        "state": event.state.value,
        "utc": event.utc,
        "text": event.text,
    }
    if for_operators:
        view["actor"], view["detail"] = event.actor, event.detail
    return view


def leaderboard_view(
    connection: Connection, tasks: Mapping[str, Task], *, for_operators: bool = False
) -> LeaderboardView:
    """Return the leaderboard of all tasks, without teams that withdrew.

    `for_operators` adds all entries with a score to each task.
    """
    scored = scored_entries(connection)
    views = [_task_view(task, scored, for_operators) for task in tasks.values()]
    line = line_view(standing_entries(connection))
    return {"final": is_final(connection), "tasks": views, "line": line}


def scored_entries(connection: Connection) -> list[EntryRecord]:
    """Return the entries with a score, without those of teams that withdrew."""
    gone = withdrawn_teams(connection)
    scored = all_entries(connection, states=HAS_SCORE)
    return [entry for entry in scored if entry.team not in gone]


def baselines_of(connection: Connection, task: Task) -> list[Baseline]:
    """Return the entries of a task that have a score as baselines, by number."""
    entries = [
        _scored(entry, task) for entry in scored_entries(connection) if entry.task == task.name
    ]
    return [
        Baseline(f"{entry.team} (entry {entry.entry_id})", entry.latency_ms, entry.accuracy)
        for entry in entries
    ]


def line_view(standing: Sequence[EntryRecord]) -> LineView:
    """Return how many entries stand in each line, and the entry whose model runs now."""
    busy = next((entry for entry in standing if entry.state in BUSY), None)
    return {
        "received": len(validation_line(standing)),
        "waiting": len(measurement_line(standing)),
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


def _task_view(task: Task, scored: Sequence[EntryRecord], all_of_them: bool) -> TaskView:
    rules = task.scoring
    known = {entry.entry_id: entry for entry in scored if entry.task == task.name}
    rows = leaderboard(rules, [_scored(entry, task) for entry in known.values()])
    view: TaskView = {
        "task": task.name,
        "accuracy": rules.accuracy,
        "target_ms": rules.target_ms,
        "fastest_ms": rules.fastest_ms,
        "slowest_ms": rules.slowest_ms,
        "rules": rules.name,
        "note": rules.note or None,
        "rows": [_row_view(row, known[row.entry.entry_id], task) for row in rows],
    }
    if all_of_them:
        view["entries"] = [
            {
                "entry": entry.entry_id,
                "team": entry.team,
                "file": entry.file_name,
                **_figures(entry, {task.name: task}),
            }
            for entry in known.values()
        ]
    return view


def _scored(entry: EntryRecord, task: Task) -> ScoredEntry:
    """Return an entry with the measurement that counts."""
    best = counting(builds_of(task.scoring, entry.measured)).measured
    return ScoredEntry(entry.entry_id, entry.team, best.accuracy, best.latency_ms)


def _row_view(row: Row, entry: EntryRecord, task: Task) -> RowView:
    return {
        "rank": row.rank,
        "team": entry.team,
        "entry": entry.entry_id,
        "file": entry.file_name,
        "entries": row.entries,
        **_figures(entry, {task.name: task}),
    }
