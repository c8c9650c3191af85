# SPDX-License-Identifier: Apache-2.0
"""The clock of every measurement: it never steps, and it goes on while the computer sleeps."""

from __future__ import annotations

import math
import sys
import time

# On macOS the monotonic clock of clock_gettime(3) goes on while the machine sleeps. Linux calls
# such a clock that of the boot.
_CLOCK = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC
# Two clocks that were read within this time were read together.
_TOGETHER_S = 0.001
_TRIES = 20
# No machine sleeps for less, and two clocks that are read one after the other may differ by less.
_SLEEP_LEAST_S = 0.1


def real_elapsed_s() -> float:
    """Return the seconds since some moment of this boot, those in which the machine slept too.

    Python's own monotonic clock stands still while Linux or macOS sleeps. A deadline must not move
    because somebody closed the laptop's lid.
    """
    return time.clock_gettime(_CLOCK)


def asleep_s() -> float:
    """Return for how many seconds of this boot the machine slept, 0 where no system tells."""
    least, width = 0.0, math.inf
    for _ in range(_TRIES):
        before_s = time.monotonic()
        elapsed_s, width_now = real_elapsed_s() - before_s, time.monotonic() - before_s
        if width_now < width:
            least, width = elapsed_s, width_now
        if width < _TOGETHER_S:
            break
    return least if least >= _SLEEP_LEAST_S else 0.0
