# SPDX-License-Identifier: Apache-2.0
"""The averaging of shown values (page 6-18): the meter's integration does not go through it."""

from __future__ import annotations

import math
from collections import deque

AVERAGED = ("volts", "amperes", "watts")


class Averaging:
    """The moving mean of the last updates, or an exponential one."""

    def __init__(self) -> None:
        self._recent: deque[dict[str, float]] = deque(maxlen=64)
        self._mean: dict[str, float] = {}

    def clear(self) -> None:
        """Forget the updates before."""
        self._recent.clear()
        self._mean = {}

    def apply(self, shown: dict[str, float], kind: str, count: int) -> dict[str, float]:
        """Return the values of an update, averaged with `count` as number or attenuation constant.

        A value that is not a number breaks the mean off.
        """
        new = {name: shown[name] for name in AVERAGED}
        if not all(math.isfinite(value) for value in new.values()):
            self.clear()
            return shown
        if kind == "LINear":
            self._recent.append(new)
            recent = list(self._recent)[-count:]
            mean = {name: sum(it[name] for it in recent) / len(recent) for name in AVERAGED}
        else:
            before = self._mean or new
            mean = {name: before[name] + (new[name] - before[name]) / count for name in AVERAGED}
        self._mean = mean
        return shown | mean
