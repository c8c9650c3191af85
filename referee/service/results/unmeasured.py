# SPDX-License-Identifier: Apache-2.0
"""The look for a team's device that works and draws nothing through the meter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from power.energy.idle import IDLE_LEAST_S, IDLE_LEAST_UPDATES, Idle, idle_times, is_at_work
from power.meter import MeterSettings, Reading
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
    return _at_work(connection, session_id, meter, _idle(stored, meter))


def is_unmeasured(connection: Connection, session_id: int) -> bool:
    """Tell whether a running session's device works now, and draws nothing."""
    meter = session_meter_of(connection, session_id)
    if meter is None:
        return False
    stored = newest_readings(connection, session_id, _count(meter.settings))
    last = [idle for idle in _idle(stored, meter) if idle.to_s == stored[-1][0]]
    return bool(_at_work(connection, session_id, meter, last))


def _idle(stored: Sequence[tuple[float, Reading]], meter: SessionMeter) -> tuple[Idle, ...]:
    readings = [replace(reading, monotonic_s=at_s) for at_s, reading in stored]
    return idle_times(readings, meter.settings, meter.identity)


def _at_work(
    connection: Connection, session_id: int, meter: SessionMeter, found: Sequence[Idle]
) -> tuple[Idle, ...]:
    """Return those of the times in which work arrived; a device that draws power costs no look."""
    if not found:
        return ()
    work_s = work_times(connection, session_id, found[0].from_s)
    update_s = meter.settings.update_interval_s
    return tuple(idle for idle in found if is_at_work(idle, work_s, update_s))


def _count(settings: MeterSettings) -> int:
    return max(IDLE_LEAST_UPDATES, math.ceil(IDLE_LEAST_S / settings.update_interval_s)) + _SPARE
