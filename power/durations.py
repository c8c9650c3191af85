# SPDX-License-Identifier: Apache-2.0
"""How people write a duration: plain seconds, or hours, minutes and seconds, as 1h30m."""

from __future__ import annotations

import math
import re

FORMS = "90, 90s, 10m or 1h30m"
"""Examples of durations, for help and faults."""

_UNIT_S = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PARTS = re.compile("".join(rf"(?:(?P<{unit}>[0-9]+(?:\.[0-9]+)?){unit})?" for unit in _UNIT_S))


def duration_s(text: str) -> float:
    """Return the seconds that a text names; a number without a unit is seconds.

    The number is 0 or more, and finite. Hours stand before minutes, minutes before seconds; each
    may have a decimal fraction. Raises ValueError, whose text says what a duration looks like.
    """
    match = _PARTS.fullmatch(text)
    try:
        if text and match:
            parts = match.groupdict("0").items()
            value = sum(float(number) * _UNIT_S[unit] for unit, number in parts)
        else:
            value = float(text) if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"{text!r} is no duration: write it as {FORMS}")
    return value
