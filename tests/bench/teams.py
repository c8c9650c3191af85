# SPDX-License-Identifier: Apache-2.0
"""CPU time to import a table of teams: each kind of names, in a short table and in a long one.

A table that is ten times as long may cost each of its teams no more.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from referee.formats.team_table import parse_team_table
from referee.service.teams.registration import import_teams
from referee.service.teams.team_words import look_alike_warnings
from tests.support.contests import make_contest

_TEAMS = (2_000, 20_000)
_NAMES = {
    "plain": "Deep Rocket {}",
    "accents": "Łódź Ünïvërsität {}",
    "another alphabet": "команда {}",
    "one long beginning": "Department of Computer Science and Engineering {}",
}


def run(counts: tuple[int, ...] = _TEAMS) -> None:
    """Import the tables and print what each team of them cost."""
    for kind, name in _NAMES.items():
        costs = [_cost_us(name, count) for count in counts]
        told = ", ".join(
            f"{cost:4.0f} µs a team of {count:,}" for cost, count in zip(costs, counts, strict=True)
        )
        print(f"{kind:20} {told}: {costs[-1] / costs[0]:.2f} times", flush=True)


def _cost_us(name: str, count: int) -> float:
    rows = "\n".join(["team", *(name.format(number) for number in range(count))])
    with tempfile.TemporaryDirectory() as folder:
        contest = make_contest(Path(folder))
        try:
            before = time.process_time()
            lines = parse_team_table(rows.encode(), "table")
            names = import_teams(contest, lines, "table", "bench")
            look_alike_warnings(contest, names)
            return (time.process_time() - before) / count * 1e6
        finally:
            contest.database.close()
