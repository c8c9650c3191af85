# SPDX-License-Identifier: Apache-2.0
"""The rules of ranges: over-range, clipping, the zero limit, and the choice of auto-range."""

from __future__ import annotations

import math

from power.emulator.load import OVER_LIMIT, PEAK_LIMIT, ZERO_LIMIT, Drawn, Load
from power.emulator.settings import (
    EmulatedModel,
    EmulatedSettings,
    peak_jump_header,
    valid_ranges_header,
)

OVR1, POV1, POA1 = 6, 7, 8
"""Bits of the condition register: over range, and peaks of voltage and current (page 7-5)."""


def zero_limit(settings: EmulatedSettings, quantity: str) -> float:
    """Return the value at and below which the display shows zero."""
    return ZERO_LIMIT[settings.crest_factor] * settings.range_of(quantity)


def over_bits(load: Load, settings: EmulatedSettings, drawn: Drawn) -> int:
    """Return the bits of over-range; `drawn` is divided among the elements of the load."""
    over, peak = OVER_LIMIT[settings.crest_factor], PEAK_LIMIT[settings.crest_factor]
    part = drawn.part(max(load.shares))
    bits = 0
    if load.volts > over * settings.voltage_range_v:
        bits |= 1 << OVR1
    if abs(part.amperes) > over * settings.current_range_a:
        bits |= 1 << OVR1
    if load.voltage_peak_v > peak * settings.voltage_range_v:
        bits |= 1 << POV1
    if part.peak_a > peak * settings.current_range_a:
        bits |= 1 << POA1
    return bits


def clipping(load: Load, settings: EmulatedSettings, drawn: Drawn) -> float:
    """Return the share of the power that is left when peaks are cut at the range's limit."""
    limit, share = PEAK_LIMIT[settings.crest_factor], 1.0
    for peak, quantity in (
        (load.voltage_peak_v, "VOLTage"),
        (drawn.peak_a * max(load.shares), "CURRent"),
    ):
        most = limit * settings.range_of(quantity)
        share *= most / peak if peak > most else 1.0
    return share


def best_range(
    model: EmulatedModel, settings: EmulatedSettings, quantity: str, rms: float, peak: float
) -> float:
    """Return the range that auto-range takes, up or down (IM WT310E-01EN, page 2-7)."""
    factor = 1.0 if settings.crest_factor == "3" else 2.0
    ranges = _valid_ranges(model, settings, quantity)
    now = settings.range_of(quantity)
    jump = _jump(settings, quantity)
    if jump is not None and jump != now and peak > PEAK_LIMIT[settings.crest_factor] * now:
        return jump
    index = min(range(len(ranges)), key=lambda k: abs(ranges[k] - now))
    while index + 1 < len(ranges) and (
        rms > 1.3 * factor * ranges[index] or peak > 3 * factor * ranges[index]
    ):
        index += 1
    while (
        index
        and rms <= 0.3 * factor * ranges[index]
        and rms <= 1.25 * factor * ranges[index - 1]
        and peak <= 3 * factor * ranges[index - 1]
    ):
        index -= 1
    return ranges[index]


def _jump(settings: EmulatedSettings, quantity: str) -> float | None:
    """Return the range to jump to at a peak over range; RCONfig enables it (page 6-14)."""
    chosen = settings.kept.get((peak_jump_header(quantity), 1), "OFF")
    enabled = settings.kept.get(("[:INPut]:RCONfig", 1), "0") != "0"
    return float(chosen) if enabled and chosen != "OFF" else None


def _valid_ranges(
    model: EmulatedModel, settings: EmulatedSettings, quantity: str
) -> tuple[float, ...]:
    """Return all ranges, or those of CONFig if RCONfig is on (page 6-14)."""
    legal = model.ranges(quantity, settings.crest_factor)
    chosen = settings.kept.get((valid_ranges_header(quantity), 1), "ALL")
    if settings.kept.get(("[:INPut]:RCONfig", 1), "0") == "0" or chosen == "ALL":
        return legal
    wanted = [float(text) for text in chosen.split(",")]
    return (
        tuple(
            candidate
            for candidate in legal
            if any(math.isclose(candidate, each) for each in wanted)
        )
        or legal
    )
