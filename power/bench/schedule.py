# SPDX-License-Identifier: Apache-2.0
"""When to read next: fixed instants on the monotonic clock, never "a while after the last read"."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Read once per interval, at `origin_s` plus whole intervals."""

    origin_s: float
    interval_s: float

    def next_after(self, now_s: float) -> float:
        """Return the first instant after `now_s`; instants that were missed are left out."""
        passed = math.floor((now_s - self.origin_s) / self.interval_s + 1e-9)
        return self.origin_s + (passed + 1) * self.interval_s


def back_off_s(attempt: int) -> float:
    """Return the pause before attempt 1, 2, 3… to reach a lost meter: 0.25 s doubling up to 5 s."""
    return float(min(5.0, 0.25 * 2 ** (attempt - 1)))
