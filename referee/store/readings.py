# SPDX-License-Identifier: Apache-2.0
"""Queries for a session's meter, its readings, and the energies judged from them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from power.meter import QUALITIES, Identity, IntegrationState, MeterFlag, MeterSettings, Reading
from power.values import (
    elements_from_json,
    elements_to_json,
    identity_from_json,
    identity_to_json,
    settings_from_json,
    settings_to_json,
)


@dataclass(frozen=True)
class EnergyRecord:
    """A session's energy in Wh with its verdict (VALID, SUSPECT, INVALID).

    `detail` holds the findings of the judgement, ready for JSON; its `reasons` are texts.
    """

    energy_id: int
    session_id: int
    utc: str
    energy_wh: float | None
    uncertainty_wh: float | None
    verdict: str
    detail: Mapping[str, Any]

    @property
    def reasons(self) -> list[str]:
        """Return the texts of the findings, those first that decide the verdict."""
        findings = self.detail.get("findings")
        if findings is None:  # An energy of an early version.
            return list(self.detail["reasons"])
        # Python's sort keeps the order of those that weigh the same.
        by_weight = sorted(findings, key=lambda one: _WEIGHTS.index(one["severity"]))
        return [str(one["text"]) for one in by_weight]

    @property
    def emulated(self) -> bool:
        """Tell whether an emulator measured, as far as anybody could tell; it is not official."""
        return bool(self.detail.get("emulated", False))


_WEIGHTS = ("INVALID", "SUSPECT", "VALID")


def insert_reading(
    connection: sqlite3.Connection,
    session_id: int,
    elapsed_s: float,
    reading: Reading,
    boot_id: str,
) -> None:
    """Add one reading.

    `elapsed_s` is the reading's session time. `boot_id` names the machine's boot.
    """
    connection.execute(
        "insert into readings (session_id, elapsed_s, monotonic_s, utc, boot_id, voltage_v,"
        " current_a, power_w, energy_wh, integration_s, state, voltage_range_v, current_range_a,"
        " absent, flags, power_factor, frequency_hz, voltage_peak_v, current_peak_a, elements)"
        " values (:session, :elapsed_s, :monotonic_s, :utc, :boot_id, :voltage_v, :current_a,"
        " :power_w, :energy_wh, :integration_s, :state, :voltage_range_v, :current_range_a,"
        " :absent, :flags, :power_factor, :frequency_hz, :voltage_peak_v, :current_peak_a,"
        " :elements)",
        {
            "session": session_id,
            "elapsed_s": elapsed_s,
            "monotonic_s": reading.monotonic_s,
            "utc": reading.utc.isoformat(),
            "boot_id": boot_id,
            "voltage_v": reading.voltage_v,
            "current_a": reading.current_a,
            "power_w": reading.power_w,
            "energy_wh": reading.energy_wh,
            "integration_s": reading.integration_s,
            "state": reading.state.value,
            "voltage_range_v": reading.voltage_range_v,
            "current_range_a": reading.current_range_a,
            "absent": json.dumps(dict(reading.absent)),
            "flags": json.dumps(sorted(flag.value for flag in reading.flags)),
            **{name: getattr(reading, name) for name in QUALITIES},
            "elements": (
                json.dumps(elements_to_json(reading.elements)) if reading.elements else None
            ),
        },
    )


def readings_of(connection: sqlite3.Connection, session_id: int) -> list[tuple[float, Reading]]:
    """Return a session's readings in order, each with its session time in seconds."""
    rows = connection.execute(
        "select * from readings where session_id = :session order by reading_id",
        {"session": session_id},
    )
    return [(row["elapsed_s"], _reading(row)) for row in rows]


def newest_readings(
    connection: sqlite3.Connection, session_id: int, count: int
) -> list[tuple[float, Reading]]:
    """Return so many of a session's newest readings in order, each with its session time."""
    rows = connection.execute(
        "select * from readings where session_id = :session order by reading_id desc limit :count",
        {"session": session_id, "count": count},
    ).fetchall()
    return [(row["elapsed_s"], _reading(row)) for row in reversed(rows)]


def boots_of(connection: sqlite3.Connection, session_id: int) -> int:
    """Count the machine's boots during which the meter was read in this session."""
    row = connection.execute(
        "select count(distinct boot_id) from readings where session_id = :session",
        {"session": session_id},
    ).fetchone()
    return int(row[0])


def newest_reading(connection: sqlite3.Connection, session_id: int) -> Reading | None:
    """Return the session's newest reading, or None."""
    row = connection.execute(
        "select * from readings where session_id = :session order by reading_id desc limit 1",
        {"session": session_id},
    ).fetchone()
    return None if row is None else _reading(row)


def insert_energy(
    connection: sqlite3.Connection,
    session_id: int,
    *,
    utc: str,
    energy_wh: float | None,
    uncertainty_wh: float | None,
    verdict: str,
    detail: Mapping[str, object],
) -> None:
    """Add a judged energy; the newest energy of a session counts."""
    connection.execute(
        "insert into energies (session_id, utc, energy_wh, uncertainty_wh, verdict, detail)"
        " values (:session, :utc, :energy_wh, :uncertainty_wh, :verdict, :detail)",
        {
            "session": session_id,
            "utc": utc,
            "energy_wh": energy_wh,
            "uncertainty_wh": uncertainty_wh,
            "verdict": verdict,
            "detail": json.dumps(detail, allow_nan=False),
        },
    )


def energy_of(connection: sqlite3.Connection, session_id: int) -> EnergyRecord | None:
    """Return the session's newest judged energy, or None if it has none yet."""
    row = connection.execute(
        "select * from energies where session_id = :session order by energy_id desc limit 1",
        {"session": session_id},
    ).fetchone()
    if row is None:
        return None
    return EnergyRecord(
        energy_id=row["energy_id"],
        session_id=row["session_id"],
        utc=row["utc"],
        energy_wh=row["energy_wh"],
        uncertainty_wh=row["uncertainty_wh"],
        verdict=row["verdict"],
        detail=json.loads(row["detail"]),
    )


def first_judged(connection: sqlite3.Connection, session_id: int) -> datetime | None:
    """Return when the session's energy was judged for the first time, or None."""
    row = connection.execute(
        "select utc from energies where session_id = :session order by energy_id limit 1",
        {"session": session_id},
    ).fetchone()
    return datetime.fromisoformat(row[0]) if row is not None and row[0] else None


def _reading(row: sqlite3.Row) -> Reading:
    return Reading(
        monotonic_s=row["monotonic_s"],
        utc=datetime.fromisoformat(row["utc"]),
        voltage_v=row["voltage_v"],
        current_a=row["current_a"],
        power_w=row["power_w"],
        energy_wh=row["energy_wh"],
        integration_s=row["integration_s"],
        state=IntegrationState(row["state"]),
        absent=json.loads(row["absent"]),
        flags=frozenset(MeterFlag(flag) for flag in json.loads(row["flags"])),
        voltage_range_v=row["voltage_range_v"],
        current_range_a=row["current_range_a"],
        power_factor=row["power_factor"],
        frequency_hz=row["frequency_hz"],
        voltage_peak_v=row["voltage_peak_v"],
        current_peak_a=row["current_peak_a"],
        elements=elements_from_json(json.loads(row["elements"] or "[]")),
    )


# The conditions stand beside the settings, in the same JSON object.
_CONDITIONS = "conditions"


@dataclass(frozen=True)
class SessionMeter:
    """The meter of a session, with the settings that it reported before the start.

    `emulated` means that no real instrument measured, so the energy is not official. `conditions`
    are those at the start, as JSON values.
    """

    emulated: bool
    identity: Identity | None
    settings: MeterSettings
    conditions: Mapping[str, object] | None = None


def insert_session_meter(
    connection: sqlite3.Connection, session_id: int, utc: str, meter: SessionMeter
) -> None:
    """Add a session's meter; call it in the transaction that records the session's start."""
    identity = None if meter.identity is None else json.dumps(identity_to_json(meter.identity))
    settings = settings_to_json(meter.settings)
    if meter.conditions is not None:
        settings[_CONDITIONS] = meter.conditions
    connection.execute(
        "insert into session_meters (session_id, utc, emulated, identity, settings)"
        " values (:session, :utc, :emulated, :identity, :settings)",
        {
            "session": session_id,
            "utc": utc,
            "emulated": int(meter.emulated),
            "identity": identity,
            "settings": json.dumps(settings, allow_nan=False),
        },
    )


def session_meter_of(connection: sqlite3.Connection, session_id: int) -> SessionMeter | None:
    """Return a session's meter, or None.

    The result is None before the session's start, and for a session without a meter.
    """
    row = connection.execute(
        "select emulated, identity, settings from session_meters where session_id = :session",
        {"session": session_id},
    ).fetchone()
    if row is None:
        return None
    identity, settings = row["identity"], json.loads(row["settings"])
    conditions = settings.pop(_CONDITIONS, None)
    return SessionMeter(
        emulated=bool(row["emulated"]),
        identity=None if identity is None else identity_from_json(json.loads(identity)),
        settings=settings_from_json(settings),
        conditions=conditions,
    )
