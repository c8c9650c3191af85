# SPDX-License-Identifier: Apache-2.0
"""What the servers tell about entries: to a team about its own, to operators about all."""

from __future__ import annotations

from referee.errors import Refusal
from referee.extras.ovic.rules.documents import (
    EntriesView,
    EntryDetail,
    LeaderboardView,
    ReceiptView,
)
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.entries import all_entries, load_entry
from referee.extras.ovic.submission.intake import Received, SubmissionIntake
from referee.extras.ovic.submission.tasks import Task
from referee.extras.ovic.submission.views import (
    entry_detail,
    entry_view,
    leaderboard_view,
    line_view,
    places_of,
    standing_entries,
)
from referee.service.setup.config import Config
from referee.store.database import Database

_QUOTED_MOST = 20


class EntryQueries:
    """The questions about entries of one database; its methods may be called from any thread."""

    def __init__(self, config: Config, database: Database, tasks: dict[str, Task]) -> None:
        self._config = config
        self._database = database
        self._tasks = tasks

    def receipt(self, received: Received) -> ReceiptView:
        """Return what a team gets for a model that it sent."""
        places = places_of(standing_entries(self._database.connection))
        view = entry_view(received.entry, self._tasks, places)
        return {**view, "new": received.new, "left_today": received.left_today}

    def entries_of(self, team: str, intake: SubmissionIntake) -> EntriesView:
        """Return all entries of a team, and how many it may still submit today."""
        connection = self._database.connection
        places = places_of(standing_entries(connection))
        entries = all_entries(connection, team=team)
        return {
            "team": team,
            "entries": [entry_view(entry, self._tasks, places) for entry in entries],
            "left_today": {task: intake.left_today(team, task) for task in self._tasks},
            "day_ends_utc": intake.day_ends().isoformat(),
            "closes_utc": self._closes(),
        }

    def entry_of(self, team: str, number: str) -> EntryDetail:
        """Return one entry of a team with what happened to it.

        Raises `Refusal` (code `entry_unknown`), for the entries of other teams too.
        """
        entry_id = int(number) if number.isascii() and number.isdigit() else 0
        unknown = Refusal("entry_unknown", f"Your team has no entry {number[:_QUOTED_MOST]}.")
        if not 0 < entry_id < 2**63:
            raise unknown
        connection = self._database.connection
        try:
            entry = load_entry(connection, entry_id)
        except Refusal:
            raise unknown from None
        if entry.team != team:
            raise unknown
        return entry_detail(connection, entry, self._tasks)

    def leaderboard_for_teams(self) -> LeaderboardView:
        """Return the leaderboard; raise `Refusal` (`leaderboard_closed`) if it is not shown."""
        if not ovic_of(self._config).leaderboard_for_teams:
            raise Refusal("leaderboard_closed", "Only the operators see the leaderboard now.")
        return self.leaderboard()

    def leaderboard(self, *, for_operators: bool = False) -> LeaderboardView:
        """Return the leaderboard of all tasks, and the state of the line.

        `for_operators` adds all entries with a score.
        """
        connection = self._database.connection
        board = leaderboard_view(connection, self._tasks, for_operators=for_operators)
        return {**board, "closes_utc": self._closes()}

    def _closes(self) -> str | None:
        closes = ovic_of(self._config).closes_at
        return None if closes is None else closes.isoformat()

    def all_entries(self) -> EntriesView:
        """Return all entries, and the state of the line, for operators."""
        connection = self._database.connection
        standing = standing_entries(connection)
        places = places_of(standing)
        views = [entry_view(entry, self._tasks, places) for entry in all_entries(connection)]
        return {"line": line_view(standing), "entries": views}
