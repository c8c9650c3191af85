# SPDX-License-Identifier: Apache-2.0
"""What the operators' console shows: one object that says what is happening and what is wrong."""

from __future__ import annotations

from typing import Any

from power.meter import Reading
from referee.core.instant import Instant
from referee.core.states import SessionState, elapsed_s, state_of
from referee.scoring.lpirc import score
from referee.service.contest import Contest
from referee.service.metering import MeterStatus
from referee.service.status import status_of
from referee.store.notices import recent_notices
from referee.store.readings import energy_of, newest_reading
from referee.store.scores import newest_scoring_run, newest_snapshot
from referee.store.sessions import SessionRecord, all_sessions

__all__ = ["board"]

_SESSIONS_SHOWN = 50


def board(contest: Contest, meter: MeterStatus) -> dict[str, Any]:
    """Return the whole board, ready for JSON.

    `current` is the session that is armed or running, else the newest one; None before the first.
    """
    now = contest.clock.now()
    sessions = all_sessions(contest.database.connection)[:_SESSIONS_SHOWN]
    live = (SessionState.ARMED, SessionState.RUNNING)
    current = next((s for s in sessions if state_of(s.facts, now) in live), None)
    if current is None and sessions:
        current = sessions[0]
    settings = contest.config.contest
    return {
        "contest": settings.name,
        "mode": settings.mode,
        "seconds": settings.seconds,
        "images": contest.image_count,
        "classes": len(contest.classes),
        "utc": now.utc.isoformat(),
        "meter": _meter(meter),
        "current": None if current is None else _session(contest, current, now),
        "sessions": [_row(contest, session, now) for session in sessions],
        "notices": [
            {"id": n.notice_id, "session": n.session_id, "utc": n.utc, "level": n.level}
            | {"text": n.text}
            for n in recent_notices(contest.database.connection)
        ],
    }


def _meter(status: MeterStatus) -> dict[str, Any]:
    reading = status.reading
    identity = status.identity
    return {
        "link": status.link.value,
        "text": status.text,
        "model": None if identity is None else f"{identity.model} {identity.serial}",
        "reading": None if reading is None else _reading(reading),
    }


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        "voltage_v": reading.voltage_v,
        "current_a": reading.current_a,
        "power_w": reading.power_w,
        "energy_wh": reading.energy_wh,
        "integration_s": reading.integration_s,
        "state": reading.state.value,
        "absent": dict(reading.absent),
        "flags": sorted(flag.value for flag in reading.flags),
    }


def _session(contest: Contest, session: SessionRecord, now: Instant) -> dict[str, Any]:
    connection = contest.database.connection
    status = status_of(contest, session)
    row = _row(contest, session, now)
    snapshot = newest_snapshot(connection, session.session_id)
    reading = newest_reading(connection, session.session_id)
    if row["mean_ap"] is None and snapshot is not None:
        row["mean_ap"] = snapshot.mean_ap
    if row["energy_wh"] is None and reading is not None:
        row["energy_wh"] = reading.energy_wh
    if row["verdict"] is None:
        row["score"] = score(row["mean_ap"], row["energy_wh"])
    return row | {
        "length_s": session.facts.length_s,
        "remaining_s": status.remaining_s,
        "elapsed_s": elapsed_s(session.facts, now),
        "images_fetched": status.images_fetched,
        "answers": status.answers,
        "detections": status.detections,
        "late_answers": status.late_answers,
        "flagged": status.flagged,
    }


def _row(contest: Contest, session: SessionRecord, now: Instant) -> dict[str, Any]:
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    cause = session.facts.end_cause
    return {
        "id": session.session_id,
        "team": session.team,
        "state": state_of(session.facts, now).value,
        "end_cause": None if cause is None else cause.value,
        "void_reason": session.void_reason,
        "mean_ap": None if run is None else run.mean_ap,
        "score": None if run is None else run.score,
        "energy_wh": None if energy is None else energy.energy_wh,
        "uncertainty_wh": None if energy is None else energy.uncertainty_wh,
        "verdict": None if energy is None else energy.verdict,
        "reasons": [] if energy is None else list(energy.detail["reasons"]),
    }
