# SPDX-License-Identifier: Apache-2.0
"""Checks of the values of a run: ranges, size and sign of power, agreement of both integrals."""

from __future__ import annotations

import math
from collections.abc import Iterator

from power.energy.measured_run import CrossCheck, Run, noise_floor_w
from power.energy.verdict import Finding, invalid, note, suspect
from power.meter import Flag, Identity, InputMode

# Above the rated range the meter may cut crests without a flag. A real meter showed half the power
# at 128 % of its range.
ABOVE_RANGE = 1.1


def ranges(run: Run) -> Iterator[Finding]:
    """Check for over-range, cut peaks, and ranges that changed."""
    flags = frozenset[Flag]().union(*(row.flags for row in run.readings))
    over = {reason for row in run.readings for reason in row.absent.values() if "over" in reason}
    if over or Flag.OVER_RANGE in flags:
        yield invalid(
            "over_range", "A value was over its range. Choose a larger range and run again."
        )
    for flag, name in (
        (Flag.VOLTAGE_PEAK_OVER, "voltage"),
        (Flag.CURRENT_PEAK_OVER, "current"),
    ):
        if flag in flags:
            yield invalid(
                "peak_over",
                f"Peaks of the {name} were cut off, so the energy is too low. Choose a larger "
                f"{name} range and run again.",
            )
    for name, unit in (("voltage_range_v", "V"), ("current_range_a", "A")):
        yield from _range_changes(run, name, unit)
    fixed = None not in (run.settings.voltage_range_v, run.settings.current_range_a)
    if fixed and flags & {Flag.AUTO_RANGE, Flag.RANGE_SWITCHED}:
        yield invalid(
            "range_changed",
            "Auto-range is on after a run on fixed ranges. Somebody switched it on, or the meter "
            "protected itself: far too much current on a range up to 200 mA switches it to 1 A and "
            "auto-range. Look at the currents in the log, and run again on a range that fits.",
        )
    elif Flag.RANGE_SWITCHED in flags:
        yield suspect("range_switched", "The meter reports that a range switched during the run.")
    if not fixed:
        yield suspect(
            "auto_range",
            "The run was made on auto-range. While a range switches, the meter fills in estimates.",
        )


def _range_changes(run: Run, name: str, unit: str) -> Iterator[Finding]:
    fixed: float | None = getattr(run.settings, name)
    seen = sorted({value for row in run.readings if (value := getattr(row, name)) is not None})
    word = name.split("_")[0]
    if fixed is None:
        if len(seen) > 1:
            listed = ", ".join(f"{value:g} {unit}" for value in seen)
            yield suspect("range_switched", f"The {word} range switched during the run: {listed}.")
        return
    others = [value for value in seen if not math.isclose(value, fixed, rel_tol=1e-3)]
    if others:
        yield invalid(
            "range_changed",
            f"The {word} range was set to {fixed:g} {unit} and changed to {others[-1]:g} {unit}.",
        )


def plausibility(
    run: Run, identity: Identity | None, session_s: float, *, active: bool
) -> Iterator[Finding]:
    """Check powers against sign, size, range, voltage and current."""
    powers = [row.power_w for row in run.running if row.power_w is not None]
    floor_w = noise_floor_w(run, identity)
    negative = [power for power in powers if power < -floor_w]
    if negative:
        yield suspect(
            "negative_power",
            f"{len(negative)} readings had negative power, down to {min(negative):.3g} W. Check "
            "the wiring.",
        )
    final = run.final
    if active and final.energy_wh is not None and final.integration_s:
        mean_w = 3600 * final.energy_wh / final.integration_s
        if mean_w < -floor_w:
            yield invalid(
                "negative_energy",
                f"The energy is negative, {mean_w:.3g} W on average. The wires of the current or "
                "of the voltage are reversed: swap the two wires of one of them, and run again.",
            )
        elif mean_w <= floor_w:
            yield invalid(
                "no_load",
                f"The device drew {mean_w:.3g} W on average, no more than the meter's own error. "
                "It was not connected through the meter, or it runs from a battery or a second "
                "cable.",
            )
    yield from _above_range(run)
    if run.settings.mode is InputMode.DC:
        yield from _mean_of_alternating(run, floor_w)
        return
    odd = [
        row
        for row in run.running
        if row.power_w is not None
        and row.voltage_v is not None
        and row.current_a is not None
        and abs(row.power_w) > 1.02 * abs(row.voltage_v * row.current_a) + 2 * floor_w
    ]
    if odd:
        yield suspect(
            "implausible", f"{len(odd)} readings had more power than voltage times current."
        )


def _above_range(run: Run) -> Iterator[Finding]:
    """Check voltage and current against their ranges, also after the end of the run."""
    for name, range_name in (("voltage_v", "voltage_range_v"), ("current_a", "current_range_a")):
        shares = [
            abs(value) / size
            for row in run.readings
            if (value := getattr(row, name)) is not None
            and (size := getattr(row, range_name) or getattr(run.settings, range_name))
        ]
        if shares and max(shares) > ABOVE_RANGE:
            word = name.split("_")[0]
            yield suspect(
                "above_range",
                f"The {word} reached {max(shares):.0%} of its range. Crests may be cut off there "
                "without a sign. Choose a larger range.",
            )


def _mean_of_alternating(run: Run, floor_w: float) -> Iterator[Finding]:
    odd = [
        row
        for row in run.running
        if row.power_w is not None
        and row.voltage_v is not None
        and row.current_a is not None
        and row.power_w > 10 * floor_w
        and abs(row.voltage_v * row.current_a) < 0.1 * row.power_w
    ]
    if odd:
        yield note(
            "mode",
            "DC mode on an AC load: voltage and current are means near zero. Power and energy are "
            "right.",
        )


def agreement(run: Run, compared: CrossCheck | None) -> Iterator[Finding]:
    """Check the integrator against the sampled powers."""
    if compared is None:
        if run.running:
            yield suspect(
                "few_samples", "Too few readings have numbers to check the integrator against."
            )
        return
    difference = abs(compared.difference_wh)
    if difference <= compared.allowance_wh:
        return
    text = (
        f"Samples give {compared.sampled_wh:.6g} Wh where the integrator counted "
        f"{compared.counted_wh:.6g} Wh. Up to {compared.allowance_wh:.2g} Wh can be explained."
    )
    far = difference > 3 * compared.allowance_wh + 0.1 * abs(compared.counted_wh)
    yield invalid("cross_check", text) if far else suspect("cross_check", text)


def uncertainty(energy_wh: float | None, uncertainty_wh: float | None) -> Iterator[Finding]:
    """Note an uncertainty above 1 %, or an unknown one."""
    if uncertainty_wh is None or energy_wh is None:
        yield note("uncertain", "The ranges are not known, so the uncertainty is not known.")
    elif energy_wh > 0 and uncertainty_wh > 0.01 * energy_wh:
        yield note(
            "uncertain",
            f"The uncertainty is {uncertainty_wh / energy_wh:.1%} of the energy. Smaller ranges "
            "would lower it.",
        )
