# SPDX-License-Identifier: Apache-2.0
"""Entries, the line and the leaderboard as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.text_cells import isolated, lines_of
from referee.extras.ovic.rules.documents import (
    BuildView,
    EntryView,
    LeaderboardView,
    LineView,
    TaskView,
)

_NONE = "–"


def entry_text(entry: EntryView) -> str:
    """Return an entry as a line, with its reasons below it."""
    words = (
        f"entry {entry['entry']}, {isolated(entry['team'])}, {entry['task']}: {state_text(entry)}"
    )
    reasons = list(dict.fromkeys([*entry["reasons"], *filter(None, [entry["text"]])]))
    return "\n".join([words, *(f"  {reason}" for reason in reasons)])


def state_text(entry: EntryView) -> str:
    """Return an entry's state in words, with its place in the line or its score."""
    words = [str(entry["state"])]
    if entry["place"] is not None:
        words.append(f"{entry['place']}. in the line")
    if entry["builds"]:
        words.append(score_words(entry))
    return ", ".join(words)


def score_words(score: EntryView | BuildView) -> str:
    """Return the figures of an entry, or of one of its builds."""
    return (
        f"metric {figure(score['metric'], '+.4f')},"
        f" accuracy {figure(score['accuracy'], '.2f')} %,"
        f" latency {figure(score['latency_ms'], '.3f')} ms"
    )


def builds_text(entry: EntryView) -> list[str]:
    """Return a line for each measurement of an entry, with the one that counts."""
    lines = []
    for number, build in enumerate(entry["builds"], 1):
        when = "" if build["round"] is None else f", round {build['round']}"
        counts = ", counts" if build["counts"] else ""
        other = "" if build["comparable"] else ", on other data"
        if build["struck"]:
            other = f", struck: {build['struck']}"
        figures = f"{score_words(build)}{counts}{other} ({build['build']})"
        lines.append(f"{number}. {build['utc']}{when}: {figures}")
    return lines


def line_text(line: LineView) -> str:
    """Return the state of the line as a sentence."""
    now = line["now"]
    running = (
        "No model is running."
        if now is None
        else f"Entry {now['entry']} of {isolated(now['team'])} is {now['state']}."
    )
    return (
        f"{running} {line['received']} wait for their validation, {line['waiting']} for their "
        "measurement."
    )


def leaderboard_text(board: LeaderboardView) -> str:
    """Return the leaderboard of each task as a table."""
    state = ["FINAL"] if board["final"] else []
    return "\n\n".join([*state, *(_task_text(task) for task in board["tasks"])])


def _task_text(task: TaskView) -> str:
    head = f"{task['task']}: {task['accuracy']}, target {task['target_ms']:g} ms, {task['rules']}"
    rows = [("rank", "metric", "accuracy %", "latency ms", "entry", "of", "team")]
    rows += [
        (
            _NONE if row["rank"] is None else str(row["rank"]),
            figure(row["metric"], "+.4f"),
            figure(row["accuracy"], ".2f"),
            figure(row["latency_ms"], ".3f"),
            str(row["entry"]),
            str(row["entries"]),
            row["team"],
        )
        for row in task["rows"]
    ]
    if len(rows) == 1:
        return f"{head}\nNo entry is scored yet."
    return "\n".join([head, *table(rows)])


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of texts in columns; all but the last column end on the right."""
    return lines_of(rows, [False] * (len(rows[0]) - 1) + [True])


def figure(value: float | None, form: str) -> str:
    """Return a number in this form, or a dash for None."""
    return _NONE if value is None else format(value, form)
