# SPDX-License-Identifier: Apache-2.0
"""Queries for teams, sessions and the events of sessions."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from referee.core.instant import Instant
from referee.core.states import EndCause, SessionFacts
from referee.errors import Refusal
from referee.store.teams import ensure_team

FIRST_LANE = 1
"""The only lane of a referee with one meter."""

FIRST_TRACK = "network"
"""The track of all sessions that were stored before sessions had a track."""

_LARGEST = 2**63 - 1  # of SQLite's integers

EventKind = Literal["armed", "started", "ended", "voided", "sealed"]

_SELECT = """
select s.session_id, s.lane, s.track, s.order_seed, s.created_utc, t.name as team,
    s.length_s + coalesce((
        select sum(x.seconds) from extra_times as x where x.session_id = s.session_id
    ), 0) as length_s
from sessions as s join named_teams as t using (team_id)
"""


@dataclass(frozen=True)
class SessionRecord:
    """A stored session; `order_seed` is None if the images keep their order."""

    session_id: int
    team: str
    order_seed: int | None
    created_utc: str
    facts: SessionFacts
    void_reason: str | None
    lane: int = FIRST_LANE
    track: str = FIRST_TRACK


def create_session(
    connection: sqlite3.Connection,
    *,
    team: str,
    length_s: float,
    order_seed: int | None,
    now: Instant,
    lane: int = FIRST_LANE,
    track: str = FIRST_TRACK,
) -> int:
    """Add a session, and its team if that is new; return the session's number, from 1."""
    utc = now.utc.isoformat()
    cursor = connection.execute(
        "insert into sessions (team_id, length_s, order_seed, created_utc, lane, track)"
        " values (:team_id, :length_s, :seed, :utc, :lane, :track)",
        {
            "team_id": ensure_team(connection, team, utc),
            "length_s": length_s,
            "seed": None if order_seed is None else str(order_seed),
            "utc": utc,
            "lane": lane,
            "track": track,
        },
    )
    return int(cursor.lastrowid or 0)


def record_event(
    connection: sqlite3.Connection,
    session_id: int,
    kind: EventKind,
    at: Instant,
    *,
    actor: str,
    cause: str | None = None,
) -> bool:
    """Record an event; return False if the session already has an event of this kind.

    Raises `Refusal` (code `state_conflict`) if the schema's rules forbid the event, for example
    because another session of the lane is armed or running.
    """
    before = connection.execute(
        "select 1 from session_events where session_id = :session and kind = :kind",
        {"session": session_id, "kind": kind},
    ).fetchone()
    if before is not None:
        return False
    try:
        connection.execute(
            "insert into session_events (session_id, kind, cause, actor, monotonic_s, utc, boot_id)"
            " values (:session, :kind, :cause, :actor, :monotonic_s, :utc, :boot_id)",
            {
                "session": session_id,
                "kind": kind,
                "cause": cause,
                "actor": actor,
                "monotonic_s": at.monotonic_s,
                "utc": at.utc.isoformat(),
                "boot_id": at.boot_id,
            },
        )
    except sqlite3.IntegrityError as error:
        raise Refusal("state_conflict", f"Session {session_id}: {error}.") from error
    return True


def load_session(connection: sqlite3.Connection, session_id: int) -> SessionRecord:
    """Return one session; raise `Refusal` (code `session_unknown`) if it does not exist."""
    row = None
    if abs(session_id) <= _LARGEST:
        row = connection.execute(
            _SELECT + " where s.session_id = :session", {"session": session_id}
        ).fetchone()
    if row is None:
        raise Refusal("session_unknown", f"There is no session {session_id}.")
    return _record(connection, row)


def session_version(connection: sqlite3.Connection, session_id: int) -> tuple[int, int, int]:
    """Return numbers that change with each event, extra time and first score of a session."""
    row = connection.execute(
        "select (select coalesce(max(event_id), 0) from session_events"
        " where session_id = :session),"
        " (select coalesce(min(run_id), 0) from scoring_runs where session_id = :session),"
        " (select coalesce(max(extra_id), 0) from extra_times where session_id = :session)",
        {"session": session_id},
    ).fetchone()
    return row[0], row[1], row[2]


def latest_of_team(connection: sqlite3.Connection, team: str) -> SessionRecord | None:
    """Return the team's newest session, or None."""
    row = connection.execute(
        _SELECT + " where t.name = :team order by s.session_id desc limit 1", {"team": team}
    ).fetchone()
    return None if row is None else _record(connection, row)


def live_session(connection: sqlite3.Connection, lane: int = FIRST_LANE) -> SessionRecord | None:
    """Return the lane's armed or running session, or None.

    A session stays live until its end is recorded, even after its deadline.
    """
    row = connection.execute(
        _SELECT
        + """
        where s.lane = :lane and exists (
            select 1 from session_events as e
            where e.session_id = s.session_id and e.kind = 'armed'
        ) and not exists (
            select 1 from session_events as e
            where e.session_id = s.session_id and e.kind in ('ended', 'voided')
        )
        limit 1
        """,
        {"lane": lane},
    ).fetchone()
    return None if row is None else _record(connection, row)


def all_sessions(connection: sqlite3.Connection, limit: int = -1) -> list[SessionRecord]:
    """Return the newest sessions first, at most `limit` of them; a negative limit means all."""
    rows = connection.execute(
        _SELECT + " order by s.session_id desc limit :limit", {"limit": limit}
    ).fetchall()
    return [_record(connection, row) for row in rows]


def latest_started(connection: sqlite3.Connection, lane: int = FIRST_LANE) -> int | None:
    """Return the session that the lane started last, or None.

    The lane's meter can hold the energy of this session only.
    """
    row = connection.execute(
        "select session_id from session_events join sessions using (session_id)"
        " where kind = 'started' and lane = :lane order by event_id desc limit 1",
        {"lane": lane},
    ).fetchone()
    return None if row is None else int(row[0])


def unsettled_sessions(
    connection: sqlite3.Connection, lane: int = FIRST_LANE
) -> list[SessionRecord]:
    """Return the lane's ended sessions without a judged energy, the oldest first."""
    rows = connection.execute(
        _SELECT
        + """
        where s.lane = :lane and exists (
            select 1 from session_events as e
            where e.session_id = s.session_id and e.kind = 'ended'
        ) and not exists (select 1 from energies as g where g.session_id = s.session_id)
        order by s.session_id
        """,
        {"lane": lane},
    ).fetchall()
    return [_record(connection, row) for row in rows]


def sessions_to_score(connection: sqlite3.Connection) -> list[SessionRecord]:
    """Return the running sessions, and the ended ones with facts that no scoring run has used.

    Such a fact is an answer in time or a judged energy. An ended session without a judged energy
    is not ready yet. Voided and sealed sessions are never returned.
    """
    rows = connection.execute(
        _SELECT
        + """
        where exists (
            select 1 from session_events as e
            where e.session_id = s.session_id and e.kind = 'started'
        ) and not exists (
            select 1 from session_events as e
            where e.session_id = s.session_id and e.kind in ('voided', 'sealed')
        ) and (
            not exists (
                select 1 from session_events as e
                where e.session_id = s.session_id and e.kind = 'ended'
            ) or exists (
                select 1 from energies as g where g.session_id = s.session_id
                and not exists (
                    select 1 from scoring_runs as r
                    where r.session_id = s.session_id and r.energy_id >= g.energy_id
                    and r.upto_answer_id >= coalesce((
                        select max(a.answer_id) from answers as a
                        where a.session_id = s.session_id and a.late = 0
                    ), 0)
                )
            )
        )
        order by s.session_id
        """
    ).fetchall()
    return [_record(connection, row) for row in rows]


def _record(connection: sqlite3.Connection, row: sqlite3.Row) -> SessionRecord:
    events = {
        event["kind"]: event
        for event in connection.execute(
            "select kind, cause, monotonic_s, utc, boot_id from session_events"
            " where session_id = :session",
            {"session": row["session_id"]},
        )
    }
    scored = connection.execute(
        "select monotonic_s, utc, boot_id from scoring_runs where session_id = :session"
        " order by run_id limit 1",
        {"session": row["session_id"]},
    ).fetchone()
    ended, voided = events.get("ended"), events.get("voided")
    facts = SessionFacts(
        length_s=row["length_s"],
        armed=_instant(events.get("armed")),
        started=_instant(events.get("started")),
        ended=_instant(ended),
        end_cause=None if ended is None else EndCause(ended["cause"]),
        voided=_instant(voided),
        scored=_instant(scored),
        sealed=_instant(events.get("sealed")),
    )
    seed = row["order_seed"]
    return SessionRecord(
        session_id=row["session_id"],
        team=row["team"],
        order_seed=None if seed is None else int(seed),
        created_utc=row["created_utc"],
        lane=row["lane"],
        track=row["track"],
        facts=facts,
        void_reason=None if voided is None else voided["cause"],
    )


def _instant(row: sqlite3.Row | None) -> Instant | None:
    if row is None:
        return None
    return Instant(row["monotonic_s"], datetime.fromisoformat(row["utc"]), row["boot_id"])
