# SPDX-License-Identifier: Apache-2.0
"""Choose fixed ranges for a device from what it drew on auto-range; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from power.meter import Reading

if TYPE_CHECKING:
    from power.energy.uncertainty import Measuring

HEADROOM = 1.1
"""Room above the highest peak seen, for a higher peak later."""

# The crest factor is the highest peak, in ranges, that a range measures (IM WT310E-01EN, page 2-7).
# An rms value may reach 130 % of a range. The judge asks at 110 %, so a device that was seen at
# 105 % still has room.
_MOST_RMS = 1.05
_MOST_CHOICES = 3


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
class RangeChoice:
    """A pair of fixed ranges and the uncertainty that they cause.

    `uncertainty_w` is the limit of the power's error, as the mean over the readings. `share` is
    that limit divided by the mean power, None without power.
    """

    voltage_range_v: float
    current_range_a: float
    uncertainty_w: float
    share: float | None


def extremes_of(readings: Sequence[Reading], even: Sequence[Reading] = ()) -> Extremes:
    """Return the extremes of readings that all have voltage, current and power.

    The mean power is that of the `even` ones, which miss no part of the load; without any it is
    that of all.
    """
    powers = [row.power_w or 0.0 for row in readings]
    return Extremes(
        voltage_v=max(abs(row.voltage_v or 0.0) for row in readings),
        current_a=max(abs(row.current_a or 0.0) for row in readings),
        voltage_peak_v=max(row.voltage_peak_v or 0.0 for row in readings),
        current_peak_a=max(row.current_peak_a or 0.0 for row in readings),
        least_power_w=min(powers),
        mean_power_w=_mean_w(even or readings),
        most_power_w=max(powers),
    )


def smallest_range(
    ranges: Sequence[float], rms: float, peak: float, crest_factor: int
) -> float | None:
    """Return the smallest range that measures rms and peak, or None if none is large enough."""
    for size in sorted(ranges):
        if rms <= _MOST_RMS * size and peak * HEADROOM <= crest_factor * size:
            return size
    return None


def propose(
    readings: Sequence[Reading],
    voltage_ranges_v: Sequence[float],
    current_ranges_a: Sequence[float],
    measuring: Measuring,
    *,
    even: Sequence[Reading] = (),
) -> list[RangeChoice]:
    """Return the proposed ranges, then up to two choices with larger current ranges.

    `measuring` holds meter, mode, crest factor and filters; its ranges do not matter. The list is
    empty if the device needs more than the meter's largest range. The uncertainty of each is that
    of the `even` readings, as the mean power is (see `extremes_of`).
    """
    seen = extremes_of(readings)
    factor = measuring.settings.crest_factor
    volts = smallest_range(voltage_ranges_v, seen.voltage_v, seen.voltage_peak_v, factor)
    amperes = smallest_range(current_ranges_a, seen.current_a, seen.current_peak_a, factor)
    if volts is None or amperes is None:
        return []
    larger = [size for size in sorted(current_ranges_a) if size >= amperes][:_MOST_CHOICES]
    return [_choice(even or readings, volts, size, measuring) for size in larger]


def _choice(
    readings: Sequence[Reading], volts: float, amperes: float, measuring: Measuring
) -> RangeChoice:
    from power.energy.uncertainty import power_limit_w

    limits = [
        power_limit_w(replace(row, voltage_range_v=volts, current_range_a=amperes), measuring)
        or 0.0
        for row in readings
    ]
    limit_w, mean_w = fmean(limits), _mean_w(readings)
    return RangeChoice(volts, amperes, limit_w, limit_w / mean_w if mean_w > 0 else None)


def _mean_w(readings: Sequence[Reading]) -> float:
    return fmean(row.power_w or 0.0 for row in readings)
