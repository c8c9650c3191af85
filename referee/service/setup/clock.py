# SPDX-License-Identifier: Apache-2.0
"""The clock of the use cases: the machine's clock here, a fake clock in tests."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol

from power.clock import asleep_s, real_elapsed_s
from referee.core.instant import Instant


class Clock(Protocol):
    """A source of the present instant."""

    def now(self) -> Instant:
        """Return the present instant."""
        ...

    def asleep_s(self) -> float:
        """Return for how many seconds of this boot the machine has slept so far."""
        ...


elapsed_s = real_elapsed_s
"""Return the `monotonic_s` of the present instant, where nothing else of it is needed."""


class SystemClock:
    """The machine's clock that never steps, its wall clock in UTC, and the id of this boot."""

    def now(self) -> Instant:
        """Return the present instant."""
        return Instant(real_elapsed_s(), datetime.now(UTC), _boot_id())

    def asleep_s(self) -> float:
        """Return the sleep of this boot, 0 on a system that does not tell."""
        return asleep_s()


@cache
def _boot_id() -> str:
    """Return the kernel's id of this boot; monotonic times of two boots cannot be compared."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
