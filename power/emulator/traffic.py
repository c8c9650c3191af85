# SPDX-License-Identifier: Apache-2.0
"""A load that follows the traffic of a contest server: work costs energy, as on a real device."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass
from typing import Any

from power.emulator.instrument import Instrument

_log = logging.getLogger(__name__)

_TIMEOUT_S = 2.0
_MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class Traffic:
    """The source of a count of work, and the energy of each unit of work.

    `url` answers with a JSON object; `key` names the count in it, for example `images_fetched`.
    """

    url: str
    key: str = "images_fetched"
    idle_w: float = 2.0
    joules: float = 0.5
    every_s: float = 0.5


def watts(traffic: Traffic, counted: float, seconds: float) -> float:
    """Return the power of `counted` units of work in `seconds`."""
    return traffic.idle_w + traffic.joules * max(0.0, counted) / seconds


class TrafficFollower:
    """The thread `emulator-traffic`: it asks the server for the count and sets the load.

    While the server does not answer, the load is idle. A count that goes down means a new session.
    """

    def __init__(
        self, traffic: Traffic, instrument: Instrument, guard: threading.Condition
    ) -> None:
        self._traffic = traffic
        self._instrument = instrument
        self._guard = guard
        self._closing = threading.Event()
        self._last: tuple[float, float] | None = None
        self._thread = threading.Thread(target=self._run, name="emulator-traffic", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join(timeout=_TIMEOUT_S + 5)

    def _run(self) -> None:
        while not self._closing.wait(self._traffic.every_s):
            count = self._count()
            with self._guard:
                now_s = self._instrument.clock()
                power_w = self._traffic.idle_w
                if count is not None and self._last is not None:
                    then, then_s = self._last
                    power_w = watts(self._traffic, count - then, now_s - then_s)
                self._last = None if count is None else (count, now_s)
                self._instrument.advance()
                self._instrument.measurement.inputs.change_load(power_w, now_s)

    def _count(self) -> float | None:
        # It imports half of the network's library, and few emulators follow a server.
        from power.http_request import NO_ANSWER, answered

        try:
            with answered(self._traffic.url, timeout_s=_TIMEOUT_S) as answer:
                value: Any = json.loads(answer.read(_MOST_BYTES))
            return float(value[self._traffic.key])
        except (*NO_ANSWER, KeyError, TypeError) as error:
            _log.debug("no count from %s: %s", self._traffic.url, error)
            return None
