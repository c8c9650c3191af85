# SPDX-License-Identifier: Apache-2.0
"""The values that faults show instead of measured ones; the measurement itself goes on."""

from __future__ import annotations

from collections.abc import Sequence


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
