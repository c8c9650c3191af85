# SPDX-License-Identifier: Apache-2.0
"""How long after its START the desk's own STOP has ended a session's integration."""

from __future__ import annotations

from power.energy.moments import START_OFF_S
from power.meter import IntegrationStart, IntegrationStop
from referee.core.instant import Instant

# A START that was written at another time is that of another session.
_SAME_S = 1e-3


def stopped_s(
    started: Instant | None,
    now: Instant,
    start: IntegrationStart | None,
    stop: IntegrationStop | None,
) -> tuple[float, float] | None:
    """Return the least and the most seconds, None if no STOP of ours has ended it.

    A session counts from when START had been written, and the meter began a little before. `start`
    is the last one that this desk has sent; after a restart an earlier desk has sent it. A STOP of
    another boot has another clock.
    """
    if stop is None or started is None or started.boot_id != now.boot_id:
        return None
    written_s = started.monotonic_s
    if start is None or abs(start.written_s - written_s) > _SAME_S:
        start = IntegrationStart(written_s - START_OFF_S, written_s, written_s)
    return stop.after(start)
