# SPDX-License-Identifier: Apache-2.0
"""The look for a team's device that works and draws nothing through the meter."""

from __future__ import annotations

import math
from dataclasses import replace

from power.energy.idle import IDLE_LEAST_S, IDLE_LEAST_UPDATES, Idle, idle_at_work
from power.meter import MeterSettings
from referee.store.database import Connection
from referee.store.readings import SessionMeter, newest_readings, readings_of, session_meter_of
from referee.store.watching import work_times

# An alarm stands as long as it is true, so a look goes back somewhat further than the rule does.
_SPARE = 4


def unmeasured_times(
    connection: Connection, session_id: int, meter: SessionMeter
) -> tuple[Idle, ...]:
    """Return the times of a whole session in which its device worked and drew nothing."""
    stored = sorted(readings_of(connection, session_id), key=lambda pair: pair[0])
    readings = [replace(reading, monotonic_s=at_s) for at_s, reading in stored]
    work_s = work_times(connection, session_id)
    return idle_at_work(readings, meter.settings, meter.identity, work_s)


def is_unmeasured(connection: Connection, session_id: int) -> bool:
    """Tell whether a running session's device works now, and draws nothing."""
    meter = session_meter_of(connection, session_id)
    if meter is None:
        return False
    stored = newest_readings(connection, session_id, _count(meter.settings))
    readings = [replace(reading, monotonic_s=at_s) for at_s, reading in stored]
    if not readings:
        return False
    work_s = work_times(connection, session_id, readings[0].monotonic_s)
    found = idle_at_work(readings, meter.settings, meter.identity, work_s)
    return bool(found) and found[-1].to_s == readings[-1].monotonic_s


def _count(settings: MeterSettings) -> int:
    return max(IDLE_LEAST_UPDATES, math.ceil(IDLE_LEAST_S / settings.update_interval_s)) + _SPARE
