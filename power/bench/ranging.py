# SPDX-License-Identifier: Apache-2.0
"""Choose fixed ranges for a device from the extremes of its load; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from power.energy.accuracy import Accuracy, power_uncertainty_w

# Head-room above the largest values seen, for a larger load later.
HEADROOM = 1.25
# Peaks up to three times the range (six times at crest factor 6) are measured (page 6-12 and IM
# WT310E-01EN, page 2-7).
_PEAK_SHARE = {3: 3.0, 6: 6.0}


@dataclass(frozen=True)
class Extremes:
    """The extremes of a device's load: its largest rms and peak values, and its power."""

    voltage_v: float
    current_a: float
    voltage_peak_v: float
    current_peak_a: float
    least_power_w: float
    mean_power_w: float
    most_power_w: float


@dataclass(frozen=True)
class Choice:
    """A pair of fixed ranges and the uncertainty that they cause.

    `uncertainty_w` is the limit of the power's error at the mean power. `share` is that limit
    divided by the mean power.
    """

    voltage_range_v: float
    current_range_a: float
    uncertainty_w: float
    share: float


def smallest_range(
    ranges: Sequence[float], rms: float, peak: float, crest_factor: int, headroom: float = HEADROOM
) -> float | None:
    """Return the smallest range with room for rms and peak, or None if none is large enough."""
    for size in sorted(ranges):
        if rms * headroom <= size and peak * headroom <= _PEAK_SHARE[crest_factor] * size:
            return size
    return None


def propose(
    seen: Extremes,
    voltage_ranges_v: Sequence[float],
    current_ranges_a: Sequence[float],
    accuracy: Accuracy,
    *,
    crest_factor: int = 3,
    headroom: float = HEADROOM,
) -> list[Choice]:
    """Return the proposed ranges, then up to two choices with larger current ranges.

    The list is empty if the device needs more than the meter's largest range.
    """
    volts = smallest_range(
        voltage_ranges_v, seen.voltage_v, seen.voltage_peak_v, crest_factor, headroom
    )
    amperes = smallest_range(
        current_ranges_a, seen.current_a, seen.current_peak_a, crest_factor, headroom
    )
    if volts is None or amperes is None:
        return []
    larger = [size for size in sorted(current_ranges_a) if size >= amperes][:3]
    return [_choice(volts, size, seen.mean_power_w, accuracy) for size in larger]


def _choice(volts: float, amperes: float, power_w: float, accuracy: Accuracy) -> Choice:
    limit_w = power_uncertainty_w(accuracy, power_w, volts * amperes)
    return Choice(volts, amperes, limit_w, limit_w / power_w if power_w > 0 else float("inf"))
