# SPDX-License-Identifier: Apache-2.0
"""MAX hold (page 6-18): the display keeps the largest values while it is on."""

from __future__ import annotations

import math

_HELD = {
    **{"volts": max, "amperes": max, "watts": max},
    **{"voltage_peak": max, "current_peak": max, "voltage_trough": min, "current_trough": min},
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
