# SPDX-License-Identifier: Apache-2.0
"""The content of a bundle's `session.json`: what happened to the session."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from referee import __version__
from referee.core.instant import Instant
from referee.core.states import state_of
from referee.service.setup.contest import Contest
from referee.store.audit import refused_audit_of
from referee.store.images import load_inputs
from referee.store.notices import audit_of, notices_of
from referee.store.readings import session_meter_of
from referee.store.sessions import SessionRecord
from referee.store.teams import names_of_team

_MOMENTS = ("armed", "started", "ended", "voided", "scored", "sealed")


def session_facts(
    contest: Contest, session: SessionRecord, version: str = __version__
) -> dict[str, Any]:
    """Return moments, order, classes, inputs, notices and audit of a session, ready for JSON.

    `emulated` is null if no meter is recorded. `team` is the team's present name, `team_names` has
    every name that it had, the first one first.
    """
    facts, connection = session.facts, contest.database.connection
    meter = session_meter_of(connection, session.session_id)
    return {
        "session": session.session_id,
        "team": session.team,
        "team_names": names_of_team(connection, session.team),
        "lane": session.lane,
        "track": session.track,
        "state": state_of(facts, contest.clock.now()).value,
        "length_s": facts.length_s,
        "end_cause": None if facts.end_cause is None else facts.end_cause.value,
        "void_reason": session.void_reason,
        "emulated": None if meter is None else meter.emulated,
        # The seed is text, because it may exceed the 53 bits that many JSON readers keep.
        "order_seed": None if session.order_seed is None else str(session.order_seed),
        "created_utc": session.created_utc,
        "moments": {name: _moment(getattr(facts, name)) for name in _MOMENTS},
        "classes": {str(class_id): name for class_id, name in contest.classes.items()},
        "inputs": {
            name: asdict(file) | {"path": Path(file.path).name}
            for name, file in load_inputs(connection).items()
        },
        "notices": [asdict(notice) for notice in notices_of(connection, session.session_id)],
        "audit": audit_of(connection, session.session_id),
        "refused_actions": refused_audit_of(connection, session.session_id),
        "referee_version": version,
    }


def _moment(at: Instant | None) -> dict[str, Any] | None:
    if at is None:
        return None
    return {"monotonic_s": at.monotonic_s, "utc": at.utc.isoformat(), "boot_id": at.boot_id}
