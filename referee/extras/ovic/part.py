# SPDX-License-Identifier: Apache-2.0
"""What the contest asks OVIC: before the start, for the board and the audience, at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from referee.core.counts import counted
from referee.errors import RefereeError
from referee.extras.ovic.judging.machine import choose_core
from referee.extras.ovic.rules.documents import RowView, TaskView
from referee.extras.ovic.rules.entry_states import HAS_SCORE, EntryState
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.entries import EntryRecord, all_entries
from referee.extras.ovic.submission.intake import moment_text
from referee.extras.ovic.submission.judging_settings import require_settings
from referee.extras.ovic.submission.place import board_of, place_of_contest
from referee.extras.ovic.submission.rounds import last_round, round_began
from referee.extras.ovic.submission.tasks import open_tasks, require_usable
from referee.extras.ovic.submission.views import leaderboard_view, line_view, standing_entries
from referee.service.preflight.finding import CheckResult, fail, ok
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import ConsoleBox, Leaderboard, LeaderboardColumn
from referee.store.database import Connection

_COLUMNS = (
    LeaderboardColumn("rank", "rank"),
    LeaderboardColumn("team"),
    LeaderboardColumn("points", "score"),
    LeaderboardColumn("accuracy %", "number"),
    LeaderboardColumn("ms", "number"),
)
_JUDGED = (EntryState.SCORED, EntryState.REFUSED, EntryState.VOID)


def console_box(connection: Connection) -> ConsoleBox:
    """Return what the line of entries does now, with the way to the leaderboard."""
    line = line_view(standing_entries(connection))
    now = line["now"]
    running = "No model runs now."
    if now is not None:
        running = f"Entry {now['entry']} of {now['team']} is {now['state']}."
    return ConsoleBox(
        title="OVIC",
        text=f"{running} {line['received']} to validate, {line['waiting']} to measure.",
        link="ovic",
        link_text="Leaderboard and entries",
    )


def public_leaderboards(contest: Contest, connection: Connection) -> Sequence[Leaderboard]:
    """Return the leaderboard of each open task; the public sees no more than the teams."""
    if not ovic_of(contest.config).leaderboard_for_teams:
        return ()
    tasks = leaderboard_view(connection, open_tasks(contest.config))["tasks"]
    return [_public_leaderboard(task) for task in tasks]


def _public_leaderboard(task: TaskView) -> Leaderboard:
    """Return a task's leaderboard: points above the frontier of accuracy at the model's latency."""
    return Leaderboard(
        title=f"OVIC {task['task']}",
        note=f"{task['accuracy']} above the frontier, target {task['target_ms']:g} ms",
        columns=_COLUMNS,
        cells=[_public_cells(row) for row in task["rows"]],
        nothing="No model is scored yet.",
    )


def _public_cells(row: RowView) -> Sequence[str]:
    metric = row["metric"]
    return (
        "–" if row["rank"] is None else str(row["rank"]),
        row["team"],
        "too slow" if metric is None else f"{'−' if metric < 0 else '+'}{abs(metric):.3f}",
        f"{row['accuracy']:.2f}",
        f"{row['latency_ms']:.3f}",
    )


def open_points(contest: Contest, connection: Connection, active: Collection[str]) -> Iterator[str]:
    """Yield a point for each model of these teams whose judgement is open, and for the close."""
    entries = all_entries(connection)
    if ovic_of(contest.config).is_open:
        yield from _of_close(contest, connection, active, entries)
    for entry in entries:
        if entry.team not in active or entry.state in _JUDGED:
            continue
        name = f"Entry {entry.entry_id} of '{entry.team}' ({entry.task})"
        void = f"or take it out: 'referee ovic void {entry.entry_id}'"
        if entry.state is EntryState.FAILED:
            again = f"'referee ovic again {entry.entry_id}'"
            yield f"{name} failed through the referee. Try it again: {again}, {void}."
        elif entry.state in HAS_SCORE:
            yield f"{name} is measured again. Wait until that is over, {void}."
        else:
            yield f"{name} is {entry.state.value}. Wait until it is judged, {void}."


def _of_close(
    contest: Contest, connection: Connection, active: Collection[str], entries: list[EntryRecord]
) -> Iterator[str]:
    """Yield a point before models are closed, and after it until a round has begun."""
    closes = ovic_of(contest.config).closes_at
    if closes is None:
        return
    if contest.clock.now().utc < closes:
        yield (
            f"OVIC takes models until {moment_text(closes)}. Wait, or give an earlier 'closes' in "
            "the section [ovic]."
        )
        return
    number = last_round(connection)
    after = number is not None and datetime.fromisoformat(round_began(connection, number)) >= closes
    if not after and any(entry.team in active and entry.state in HAS_SCORE for entry in entries):
        yield (
            f"OVIC takes no models since {moment_text(closes)}, and no round has measured all "
            "entries since then: 'referee ovic round'."
        )


def kept_of(connection: Connection, team: str) -> str:
    """Return the first entry of a team, which keeps the team on record, or ''."""
    entries = all_entries(connection, team=team)
    return f"entry {entries[0].entry_id} of OVIC" if entries else ""


def check_ovic(config: Config) -> Iterator[CheckResult]:
    """Check what the judge of models needs; a contest without open tasks has no such check."""
    try:
        tasks = open_tasks(config)
        if not tasks:
            return
        count = require_usable(tasks)
        require_settings(config, tasks)
    except RefereeError as error:
        remedy = "Repair it, or leave the section [ovic] empty."
        yield fail("OVIC", "tasks", str(error), remedy)
        return
    try:
        where = _measured(config)
    except RefereeError as error:
        remedy = "Reach the board by hand with ssh, or leave 'board' out."
        yield fail("OVIC", "board", str(error), remedy)
        return
    yield ok("OVIC", "tasks", f"{' and '.join(tasks)}, {counted(count, 'image')}, measured {where}")


def _measured(config: Config) -> str:
    """Return where models are measured; a board is reached, and its agent started, to prove it."""
    board = board_of(config)
    if board is None:
        core = choose_core(ovic_of(config).core)
        return "on no fixed core" if core is None else f"on core {core}"
    with place_of_contest(config)():
        return f"on the board {board}"


def require_tasks(config: Config) -> None:
    """Raise `InputError` for tasks that the judge of models could not serve.

    So is a change of settings that might take the score of an entry away.
    """
    tasks = open_tasks(config)
    if tasks:
        require_usable(tasks)
        require_settings(config, tasks)
