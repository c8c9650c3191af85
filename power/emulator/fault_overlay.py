# SPDX-License-Identifier: Apache-2.0
"""What faults show in place of measured values; the measuring itself goes on unchanged."""

from __future__ import annotations

from collections.abc import Sequence


class Overlay:
    """Stand-ins for values, condition bits and range texts, each shown up to some update.

    `hyphen` says where the mark of auto-range stands at a range: `before`, `after`, or nowhere.
    `numerals` writes 9.91E+37 in place of NAN.
    """

    def __init__(self) -> None:
        self.hyphen = ""
        self.numerals = False
        self._masks: dict[str, tuple[float, int]] = {}
        self._forced = (0, 0)

    def mask(self, functions: Sequence[str], value: float, until: int) -> None:
        """Show a value in place of some functions' own, before the update with that number."""
        for function in functions:
            self._masks[function] = (value, until)

    def masked(self, function: str, update: int) -> float | None:
        """Return what is shown in place of a function's value, or None for its own."""
        value, until = self._masks.get(function, (0.0, -1))
        return value if update < until else None

    def force(self, bits: int, until: int) -> None:
        """Set condition bits, before the update with that number."""
        self._forced = (bits, until)

    def forced_bits(self, update: int) -> int:
        """Return the bits that are set whatever is measured."""
        return self._forced[0] if update < self._forced[1] else 0

    def clear(self) -> None:
        """Show every function's own value, the true condition, and words for no data."""
        self.numerals = False
        self._masks.clear()
        self._forced = (0, 0)

    def hyphenated(self, text: str) -> str:
        """Return a range with the mark of auto-range; where it stands is a guess."""
        if not self.hyphen:
            return text
        return "-" + text if self.hyphen == "before" else text + "-"
