# SPDX-License-Identifier: Apache-2.0
"""Quantities as people read them: a prefix of the unit in the place of an exponent."""

from __future__ import annotations

import math

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
_LOWEST, _HIGHEST = min(_PREFIXES), max(_PREFIXES)


def prefixed(value: float, unit: str, digits: int = 4, micro: str = "µ") -> str:
    """Return a value with its unit, and with a prefix where it would need an exponent.

    From 0.001 to 10,000 there is none. `micro` is the prefix of a millionth, for a terminal that
    lacks the Greek letter.
    """
    size = abs(value)
    power = 0
    if 0 < size < math.inf and not 1e-3 <= size < 1e4:
        power = 3 * math.floor(math.log10(float(f"{size:.{digits - 1}e}")) / 3 + 1e-9)
        power = min(_HIGHEST, max(_LOWEST, power))
    prefix = micro if power == -6 else _PREFIXES[power]
    return f"{value / 10.0**power:.{digits}g} {prefix}{unit}"
