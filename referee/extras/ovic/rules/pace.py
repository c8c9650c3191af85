# SPDX-License-Identifier: Apache-2.0
"""Whether a model is too slow, or the machine too busy to tell."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

PATIENCE = 4
"""How many times its limit something may take that only waits for the core."""

SLOWER = 4.0
"""How much slower than the contest's board this machine may be, before a model is too slow."""


class Pace(Enum):
    """Whether a model is too slow, as far as a few runs beside other programs can tell."""

    FAST_ENOUGH = "fast enough"
    TOO_SLOW = "too slow"
    BUSY = "busy"


def pace_of(runs: Sequence[Sequence[float]], limit: float) -> Pace:
    """Judge runs, each with its wall-clock and its own time, by the fastest of each.

    A model is too slow if its own work takes longer than the limit. If only the waiting for the
    core makes it so, the machine is busy, and the runs say nothing. All times have one unit.
    """
    fastest, least_work = (min(column) for column in zip(*runs, strict=True))
    if fastest <= limit:
        return Pace.FAST_ENOUGH
    return Pace.TOO_SLOW if least_work > limit else Pace.BUSY
