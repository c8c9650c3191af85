# SPDX-License-Identifier: Apache-2.0
"""The settings by which each entry was judged, and whether a change of them may stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing

from referee.errors import InputError
from referee.extras.ovic.rules.entry_states import HAS_SCORE, EntryState
from referee.extras.ovic.rules.settings_change import Settings, change_text, changed, only_wider
from referee.extras.ovic.submission.entries import (
    EntryRecord,
    NewEvent,
    all_entries,
    judged_by,
    knows_entries,
    record_entry_event,
)
from referee.extras.ovic.submission.tasks import Task
from referee.service.setup.config import Config
from referee.store.database import Connection, Database
from referee.store.finals import is_final


def settings_of(task: Task) -> Settings:
    """Return the settings by which a task finds a model valid or not."""
    settings = {
        "slower": task.slower,
        "process_s": task.limits.seconds,
        "process_memory_mb": task.limits.memory_bytes >> 20,
    }
    if task.name == "detection":
        return settings | {"boxes": task.rules.boxes, "overhang": task.rules.overhang}
    return settings | {"background": task.rules.background}


def is_outdated(connection: Connection, entry: EntryRecord, task: Task) -> bool:
    """Tell whether an entry was judged by other settings than those of now."""
    before = judged_by(connection, entry.entry_id)
    return before is not None and bool(changed(before, settings_of(task)))


def require_no_lost_score(connection: Connection, tasks: Mapping[str, Task]) -> None:
    """Raise `InputError` if a change of the settings might take the score of an entry away.

    After the final results nothing is judged again, so any change may stand.
    """
    if is_final(connection):
        return
    for entry in all_entries(connection, states=HAS_SCORE):
        task = tasks.get(entry.task)
        before = None if task is None else judged_by(connection, entry.entry_id)
        if task is None or before is None:
            continue
        now = settings_of(task)
        if not only_wider(before, now):
            raise InputError(
                f"[ovic] {change_text(before, now)}, and entry {entry.entry_id} of {entry.team} "
                f"({entry.task}) has a score by the former. Put the setting back, or take out each "
                f"entry with a score: 'referee ovic void {entry.entry_id}'."
            )


def require_settings(config: Config, tasks: Mapping[str, Task]) -> None:
    """Raise as `require_no_lost_score`, for the database of a contest; before it has one, never."""
    if not config.database.is_file():
        return
    with closing(Database(config.database, read_only=True)) as database:
        if knows_entries(database.connection):
            require_no_lost_score(database.connection, tasks)


def judge_refused_again(
    connection: Connection, tasks: Mapping[str, Task], utc: str, actor: str
) -> Iterator[tuple[EntryRecord, str]]:
    """Put refused entries that were judged by other settings into the line; yield what changed."""
    if is_final(connection):
        return
    for entry in all_entries(connection, states=[EntryState.REFUSED]):
        task = tasks.get(entry.task)
        if task is None or not is_outdated(connection, entry, task):
            continue
        text = change_text(judged_by(connection, entry.entry_id) or {}, settings_of(task))
        why = f"The contest's settings changed ({text}): the entry is judged again."
        record_entry_event(
            connection, entry.entry_id, NewEvent("again", utc, actor=actor, text=why)
        )
        yield entry, text
