# SPDX-License-Identifier: Apache-2.0
"""OVIC among the results of the event: the standings of each task, and who wins it.

Source: rules of the On-device Visual Intelligence Challenge, April 2020. "A participant (or a team)
can submit to and win prizes in either or both categories."
"""

from __future__ import annotations

from referee.extras.ovic.rules.documents import TaskView
from referee.extras.ovic.submission.tasks import open_tasks
from referee.extras.ovic.submission.views import leaderboard_view
from referee.service.event.guest_standings import GuestColumn, GuestStandings, GuestTable
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.teams import stored_teams

_COLUMNS = {
    "rank": "d",
    "metric": "+.4f",
    "accuracy": ".2f",
    "latency_ms": ".3f",
    "entry": "d",
    "entries": "d",
    "task": "",
    "team": "",
}


def standings(contest: Contest, connection: Connection) -> GuestStandings:
    """Return the standings of each open task with its winners.

    The best rank among the teams that take prizes wins a task; equal metrics win both.
    """
    declines = {team.name for team in stored_teams(connection) if not team.registration.prizes}
    tasks = leaderboard_view(connection, open_tasks(contest.config))["tasks"]
    winners = {task["task"]: _winners(task, declines) for task in tasks}
    return GuestStandings(
        tables=[_table(task, winners[task["task"]]) for task in tasks],
        told={"standings": tasks, "winners": winners},
    )


def _winners(task: TaskView, declines: set[str]) -> list[str]:
    ranked = [
        row for row in task["rows"] if row["rank"] is not None and row["team"] not in declines
    ]
    return [row["team"] for row in ranked if row["rank"] == ranked[0]["rank"]]


def _table(task: TaskView, winners: list[str]) -> GuestTable:
    rows = [[(row | {"task": task["task"]})[name] for name in _COLUMNS] for row in task["rows"]]
    won = " and ".join(winners) or "nobody"
    return GuestTable(
        title=f"OVIC {task['task']}, {task['accuracy']}, target {task['target_ms']:g} ms",
        columns=[GuestColumn(name, form) for name, form in _COLUMNS.items()],
        rows=rows,
        notes=[f"OVIC {task['task']}, highest metric: {won}"],
    )
