# SPDX-License-Identifier: Apache-2.0
"""Queries for submitted models, and for what happened to them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from referee.errors import Refusal
from referee.extras.ovic.rules.builds import BuildMeasurement
from referee.extras.ovic.rules.entry_states import MOVES, EntryState, EventKind
from referee.extras.ovic.rules.model_rules import UNCOUNTED_RULES
from referee.extras.ovic.rules.settings_change import Settings
from referee.store.teams import ensure_team

_INTERRUPTIONS = """
    (select count(*) from ovic_events as i where i.entry_id = e.entry_id and i.kind = 'interrupted'
        and i.event_id > coalesce((select max(a.event_id) from ovic_events as a
            where a.entry_id = e.entry_id and a.kind = 'again'), 0)) as tries
"""
_SELECT = f"""
select e.entry_id, t.name as team, e.task, e.model_sha256, e.size_bytes, e.file_name, e.utc, e.day,
    coalesce(last.state, 'received') as state, coalesce(last.utc, e.utc) as state_utc,
    coalesce(last.text, '') as text, {_INTERRUPTIONS}
from ovic_entries as e join named_teams as t using (team_id)
left join ovic_events as last on last.event_id =
    (select max(event_id) from ovic_events where entry_id = e.entry_id)
"""
# The round of a measurement is that of the last 'again' before it.
_MEASURED = """
select s.entry_id, s.build, s.utc, s.accuracy, s.latency_ms,
    coalesce(s.detail ->> 'ground_truth_sha256', '') || ' '
        || coalesce(s.detail ->> 'images_sha256', ''),
    (select a.round from ovic_events as a where a.entry_id = s.entry_id and a.kind = 'again'
        and a.event_id < s.event_id order by a.event_id desc limit 1),
    coalesce((select x.text from ovic_events as x where x.entry_id = s.entry_id
        and x.struck = s.event_id), '')
from ovic_events as s
where s.kind = 'scored' and (:entry is null or s.entry_id = :entry) order by s.event_id
"""


@dataclass(frozen=True)
class NewEntry:
    """A model that has come; `day` is its day in UTC, as YYYY-MM-DD."""

    team: str
    task: str
    model_sha256: str
    size_bytes: int
    file_name: str
    utc: str
    day: str
    address: str


@dataclass(frozen=True)
class EntryRecord:
    """An entry and its present state since `state_utc`; `text` says why, for its team.

    `tries` counts its interruptions since it came, or since an operator's `again`. `measured` has
    all its measurements, in order.
    """

    entry_id: int
    team: str
    task: str
    model_sha256: str
    size_bytes: int
    file_name: str
    utc: str
    day: str
    state: EntryState
    state_utc: str
    text: str
    tries: int
    measured: tuple[BuildMeasurement, ...]


@dataclass(frozen=True)
class EntryEvent:
    """One event of an entry; `detail` is for the operators, `round` numbers an `again` of one."""

    kind: EventKind
    state: EntryState
    utc: str
    actor: str
    text: str
    detail: Mapping[str, Any]
    round: int | None = None


@dataclass(frozen=True)
class NewEvent:
    """What has happened to an entry; `text` is for its team, `detail` for the operators.

    `accuracy` in percent, `latency_ms` and `build` are those of a measurement. `round` numbers an
    `again` of one, and `struck` is the event whose measurement is taken out.
    """

    kind: EventKind
    utc: str
    actor: str
    text: str = ""
    accuracy: float | None = None
    latency_ms: float | None = None
    build: str | None = None
    round: int | None = None
    struck: int | None = None
    detail: Mapping[str, object] | None = None


def insert_entry(connection: sqlite3.Connection, new: NewEntry) -> int:
    """Add an entry, and its team if that is new; return the entry's number, from 1."""
    team_id = ensure_team(connection, new.team, new.utc)
    cursor = connection.execute(
        "insert into ovic_entries (team_id, task, model_sha256, size_bytes, file_name, utc, day,"
        " address) values (:team_id, :task, :model_sha256, :size_bytes, :file_name, :utc, :day,"
        " :address)",
        vars(new) | {"team_id": team_id},
    )
    return int(cursor.lastrowid or 0)


def record_entry_event(connection: sqlite3.Connection, entry_id: int, new: NewEvent) -> EntryState:
    """Record what happened to an entry, and return its state afterwards.

    Raises `Refusal` (`entry_unknown`, or `entry_moved` if its state does not allow the event).
    """
    present = load_entry(connection, entry_id).state
    state = MOVES[present].get(new.kind)
    if state is None:
        raise Refusal(
            "entry_moved", f"Entry {entry_id} is {present.value}: it takes no '{new.kind}'."
        )
    detail = json.dumps(new.detail or {}, allow_nan=False)
    connection.execute(
        "insert into ovic_events (entry_id, kind, state, utc, actor, text, accuracy, latency_ms,"
        " build, round, struck, detail) values (:entry, :kind, :state, :utc, :actor, :text,"
        " :accuracy, :latency_ms, :build, :round, :struck, :detail)",
        vars(new) | {"entry": entry_id, "state": state.value, "detail": detail},
    )
    return state


def strike(
    connection: sqlite3.Connection, entry_id: int, number: int, utc: str, *, actor: str, text: str
) -> None:
    """Take one measurement of an entry out, by its number from 1; the others stand.

    Raises `Refusal`: `entry_unknown`, `entry_moved`, or `measurement_needed` where there is no such
    measurement, it is struck already, or no other one is left.
    """
    measured = load_entry(connection, entry_id).measured
    standing = [place for place, measurement in enumerate(measured, 1) if not measurement.struck]
    if number not in standing:
        raise Refusal(
            "measurement_needed",
            f"Entry {entry_id} has no measurement {number} that stands: choose one of"
            f" {', '.join(map(str, standing)) or 'none'}.",
        )
    if len(standing) == 1:
        raise Refusal(
            "measurement_needed",
            f"Measurement {number} is the only one of entry {entry_id}: measure it again first, "
            f"with 'referee ovic again {entry_id}', or take the entry out.",
        )
    rows = connection.execute(
        "select event_id from ovic_events where entry_id = :entry and kind = 'scored'"
        " order by event_id limit 1 offset :before",
        {"entry": entry_id, "before": number - 1},
    )
    struck = rows.fetchone()[0]
    record_entry_event(
        connection, entry_id, NewEvent("struck", utc, actor=actor, text=text, struck=struck)
    )


def load_entry(connection: sqlite3.Connection, entry_id: int) -> EntryRecord:
    """Return an entry; raise `Refusal` (code `entry_unknown`) if there is none."""
    row = connection.execute(_SELECT + " where e.entry_id = :entry", {"entry": entry_id}).fetchone()
    if row is None:
        raise Refusal("entry_unknown", f"There is no entry {entry_id}.")
    return _record(row, _measured(connection, entry_id))


def all_entries(
    connection: sqlite3.Connection,
    *,
    team: str | None = None,
    states: Collection[EntryState] | None = None,
) -> list[EntryRecord]:
    """Return the entries of a team or of all, in any of these states, by number."""
    wanted = list(EntryState) if states is None else list(states)
    marks = ", ".join(f":state{n}" for n in range(len(wanted)))
    rows = connection.execute(
        _SELECT + " where (:team is null or t.name = :team)"
        f" and coalesce(last.state, 'received') in ({marks}) order by e.entry_id",
        {"team": team} | {f"state{n}": state.value for n, state in enumerate(wanted)},
    )
    measured = _measured(connection)
    return [_record(row, measured) for row in rows]


def entries_of_model(
    connection: sqlite3.Connection, team: str, task: str, model_sha256: str
) -> list[EntryRecord]:
    """Return a team's entries with exactly this model for a task, by number."""
    rows = connection.execute(
        _SELECT + " where t.name = :team and e.task = :task and e.model_sha256 = :sha256"
        " order by e.entry_id",
        {"team": team, "task": task, "sha256": model_sha256},
    )
    measured = _measured(connection)
    return [_record(row, measured) for row in rows]


def count_entries_of_day(connection: sqlite3.Connection, team: str, task: str, day: str) -> int:
    """Count a team's entries of a task on one day; those that failed through us do not count."""
    row = connection.execute(
        "select count(*) from ovic_entries as e join named_teams as t using (team_id)"
        " where t.name = :team and e.task = :task and e.day = :day and 'failed' != coalesce("
        " (select state from ovic_events where entry_id = e.entry_id"
        " order by event_id desc limit 1), 'received')",
        {"team": team, "task": task, "day": day},
    ).fetchone()
    return int(row[0])


def uncounted_entries_of_day(connection: sqlite3.Connection, team: str, task: str, day: str) -> int:
    """Count those of them that were refused for `UNCOUNTED_RULES` and nothing else."""
    rows = connection.execute(
        "select v.detail from ovic_entries as e join named_teams as t using (team_id)"
        " join ovic_events as v on v.event_id ="
        " (select max(event_id) from ovic_events where entry_id = e.entry_id)"
        " where t.name = :team and e.task = :task and e.day = :day and v.state = 'refused'",
        {"team": team, "task": task, "day": day},
    )
    broken = [{one["rule"] for one in json.loads(row[0]).get("failures", ())} for row in rows]
    return sum(bool(rules) and rules <= UNCOUNTED_RULES for rules in broken)


def events_of_entry(connection: sqlite3.Connection, entry_id: int) -> list[EntryEvent]:
    """Return what happened to an entry, in order."""
    rows = connection.execute(
        "select kind, state, utc, actor, text, detail, round from ovic_events"
        " where entry_id = :entry order by event_id",
        {"entry": entry_id},
    )
    return [
        EntryEvent(row[0], EntryState(row[1]), row[2], row[3], row[4], json.loads(row[5]), row[6])
        for row in rows
    ]


def judged_by(connection: sqlite3.Connection, entry_id: int) -> Settings | None:
    """Return the settings by which an entry was judged last; None where nothing has noted them."""
    row = connection.execute(
        "select detail -> 'settings' from ovic_events where entry_id = :entry"
        " and detail -> 'settings' is not null order by event_id desc limit 1",
        {"entry": entry_id},
    ).fetchone()
    return None if row is None else dict(json.loads(row[0]))


def knows_entries(connection: sqlite3.Connection) -> bool:
    """Tell whether a database has the tables of entries, which an older one may lack."""
    tables = "select 1 from sqlite_master where name = 'ovic_events'"
    return connection.execute(tables).fetchone() is not None


def last_score_before(
    connection: sqlite3.Connection, entry_id: int, task: str
) -> Mapping[str, Any] | None:
    """Return the detail of the last score of any other entry of a task, or None."""
    row = connection.execute(
        "select v.detail from ovic_events as v join ovic_entries as e using (entry_id)"
        " where v.kind = 'scored' and e.task = :task and e.entry_id != :entry"
        " order by v.event_id desc limit 1",
        {"task": task, "entry": entry_id},
    ).fetchone()
    if row is None:
        return None
    detail: dict[str, Any] = json.loads(row[0])
    return detail


def entries_version(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return a value that changes with each new entry and each event."""
    row = connection.execute(
        "select (select coalesce(max(entry_id), 0) from ovic_entries),"
        " (select coalesce(max(event_id), 0) from ovic_events)"
    ).fetchone()
    return int(row[0]), int(row[1])


def _measured(
    connection: sqlite3.Connection, entry_id: int | None = None
) -> Mapping[int, tuple[BuildMeasurement, ...]]:
    """Return the measurements of an entry, or of each, by the entry's number."""
    measured: dict[int, tuple[BuildMeasurement, ...]] = {}
    for row in connection.execute(_MEASURED, {"entry": entry_id}):
        measured[row[0]] = (*measured.get(row[0], ()), BuildMeasurement(*row[1:]))
    return measured


def _record(row: sqlite3.Row, measured: Mapping[int, tuple[BuildMeasurement, ...]]) -> EntryRecord:
    values = dict(row) | {"state": EntryState(row["state"])}
    return EntryRecord(**values, measured=measured.get(row["entry_id"], ()))
