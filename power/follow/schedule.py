# SPDX-License-Identifier: Apache-2.0
"""When to read, when to try a lost meter again, and for how long: pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

LOST_METER_S = 120.0
"""A meter that is lost at the end of a run is waited for this long; it keeps the energy."""

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 5.0


@dataclass(frozen=True)
class Schedule:
    """Fixed instants to read at: `origin_s` plus whole intervals.

    They never shift: an instant does not depend on when the last reading was done.
    """

    origin_s: float
    interval_s: float

    def next_after(self, now_s: float) -> float:
        """Return the first instant after `now_s`; instants that were missed are left out."""
        passed = math.floor((now_s - self.origin_s) / self.interval_s + 1e-9)
        return self.origin_s + (passed + 1) * self.interval_s


def back_off_s(attempt: int) -> float:
    """Return the pause before attempt 1, 2, 3… to reach a lost meter: 0.25 s doubling up to 5 s."""
    # The exponent is bounded, because a meter may stay lost for days.
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 10))
