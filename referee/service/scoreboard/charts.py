# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's charts: each is drawn once for a view, for all readers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from referee.service.event.charts import DARK, energy_chart, speed_chart

CHARTS = ("energy", "speed")
"""The names of the charts."""

_DRAW: dict[str, Callable[..., bytes]] = {"energy": energy_chart, "speed": speed_chart}
# In inches of 72 pixels; the page scales them.
_SIZE = (7.2, 4.5)


class Charts:
    """The newest picture of each chart; any thread may ask, and one draws at a time."""

    def __init__(self) -> None:
        self._drawn: dict[str, tuple[str, bytes]] = {}
        self._lock = threading.Lock()

    def draw(self, name: str, key: str, view: Mapping[str, Any]) -> bytes:
        """Return the chart of a view as SVG; `key` names the content of the view."""
        with self._lock:
            known = self._drawn.get(name)
            if known is None or known[0] != key:
                known = self._drawn[name] = (key, _DRAW[name](view, DARK, _SIZE))
            return known[1]
