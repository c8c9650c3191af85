# SPDX-License-Identifier: Apache-2.0
"""Queries for the meter of a session: its identity and settings at the start."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from power.meter import Identity, MeterSettings
from power.values import (
    identity_from_json,
    identity_to_json,
    settings_from_json,
    settings_to_json,
)


@dataclass(frozen=True)
class SessionMeter:
    """The meter of a session, with the settings that it reported before the start.

    `emulated` means that no real instrument measured, so the energy is not official.
    """

    emulated: bool
    identity: Identity | None
    settings: MeterSettings


def insert_session_meter(
    connection: sqlite3.Connection, session_id: int, utc: str, meter: SessionMeter
) -> None:
    """Add a session's meter; call it in the transaction that records the session's start."""
    identity = None if meter.identity is None else json.dumps(identity_to_json(meter.identity))
    connection.execute(
        "insert into session_meters (session_id, utc, emulated, identity, settings)"
        " values (:session, :utc, :emulated, :identity, :settings)",
        {
            "session": session_id,
            "utc": utc,
            "emulated": int(meter.emulated),
            "identity": identity,
            "settings": json.dumps(settings_to_json(meter.settings), allow_nan=False),
        },
    )


def session_meter_of(connection: sqlite3.Connection, session_id: int) -> SessionMeter | None:
    """Return a session's meter, or None.

    The result is None before the session's start, for a session without a meter, and for a
    session that started under schema 1.
    """
    row = connection.execute(
        "select emulated, identity, settings from session_meters where session_id = :session",
        {"session": session_id},
    ).fetchone()
    if row is None:
        return None
    identity = row["identity"]
    return SessionMeter(
        emulated=bool(row["emulated"]),
        identity=None if identity is None else identity_from_json(json.loads(identity)),
        settings=settings_from_json(json.loads(row["settings"])),
    )
