# SPDX-License-Identifier: Apache-2.0
"""The clock of the use cases: the machine's clock here, a fake clock in tests."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol

from referee.core.instant import Instant


class Clock(Protocol):
    """A source of the present instant."""

    def now(self) -> Instant:
        """Return the present instant."""
        ...


class SystemClock:
    """The machine's monotonic clock, its wall clock in UTC, and the id of this boot."""

    def now(self) -> Instant:
        """Return the present instant."""
        return Instant(time.monotonic(), datetime.now(UTC), _boot_id())


@cache
def _boot_id() -> str:
    """Return the kernel's id of this boot; monotonic times of two boots cannot be compared."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
