# SPDX-License-Identifier: Apache-2.0
"""What programs and pages get of OVIC: scores, entries, the line and the leaderboard, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class ScoreFields(TypedDict):
    """What a score is made of; all of it is null while there is none."""

    accuracy: float | None
    latency_ms: float | None
    clamped_ms: float | None
    frontier: float | None
    metric: float | None
    valid: bool | None
    reasons: list[str]


NO_SCORE: ScoreFields = {
    "accuracy": None,
    "latency_ms": None,
    "clamped_ms": None,
    "frontier": None,
    "metric": None,
    "valid": None,
    "reasons": [],
}
"""The fields of a score that there is not."""


class BuildView(TypedDict):
    """One measurement of an entry."""

    build: str
    utc: str
    round: int | None
    accuracy: float
    latency_ms: float
    metric: float | None
    valid: bool
    comparable: bool
    struck: str | None
    counts: bool


class MeasuredFields(ScoreFields):
    """The score that counts, and all measurements of an entry."""

    build: str | None
    builds: list[BuildView]


class EventView(TypedDict):
    """What happened to an entry; teams do not see who did it, and the detail."""

    kind: str
    state: str
    utc: str
    text: str
    actor: NotRequired[str]
    detail: NotRequired[Mapping[str, object]]


class EntryView(MeasuredFields):
    """An entry as its team sees it.

    `place` is its place in the line, or null. `metric` is null unless the entry has a valid score;
    `reasons` then says why not, and also why a model was refused. `builds` has all measurements;
    the figures are those of the one that counts.
    """

    entry: int
    team: str
    task: str
    file: str
    bytes: int
    model_sha256: str
    received_utc: str
    state: str
    since_utc: str
    place: int | None
    tries: int
    text: str


class EntryDetail(EntryView):
    """An entry with what happened to it."""

    failures: NotRequired[list[Mapping[str, object]]]
    events: list[EventView]


class ReceiptView(EntryView):
    """What a team gets for a model that it sent."""

    new: bool
    left_today: int


class RoundView(EntryView):
    """An entry of a round: what came of it, and its measurements before and after."""

    outcome: str | None
    outcome_text: str
    measured_ms: float | None
    submitted_ms: float | None


class RunningEntry(TypedDict):
    """The entry whose model runs now."""

    entry: int
    team: str
    task: str
    state: str
    since_utc: str


class LineView(TypedDict):
    """How many entries stand in each line, and the entry whose model runs now."""

    received: int
    waiting: int
    now: RunningEntry | None


class EntriesView(TypedDict):
    """The entries of a team with what it may still submit today, or all entries and the line."""

    team: NotRequired[str]
    line: NotRequired[LineView]
    entries: list[EntryView]
    left_today: NotRequired[dict[str, int]]
    day_ends_utc: NotRequired[str]
    closes_utc: NotRequired[str | None]


class ScoredEntryView(MeasuredFields):
    """An entry with a score, for operators."""

    entry: int
    team: str
    file: str


class RowView(ScoredEntryView):
    """A team's place on a leaderboard, with its best entry, of how many."""

    rank: int | None
    entries: int


class TaskView(TypedDict):
    """The leaderboard of a task."""

    task: str
    accuracy: str
    target_ms: float
    fastest_ms: float
    slowest_ms: float
    rules: str
    note: str | None
    rows: list[RowView]
    entries: NotRequired[Sequence[ScoredEntryView]]


class LeaderboardView(TypedDict):
    """The leaderboards of all tasks; `final` says that the event's results are approved."""

    final: bool
    tasks: list[TaskView]
    line: LineView
    closes_utc: NotRequired[str | None]
