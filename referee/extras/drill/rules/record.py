# SPDX-License-Identifier: Apache-2.0
"""What is on record of a drill: injections, alarms, what people did, and what became of sessions.

All times are seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from power.energy.verdict import Finding, finding_from_json
from referee.core.actors import REFEREE
from referee.service.setup.contest import Contest
from referee.store.audit import audit_rows
from referee.store.notices import alarm_notices
from referee.store.readings import energy_of, readings_of
from referee.store.requests import requests_of
from referee.store.sessions import SessionRecord, all_sessions

SHOWN, SEEN = "alarm", "alarm seen"
"""The audit's names of an alarm in the red bar, and of somebody who has seen it."""


@dataclass(frozen=True)
class Injection:
    """A fault that came: when, in which session, and when and how it was over (None: not yet)."""

    fault: str
    at_s: float
    session_id: int | None
    over_s: float | None = None
    ended_by: str = ""


@dataclass(frozen=True)
class Act:
    """Something that a person did: an action of the console that was done, or hands at the table.

    `refused` says why an action was not done. `detail` is the text of an alarm that was seen.
    """

    at_s: float
    who: str
    what: str
    session_id: int | None = None
    detail: str = ""
    refused: str = ""


@dataclass(frozen=True)
class RaisedAlarm:
    """An alarm that the red bar showed, or that the desk knew of while nobody watched."""

    at_s: float
    text: str


@dataclass(frozen=True)
class ClientStop:
    """A client that stopped because the referee failed it; its team had to start it again."""

    at_s: float
    session_id: int


@dataclass(frozen=True)
class Ran:
    """A session: its times, its energy's verdict, and its requests and readings by their time."""

    session_id: int
    team: str
    started_s: float
    ended_s: float | None
    void_reason: str | None
    verdict: str | None
    reasons: tuple[Finding, ...]
    failed_requests_s: tuple[float, ...]
    requests_s: tuple[float, ...]
    readings_s: tuple[float, ...]


@dataclass(frozen=True)
class Record:
    """All that is known of a drill when it is over."""

    injections: tuple[Injection, ...]
    shown: tuple[RaisedAlarm, ...]
    acts: tuple[Act, ...]
    sessions: tuple[Ran, ...] = ()
    stops: tuple[ClientStop, ...] = ()
    begun_s: float = 0.0
    ended_s: float = 0.0
    seed: int = 0
    length_s: float = 0.0
    notes: tuple[str, ...] = ()


def seconds_of(utc: str) -> float:
    """Return a stored time in seconds since 1970."""
    return datetime.fromisoformat(utc).timestamp()


def read_shown_and_acts(contest: Contest) -> tuple[list[RaisedAlarm], list[Act]]:
    """Return the alarms and the actions of people in a contest's record, in order."""
    connection = contest.database.connection
    shown = [RaisedAlarm(seconds_of(one.utc), one.text) for one in alarm_notices(connection)]
    acts = []
    for row in reversed(audit_rows(connection)):
        at_s = seconds_of(row.utc)
        if row.action == SHOWN:
            shown.append(RaisedAlarm(at_s, row.detail))
        elif row.role != REFEREE and row.role:
            acts.append(
                Act(at_s, row.who, row.action, row.session_id, row.detail, row.refusal or "")
            )
    return sorted(shown, key=lambda one: one.at_s), sorted(acts, key=lambda one: one.at_s)


def read_sessions(contest: Contest) -> list[Ran]:
    """Return all sessions that have started, the oldest first."""
    sessions = reversed(all_sessions(contest.database.connection))
    return [_ran(contest, one) for one in sessions if one.facts.started is not None]


def _ran(contest: Contest, session: SessionRecord) -> Ran:
    connection, facts = contest.database.connection, session.facts
    started = facts.started
    started_s = 0.0 if started is None else started.utc.timestamp()
    energy = energy_of(connection, session.session_id)
    requests = requests_of(connection, session.session_id)
    readings = readings_of(connection, session.session_id)
    return Ran(
        session_id=session.session_id,
        team=session.team,
        started_s=started_s,
        ended_s=None if facts.ended is None else facts.ended.utc.timestamp(),
        void_reason=session.void_reason,
        verdict=None if energy is None else energy.verdict,
        reasons=(
            () if energy is None else tuple(map(finding_from_json, energy.detail["findings"]))
        ),
        failed_requests_s=_times(started_s, [r.elapsed_s for r in requests if r.status >= 500]),
        requests_s=_times(started_s, [r.elapsed_s for r in requests]),
        readings_s=_times(started_s, [elapsed_s for elapsed_s, _ in readings]),
    )


def _times(started_s: float, elapsed: Sequence[float]) -> tuple[float, ...]:
    return tuple(sorted(started_s + one for one in elapsed))
