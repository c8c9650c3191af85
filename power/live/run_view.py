# SPDX-License-Identifier: Apache-2.0
"""What a recording shows while it runs, in bounded memory: figures, curves, gaps and messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import Any

from power.energy.course_checks import GAP_UPDATES
from power.energy.verdict import Verdict
from power.live.thinned import Thinned
from power.meter import IntegrationState, Reading
from power.values import flags_to_json

Row = dict[str, Any]
"""Plain values by name, ready for JSON."""

RECENT_S = 60.0
"""The time of the second chart: the last minute, with every reading."""

# A meter updates ten times a second at most, so this is more than a minute of readings.
_RECENT_MOST = 700
# The newest gaps and messages are kept; older ones are only counted.
_KEPT = 30


class Stage(Enum):
    """How far a recording has come; LOST means that its program ended without a result."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"


class RunView:
    """The view of one recording. It knows no clock: who asks for the news says what time it is.

    Times are seconds from the start of the integration, on the meter program's monotonic clock.
    """

    def __init__(self) -> None:
        self.stage = Stage.WAITING
        self.about: Mapping[str, Any] = {}
        self.newest: Reading | None = None
        self.elapsed_s = 0.0
        self.readings = 0
        self.without_power = 0
        self.gaps = 0
        self.gaps_s = 0.0
        self.result: Mapping[str, Any] | None = None
        self.whole = Thinned()
        self.recent: deque[tuple[int, float, float | None]] = deque(maxlen=_RECENT_MOST)
        self.newest_gaps: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        self.messages: deque[tuple[float | None, str]] = deque(maxlen=_KEPT)

    @property
    def interval_s(self) -> float:
        """Return the meter's update interval."""
        return float(self.about.get("update_interval_s") or 1.0)

    @property
    def energy_wh(self) -> float | None:
        """Return the energy so far; None once the result says that there is none."""
        invalid = self.result is not None and self.result["verdict"] == Verdict.INVALID.value
        return None if self.newest is None or invalid else self.newest.energy_wh

    def begin(self, about: Mapping[str, Any]) -> None:
        """Begin: `about` has `log`, `meter`, `timer_s`, `update_interval_s` and the ranges."""
        self.about = about
        self.stage = Stage.RUNNING

    def add(self, reading: Reading, elapsed_s: float) -> None:
        """Add a reading that came `elapsed_s` seconds after the start."""
        # As the judge does, this counts from the first reading on, and not after the end.
        if self.newest is not None and reading.state is IntegrationState.START:
            self._look_for_gap(elapsed_s)
        self.newest, self.elapsed_s = reading, elapsed_s
        self.readings += 1
        self.without_power += reading.power_w is None
        self.whole.add(elapsed_s, reading.power_w)
        self.recent.append((self.readings, elapsed_s, reading.power_w))
        while self.recent[0][1] < elapsed_s - RECENT_S:
            self.recent.popleft()

    def _look_for_gap(self, elapsed_s: float) -> None:
        if elapsed_s - self.elapsed_s > GAP_UPDATES * self.interval_s:
            self.gaps += 1
            self.gaps_s += elapsed_s - self.elapsed_s
            self.newest_gaps.append((self.elapsed_s, elapsed_s))

    def tell(self, text: str) -> None:
        """Add a message for people, such as that the meter does not answer."""
        self.messages.append((self.elapsed_s if self.newest is not None else None, text))

    def end(self, result: Mapping[str, Any]) -> None:
        """End with the judged energy, as `result_to_json` makes it."""
        self.result = result
        self.stage = Stage.ENDED

    def lose(self) -> None:
        """Note that nothing more will come; a result that came before stays."""
        if self.stage is not Stage.ENDED:
            self.stage = Stage.LOST

    def age_s(self, now_s: float) -> float | None:
        """Return how old the newest reading is at a time of the monotonic clock."""
        return None if self.newest is None else max(0.0, now_s - self.newest.monotonic_s)

    def ranges(self) -> tuple[float | None, float | None]:
        """Return the ranges of voltage and current that the meter is on, None for auto-range."""
        newest = self.newest
        volts = newest.voltage_range_v if newest is not None else None
        amperes = newest.current_range_a if newest is not None else None
        about = self.about
        return (
            about.get("voltage_range_v") if volts is None else volts,
            about.get("current_range_a") if amperes is None else amperes,
        )

    def news(self, now_s: float, after: int = 0, bins: int = 0, width_s: float = 0.0) -> Row:
        """Return what a page shows, as JSON values.

        `after` is the number of the newest reading that the page has: only later ones of the last
        minute are in `samples`. `bins` and `width_s` say how much of the whole run it has: only
        the last of these bins, which may have grown, and those after it are in `whole`.
        """
        newest, (volts, amperes) = self.newest, self.ranges()
        first = max(0, min(bins, len(self.whole)) - 1) if width_s == self.whole.width_s else 0
        return {
            "stage": self.stage.value,
            "about": dict(self.about),
            "elapsed_s": self.elapsed_s,
            "age_s": self.age_s(now_s),
            "number": self.readings,
            "power_w": newest.power_w if newest else None,
            "voltage_v": newest.voltage_v if newest else None,
            "current_a": newest.current_a if newest else None,
            "energy_wh": self.energy_wh,
            "integration_s": newest.integration_s if newest else None,
            "state": newest.state.value if newest else None,
            "voltage_range_v": volts,
            "current_range_a": amperes,
            "flags": flags_to_json(newest.flags) if newest else [],
            "without_power": self.without_power,
            "gaps": {
                "count": self.gaps,
                "total_s": self.gaps_s,
                "newest": [list(gap) for gap in self.newest_gaps],
            },
            "messages": [list(message) for message in self.messages],
            "samples": [list(sample) for sample in self.recent if sample[0] > after],
            "whole": {
                "width_s": self.whole.width_s,
                "first": first,
                "bins": self.whole.bins(first),
            },
            "result": None if self.result is None else dict(self.result),
        }
