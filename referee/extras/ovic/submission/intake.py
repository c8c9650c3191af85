# SPDX-License-Identifier: Apache-2.0
"""The intake of models: what a team may submit, and how it becomes an entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from referee.core.instant import Instant
from referee.errors import Refusal, Unavailable
from referee.extras.ovic.rules.entry_states import EntryState
from referee.extras.ovic.section import models_of, ovic_of
from referee.extras.ovic.submission.entries import (
    EntryRecord,
    NewEntry,
    count_entries_of_day,
    entries_of_model,
    insert_entry,
    load_entry,
    uncounted_entries_of_day,
)
from referee.extras.ovic.submission.models import ComingModel, StoredModel, too_large
from referee.extras.ovic.submission.tasks import Task, require_task
from referee.service.preflight.disk import DISK_FLOOR_BYTES, free_bytes
from referee.service.setup.clock import Clock
from referee.service.setup.config import Config
from referee.store.database import Connection, Database
from referee.store.finals import is_final
from referee.store.journal import Journal
from referee.store.teams import withdrawn_teams

T = TypeVar("T")
Write = Callable[[Connection], T]

COMMIT_S = 45.0
"""The longest wait for the disk after the last byte of a model has come."""

NAME_MOST = 100
"""The most characters of a model's file name that are kept."""


class Commit(Protocol):
    """A way to run a write as one durable transaction."""

    def __call__(self, write: Write[T], /) -> T: ...


@dataclass(frozen=True)
class Received:
    """A model that came: its entry, whether that is new, and how many may still come today."""

    entry: EntryRecord
    new: bool
    left_today: int


class SubmissionIntake:
    """The intake of models, for any team and from any process.

    `commit` runs a transaction and returns when it survives a power cut.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        database: Database,
        commit: Commit,
        tasks: dict[str, Task],
    ) -> None:
        self._config = config
        self._clock = clock
        self._database = database
        self._commit = commit
        self.tasks = tasks

    @property
    def most_bytes(self) -> int:
        """Return the size of the largest model that is taken."""
        return ovic_of(self._config).model_mb << 20

    @property
    def entries_a_day(self) -> int:
        """Return how many entries a team may submit for a task on one day."""
        return ovic_of(self._config).entries_a_day

    @property
    def closes_at(self) -> datetime | None:
        """Return the moment from which no new model is taken, or None."""
        return ovic_of(self._config).closes_at

    def require_acceptable(self, task: str | None, size_bytes: int | None) -> Task:
        """Check before its bytes come whether a model would be taken.

        Raises `Refusal` (`task_unknown`, `model_too_large`, `model_empty`). Raises `Unavailable`
        without room on the disk. The limit of the day is judged when the bytes are here: a repeat
        of a known model counts as nothing new.
        """
        known = require_task(self.tasks, task)
        if size_bytes is not None and size_bytes > self.most_bytes:
            raise too_large(self.most_bytes)
        if size_bytes == 0:
            raise Refusal("model_empty", "The body is empty: send the bytes of the model's file.")
        floor = DISK_FLOOR_BYTES[self._config.contest.mode]
        if free_bytes(self._config) < floor + (size_bytes or self.most_bytes):
            raise Unavailable(
                "The referee's disk has no room for models. Nothing was stored: tell the operator."
            )
        return known

    def new_model(self) -> ComingModel:
        """Return a model that begins to come in; the caller drops it at the end."""
        return ComingModel(models_of(self._config), self.most_bytes)

    def require_place(self, team: str, task: Task, sha256: str) -> None:
        """Check before a model is kept whether `enter` would take it, and raise as `enter` does.

        Without this check a team without entries left could fill the disk. `enter` judges again,
        because other models of the team may come at the same moment.
        """
        self._place(self._database.connection, team, task, sha256, self._clock.now())

    def enter(
        self, team: str, task: Task, model: StoredModel, file_name: str, address: str
    ) -> Received:
        """Make an entry of a model that is on the disk; return when the entry is, too.

        The same model of the same team for the same task is the same entry: a client that got no
        answer may send it again. But a new entry takes the place of one that failed through the
        referee. Raises `Refusal` (`entries_spent`, `team_withdrawn`, `entries_closed`), and
        `Unavailable` for a slow disk.
        """
        now = self._clock.now()

        def write(connection: Connection) -> tuple[int, bool, int]:
            known, left = self._place(connection, team, task, model.sha256, now)
            if known is not None:
                return known, False, left
            new = NewEntry(
                team=team,
                task=task.name,
                model_sha256=model.sha256,
                size_bytes=model.size_bytes,
                file_name=kept_name(file_name),
                utc=now.utc.isoformat(),
                day=day_of(now),
                address=address,
            )
            return insert_entry(connection, new), True, left - 1

        number, new, left = self._commit(write)
        return Received(load_entry(self._database.connection, number), new, max(left, 0))

    def left_today(self, team: str, task: str) -> int:
        """Return how many entries a team may still submit for a task today."""
        return max(self._left(self._database.connection, team, task, self._clock.now()), 0)

    def _left(self, connection: Connection, team: str, task: str, now: Instant) -> int:
        """Return how many entries the day still has; below 0 after a change of the setting.

        Refusals that do not count are as many as the day has entries. Without this bound a model
        could be tried on the hidden images for ever.
        """
        place = (team, task, day_of(now))
        spent = count_entries_of_day(connection, *place)
        free = min(uncounted_entries_of_day(connection, *place), self.entries_a_day)
        return self.entries_a_day - (spent - free)

    def day_ends(self) -> datetime:
        """Return the next midnight in UTC, when the limit of the day begins anew."""
        return end_of_day(self._clock.now())

    def _place(
        self, connection: Connection, team: str, task: Task, sha256: str, now: Instant
    ) -> tuple[int | None, int]:
        """Return the entry that this model is already, if any, and how many may still come today.

        Raises `Refusal` (`entries_spent`, `team_withdrawn`, `entries_closed`).
        """
        if team in withdrawn_teams(connection):
            raise Refusal(
                "team_withdrawn", f"Nothing was stored: '{team}' has withdrawn from the event."
            )
        left = self._left(connection, team, task.name, now)
        for entry in entries_of_model(connection, team, task.name, sha256):
            if entry.state is not EntryState.FAILED:
                return entry.entry_id, left
        if is_final(connection):
            raise Refusal(
                "entries_closed", "Nothing was stored: the results are final, so no model is taken."
            )
        closes = self.closes_at
        if closes is not None and now.utc >= closes:
            raise Refusal(
                "entries_closed",
                f"Nothing was stored: models were taken until {moment_text(closes)}.",
            )
        if left <= 0:
            raise self._spent(task, now)
        return None, left

    def _spent(self, task: Task, now: Instant) -> Refusal:
        hours, rest = divmod(int((end_of_day(now) - now.utc).total_seconds()), 3600)
        return Refusal(
            "entries_spent",
            f"Nothing was stored: the team has its {self.entries_a_day} entries of today for "
            f"{task.name}. The next day begins at 0:00 UTC, in {hours} h {rest // 60:02} min.",
        )


def journal_commit(journal: Journal) -> Commit:
    """Return a `Commit` through the journal of a server's process."""

    def commit(write: Write[T]) -> T:
        future = journal.submit(write)
        try:
            return future.result(COMMIT_S)
        except TimeoutError:
            future.cancel()
            raise journal.held_up(
                "send the model again. If it was stored after all, you get the same entry."
            ) from None

    return commit


def database_commit(database: Database) -> Commit:
    """Return a `Commit` for a program with one thread."""

    def commit(write: Write[T]) -> T:
        with database.write() as connection:
            return write(connection)

    return commit


def day_of(now: Instant) -> str:
    """Return the day in UTC, as YYYY-MM-DD; it begins at 0:00:00 and that moment is part of it."""
    return now.utc.astimezone(UTC).date().isoformat()


def end_of_day(now: Instant) -> datetime:
    """Return the first moment of the next day in UTC."""
    return datetime.combine(now.utc.astimezone(UTC).date() + timedelta(days=1), time(), UTC)


def moment_text(moment: datetime) -> str:
    """Return a moment for people, as 2026-06-10 16:00:00 UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def kept_name(file_name: str) -> str:
    """Return a file's name without its folder, in printable characters, for people alone."""
    name = "".join(c if c.isprintable() else "?" for c in Path(file_name.replace("\\", "/")).name)
    return name[:NAME_MOST] or "model.tflite"
