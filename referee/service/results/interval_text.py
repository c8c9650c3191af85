# SPDX-License-Identifier: Apache-2.0
"""The intervals around a session's mAP and score as lines of text, each part on its own line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from referee.scoring.uncertainty import LEVEL, gives_interval

if TYPE_CHECKING:
    from referee.tracks.track import Track


def interval_lines(detail: Mapping[str, Any] | None, track: Track[Any]) -> list[str]:
    """Return a line for each interval in the content of score.json; none if it has none."""
    interval = (detail or {}).get("uncertainty")
    if detail is None or not interval:
        return []
    level = f"{100 * interval.get('level', LEVEL):.0f} % interval"
    parts = {f"{track.accuracy.label}, {level}": track.accuracy.field}
    if score_ends(detail, track) is not None:
        parts |= {
            f"{track.score.label}, {level}": track.score.field,
            "from the images alone": "score_from_images",
            "from the energy alone": "score_from_energy",
        }
    return [
        f"{label}: {ends_text(*interval[field])}"
        for label, field in parts.items()
        if field in interval
    ]


def score_ends(detail: Mapping[str, Any], track: Track[Any]) -> Sequence[float] | None:
    """Return both ends of the score's interval, or None if none holds."""
    ends: Sequence[float] | None = (detail.get("uncertainty") or {}).get(track.score.field)
    return ends if gives_interval(detail.get("verdict")) else None


def decimals_of(value: float, digits: int) -> int:
    """Return the number of decimals that shows `digits` digits; negative for large values."""
    if value == 0 or not math.isfinite(value):
        return digits
    return digits - 1 - math.floor(math.log10(abs(value)))


def rounded(value: float, decimals: int) -> str:
    """Return a value as text, rounded to so many decimals."""
    return f"{round(value, decimals):.{max(0, decimals)}f}"


def ends_text(low: float, high: float) -> str:
    """Return both ends of an interval so that two digits of half the width show.

    Ends that are equal have three digits.
    """
    decimals = decimals_of((high - low) / 2, 2) if high > low else decimals_of(high, 3)
    return f"{rounded(low, decimals)} to {rounded(high, decimals)}"
