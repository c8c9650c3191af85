# SPDX-License-Identifier: Apache-2.0
"""What the display shows in place of measured values: means, the largest, and what faults show.

The meter's integration goes through none of these (page 6-18).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

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
            mean = {name: sum(values[name] for values in recent) / len(recent) for name in AVERAGED}
        else:
            before = self._mean or new
            mean = {name: before[name] + (new[name] - before[name]) / count for name in AVERAGED}
        self._mean = mean
        return shown | mean


_HELD = {
    **{"volts": max, "amperes": max, "watts": max},
    **{"voltage_peak": max, "current_peak": max, "voltage_trough": min, "current_trough": min},
    **{"power_peak": max, "power_trough": min},
}
"""What is held, and how the larger of two is found; S and Q follow from U, I and P."""


class MaxHold:
    """The largest values since MAX hold was switched on.

    The integration goes on with what is measured. That it does not add up held values is what the
    manuals of older meters of the family say; for this one it is not established.
    """

    def __init__(self) -> None:
        self._largest: dict[str, float] = {}

    def clear(self) -> None:
        """Forget the largest values."""
        self._largest = {}

    def apply(self, shown: dict[str, float]) -> dict[str, float]:
        """Return the values of an update with the largest so far; what is no number is not held."""
        for name, larger in _HELD.items():
            if math.isfinite(shown[name]):
                self._largest[name] = larger(shown[name], self._largest.get(name, shown[name]))
        return {
            name: self._largest.get(name, value) if math.isfinite(value) else value
            for name, value in shown.items()
        }


class Overlay:
    """Replacements of values, condition bits and range texts, each shown until some update.

    `hyphen` is the place of the mark of auto-range at a range: `before`, `after`, or nowhere.
    `numerals` writes 9.91E+37 instead of NAN.
    """

    def __init__(self) -> None:
        self.hyphen = ""
        self.numerals = False
        self._masks: dict[str, tuple[float, int]] = {}
        self._forced = (0, 0)

    def mask(self, functions: Sequence[str], value: float, until: int) -> None:
        """Show a value instead of some functions' own, until before update number `until`."""
        for function in functions:
            self._masks[function] = (value, until)

    def masked(self, function: str, update: int) -> float | None:
        """Return the replacement of a function's value, or None if its own is shown."""
        value, until = self._masks.get(function, (0.0, -1))
        return value if update < until else None

    def force(self, bits: int, until: int) -> None:
        """Set condition bits until before update number `until`."""
        self._forced = (bits, until)

    def forced_bits(self, update: int) -> int:
        """Return the bits that a fault sets, whatever the measurement says."""
        return self._forced[0] if update < self._forced[1] else 0

    def clear(self) -> None:
        """End all replacements: show true values, true condition, and words for no data."""
        self.numerals = False
        self._masks.clear()
        self._forced = (0, 0)

    def hyphenated(self, text: str) -> str:
        """Return a range with the mark of auto-range; the place of the mark is a guess."""
        if not self.hyphen:
            return text
        return "-" + text if self.hyphen == "before" else text + "-"
