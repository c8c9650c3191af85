# SPDX-License-Identifier: Apache-2.0
"""A wish to end a run: from then on one deadline bounds every wait for the meter."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from power.meter import Meter

GRACE_S = 1.2
"""A lost meter gets this long to come back when somebody wants the end."""

HASTY_S = 0.4
"""Somebody who wants the end waits this long for a reply. One lost reply then costs no energy."""


@runtime_checkable
class Hastens(Protocol):
    """A meter that can be told to wait shorter for its replies."""

    def hasten(self, timeout_s: float, end_s: float) -> None:
        """Wait at most this long for a reply from now on, and for none after `end_s`."""
        ...


class Wish:
    """The wish to end a run, and until when the run may go on after it.

    `asked_s` and `end_s` are moments of the recorder's clock, infinite until somebody wants an end.
    Another thread may call `make` while the recorder waits for the meter.
    """

    def __init__(self, meter: Meter, grace_s: float = GRACE_S) -> None:
        self._meter = meter
        self._grace_s = grace_s
        self.asked_s = math.inf
        self.end_s = math.inf

    @property
    def made(self) -> bool:
        """Tell whether somebody wants the end."""
        return self.asked_s < math.inf

    def make(self, asked_s: float) -> None:
        """Want the end since `asked_s`; only the first call counts. The meter is told to hurry."""
        if not self.made:
            self.asked_s = asked_s
            self._set_end(asked_s + self._grace_s)

    def look(self, should_stop: Callable[[], bool], clock: Callable[[], float]) -> bool:
        """Tell whether somebody wants the end, by an earlier `make` or now by `should_stop`."""
        if not self.made and should_stop():
            self.make(clock())
        return self.made

    def allow(self, until_s: float) -> None:
        """Let the run go on until a later moment, because the meter answers."""
        if self.made and until_s > self.end_s:
            self._set_end(until_s)

    def _set_end(self, end_s: float) -> None:
        self.end_s = end_s
        if isinstance(self._meter, Hastens):
            self._meter.hasten(HASTY_S, end_s)
