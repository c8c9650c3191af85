# SPDX-License-Identifier: Apache-2.0
"""The clock of the use cases: the machine's clock here, a fake clock in tests."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol

from referee.core.instant import Instant

# On macOS the monotonic clock of clock_gettime(3) goes on while the machine sleeps. Linux calls
# such a clock that of the boot.
_CLOCK = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC
# Two clocks that were read within this time were read together.
_TOGETHER_S = 0.001
_TRIES = 20
# No machine sleeps for less, and two clocks that are read one after the other may differ by less.
_SLEEP_LEAST_S = 0.1


class Clock(Protocol):
    """A source of the present instant."""

    def now(self) -> Instant:
        """Return the present instant."""
        ...

    def asleep_s(self) -> float:
        """Return for how many seconds of this boot the machine has slept so far."""
        ...


class SystemClock:
    """The machine's clock that never steps, its wall clock in UTC, and the id of this boot."""

    def now(self) -> Instant:
        """Return the present instant."""
        return Instant(real_elapsed_s(), datetime.now(UTC), _boot_id())

    def asleep_s(self) -> float:
        """Return the sleep of this boot, 0 on a system that does not tell."""
        least, width = 0.0, math.inf
        for _ in range(_TRIES):
            before_s = time.monotonic()
            found, width_now = real_elapsed_s() - before_s, time.monotonic() - before_s
            if width_now < width:
                least, width = found, width_now
            if width < _TOGETHER_S:
                break
        return least if least >= _SLEEP_LEAST_S else 0.0


def real_elapsed_s() -> float:
    """Return the seconds since some moment of this boot, those in which the machine slept too.

    Python's own monotonic clock stands still while Linux or macOS sleeps. A deadline must not move
    because somebody closed the laptop's lid.
    """
    return time.clock_gettime(_CLOCK)


@cache
def _boot_id() -> str:
    """Return the kernel's id of this boot; monotonic times of two boots cannot be compared."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
