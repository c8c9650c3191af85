# SPDX-License-Identifier: Apache-2.0
"""Rounds: all entries are measured again, for example on a new version of LiteRT.

A round is rows alone: an `again` of each of its entries, in one transaction. The queue then serves
them as any other, so a round goes on after every death.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

from referee.errors import InputError
from referee.extras.ovic.rules.builds import BuildMeasurement
from referee.extras.ovic.rules.entry_states import EntryState
from referee.extras.ovic.submission.entries import (
    EntryRecord,
    NewEvent,
    all_entries,
    events_of_entry,
    record_entry_event,
)
from referee.extras.ovic.submission.entry_queue import EntryQueue
from referee.service.setup.config import Config
from referee.service.setup.folder_lock import lock_folder
from referee.store.database import Connection, Database
from referee.store.teams import withdrawn_teams

Outcome = Literal["open", "scored", "kept", "refused", "failed", "voided"]
"""What came of an entry in a round; `kept` is a failure that leaves the scores it had."""

_ENDS: Collection[str] = ("scored", "kept", "refused", "failed", "voided")
_LOOK_S = 1.0


@dataclass(frozen=True)
class RoundEntry:
    """An entry of a round: what came of it, why, and its measurement in the round, if any."""

    entry: EntryRecord
    outcome: Outcome
    text: str
    measured: BuildMeasurement | None


def begin_round(connection: Connection, tasks: Collection[str], actor: str, utc: str) -> int:
    """Put each entry that has a score, or failed through the referee, into the line again.

    Returns the round's number, from 1. Entries of teams that withdrew and of closed tasks stay as
    they are, and those in the line are measured anyway. Raises `InputError` without an entry.
    """
    gone = withdrawn_teams(connection)
    entries = [
        entry
        for entry in all_entries(connection, states=(EntryState.SCORED, EntryState.FAILED))
        if entry.team not in gone and entry.task in tasks
    ]
    if not entries:
        raise InputError("There is no entry to measure again: none has a score yet.")
    number = (last_round(connection) or 0) + 1
    for entry in entries:
        record_entry_event(
            connection, entry.entry_id, NewEvent("again", utc, actor=actor, round=number)
        )
    return number


def last_round(connection: Connection) -> int | None:
    """Return the number of the newest round, or None before the first."""
    (number,) = connection.execute("select max(round) from ovic_events").fetchone()
    return None if number is None else int(number)


def open_round(connection: Connection) -> int | None:
    """Return the number of the newest round if it is not over, or None."""
    number = last_round(connection)
    if number is None:
        return None
    return (
        number
        if any(entry.outcome == "open" for entry in round_entries(connection, number))
        else None
    )


def round_began(connection: Connection, number: int) -> str:
    """Return when a round began, in UTC."""
    row = connection.execute(
        "select min(utc) from ovic_events where round = :round", {"round": number}
    ).fetchone()
    return str(row[0])


def round_entries(connection: Connection, number: int) -> list[RoundEntry]:
    """Return the entries of a round with what came of them so far, by number."""
    rows = connection.execute(
        "select entry_id from ovic_events where round = :round", {"round": number}
    )
    members = {row[0] for row in rows}
    entries = [entry for entry in all_entries(connection) if entry.entry_id in members]
    return [_of_round(connection, entry, number) for entry in entries]


def _of_round(connection: Connection, entry: EntryRecord, number: int) -> RoundEntry:
    outcome, text, inside = "open", "", False
    for event in events_of_entry(connection, entry.entry_id):
        if event.kind == "again":
            inside = event.round == number
        elif inside and event.kind in _ENDS:
            outcome, text = event.kind, event.text
            break
    measured = next(
        (measurement for measurement in entry.measured if measurement.round == number), None
    )
    return RoundEntry(entry, outcome, text, measured)  # type: ignore[arg-type]


def finish_round(
    config: Config,
    database: Database,
    queue: EntryQueue,
    number: int,
    progress: Callable[[int, int], None],
    pause: Callable[[float], object],
) -> list[RoundEntry]:
    """Let a queue measure a round, and return the round's entries when it is over.

    While a running contest has its own queue, this one looks on. It takes over if that one ends.
    `pause` waits for so many seconds.
    """
    while True:
        entries = round_entries(database.connection, number)
        done = sum(entry.outcome != "open" for entry in entries)
        progress(done, len(entries))
        if done == len(entries):
            return entries
        if not _served_one(config, queue):
            pause(_LOOK_S)


def _served_one(config: Config, queue: EntryQueue) -> bool:
    """Serve one entry; return False while another program has the line, or nothing may begin."""
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_folder(config.storage.folder, "ovic"))
        except InputError:
            return False
        queue.recover()
        return not queue.paused() and queue.step()
