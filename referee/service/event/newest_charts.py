# SPDX-License-Identifier: Apache-2.0
"""The audience's charts of the ranking: each is drawn once, when somebody looks at it."""

from __future__ import annotations

import threading
from importlib.util import find_spec

from referee.errors import MissingLibrary, needing
from referee.service.event.result_entry import ContestRanking

CHARTS = ("energy", "speed")
"""The charts of a ranking by their names."""


def require_charts() -> None:
    """Raise `MissingLibrary` where no chart can be drawn, without loading what draws."""
    if find_spec("matplotlib") is None:
        raise MissingLibrary("a chart", "matplotlib", "event")


class Charts:
    """The audience's newest picture of each chart; any thread may ask, and one draws at a time."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, bool], tuple[str, bytes]] = {}
        self._lock = threading.Lock()

    def draw(self, name: str, key: str, ranking: ContestRanking, *, narrow: bool = False) -> bytes:
        """Return a chart of `CHARTS` as SVG; `key` names the content of the ranking.

        A `narrow` chart is read on a phone.
        """
        with self._lock:
            known = self._drawn.get((name, narrow))
            if known is None or known[0] != key:
                known = self._drawn[name, narrow] = (key, _drawn(name, ranking, narrow=narrow))
            return known[1]


def _drawn(name: str, ranking: ContestRanking, *, narrow: bool) -> bytes:
    # matplotlib takes 0.6 s to load. A scoreboard that only tells numbers does without it.
    with needing("a chart", "matplotlib", "event"):
        from referee.service.event.charts import (
            DARK,
            NARROW_IN,
            SIZE_IN,
            energy_chart,
            speed_chart,
        )

    chart = {"energy": energy_chart, "speed": speed_chart}[name]
    return chart(ranking, DARK, NARROW_IN if narrow else SIZE_IN)
