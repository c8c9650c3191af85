# SPDX-License-Identifier: Apache-2.0
"""The watch over the laptop while the referee runs: its clocks, its sleep and its power."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from referee.service.preflight.clock_jumps import ClockSample, Jump, jump_between
from referee.service.preflight.machine_facts import MachineFacts

_SAMPLE_S = 1.0
# Reading the facts starts two small programs; a lid or a plug is noticed soon enough.
_FACTS_EVERY = 30
_KEPT = 100
_TOGETHER_S = 0.02
_TRIES = 10


class MachineWatch:
    """What the machine says, and the jumps of its clock since the start.

    `read` reads the facts, and `sample` the clocks. `tell` gets a sentence for each jump. A thread
    of the caller calls `run`; any thread may read `facts` and `jumps`.
    """

    def __init__(
        self,
        read: Callable[[], MachineFacts],
        sample: Callable[[], ClockSample],
        tell: Callable[[str], object],
    ) -> None:
        self._read = read
        self._sample = sample
        self._tell = tell
        self.facts: MachineFacts | None = None
        self.jumps: tuple[Jump, ...] = ()
        self._last = sample()

    def run(self, stopping: threading.Event) -> None:
        """Watch until `stopping` is set."""
        looks = 0
        while True:
            if looks % _FACTS_EVERY == 0:
                self.facts = self._read()
            self.look()
            looks += 1
            if stopping.wait(_SAMPLE_S):
                return

    def look(self) -> None:
        """Compare the clocks with those of the last look."""
        now = self._sample()
        jump = jump_between(self._last, now)
        self._last = now
        if jump is not None:
            self.jumps = (*self.jumps, jump)[-_KEPT:]
            text = str(jump)
            self._tell(f"{text[0].upper()}{text[1:]}. Sessions are timed by another clock.")


def sample_clocks() -> ClockSample:
    """Return what the machine's clocks show now.

    A process that is held up between two clocks would see a jump, so it then looks again.
    """
    for _ in range(_TRIES):
        before_s = time.monotonic()
        utc = datetime.now(UTC)
        boot_s = time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else None
        if time.monotonic() - before_s < _TOGETHER_S:
            break
    return ClockSample(before_s, utc, boot_s)
